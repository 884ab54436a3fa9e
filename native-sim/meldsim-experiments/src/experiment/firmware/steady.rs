//! `firmware-steady-state`: what garbage collection and journalling cost.

use super::super::claim::Claim;
use super::super::plan::{Cells, Experiment, Options, Planned, Run};
use super::super::sheet::Sheet;
use super::{Cell, Design, PAPER, Specification, kiops, report};
use crate::report::chart::BarChart;

pub(in crate::experiment) const STEADY_STATE: Experiment = Experiment {
    name: "firmware-steady-state",
    about: "What garbage collection and the journal cost behind firmware",
    paper: PAPER,
    profile: "deepflash",
    options: Options::Scale,
    plan,
};

const CORES: u32 = 12;
/// Writes of an overwritten device need longer until they are steady.
const TIMES: u64 = 3;
/// "Costs" is at least this.
const LEAST_LOSS: f64 = 0.01;

/// The states: name, garbage collection, journal.
const STATES: [(&str, bool, bool); 4] = [
    ("pristine", false, false),
    ("GC", true, false),
    ("journal", false, true),
    ("GC and journal", true, true),
];

struct Row {
    state: &'static str,
    /// BGC and LOG in turn with NVMQ.
    foreground: Cell,
    /// BGC and LOG while NVMQ idles.
    background: Cell,
}

/// Simulates the four states, without and with background scheduling.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let mut scheduled = |background_scheduling| {
        cells.each(STATES, move |&(_, is_worn, journal)| {
            let mut profile = Design::Full.of(&run.profile, CORES);
            profile.firmware.background_scheduling = background_scheduling;
            profile.firmware.journal = journal;
            let spec = Specification {
                is_worn,
                times: TIMES,
                ..Specification::WRITES
            };
            Cell::measure(&profile, spec, run.scale)
        })
    };
    let (foreground, background) = (scheduled(false), scheduled(true));
    Ok(Box::new(move || {
        let cells = foreground.take()?.into_iter().zip(background.take()?);
        let rows: Vec<Row> = STATES
            .into_iter()
            .zip(cells)
            .map(|((state, ..), (foreground, background))| Row {
                state,
                foreground,
                background,
            })
            .collect();
        let sheet = Sheet::of("states", &rows)
            .cell("state", "state", |row| row.state)
            .number("foreground_iops", "foreground IOPS", 0, |row| {
                row.foreground.iops
            })
            .number("background_iops", "background IOPS", 0, |row| {
                row.background.iops
            })
            .number("bgc_cores", "BGC cores", 2, |row| {
                row.background.busy_by_type()[5]
            })
            .number("log_cores", "LOG cores", 2, |row| {
                row.background.busy_by_type()[6]
            })
            .number("write_amplification", "write amplification", 2, |row| {
                row.background.stats.write_amplification()
            });
        let group = |row: &Row| {
            let iops = [row.foreground.iops, row.background.iops];
            (
                row.state.to_owned(),
                iops.map(|iops| Some(iops / 1e3)).into(),
            )
        };
        let chart = BarChart {
            title: "Writes by the state of the device".to_owned(),
            axis: "thousand IOPS".to_owned(),
            series: vec![
                "BGC and LOG in turn with NVMQ".to_owned(),
                "BGC and LOG while NVMQ idles".to_owned(),
            ],
            groups: rows.iter().map(group).collect(),
        };
        let about = format!(
            "Random writes of 4 KiB on {CORES} cores: an empty device without journal, one that collects garbage, one with the \
             journal, and both."
        );
        let outcome = report(run, about)
            .sheet(sheet)
            .figure(
                chart,
                "Garbage collection takes the flash's time more than the cores'. Journalling takes the cores' time alone, and there is enough of it.",
            )
            .claims(claims(&rows)?);
        Some(outcome)
    }))
}

fn claims(rows: &[Row]) -> Option<[Claim; 2]> {
    let [pristine, gc, journal, ..] = rows else {
        return None;
    };
    let pristine = pristine.foreground.iops;
    let claim = |id, statement: &str, row: &Row| {
        let change = row.foreground.iops / pristine - 1.0;
        Claim::published(id)
            .statement(format!(
                "predicted: {statement} in the foreground, against a pristine device"
            ))
            .expected("it costs throughput")
            .measured(format!(
                "{:+.1} % of {} IOPS",
                100.0 * change,
                kiops(pristine)
            ))
            .holds("it costs at least 1 %", change <= -LEAST_LOSS)
    };
    Some([
        claim("firmware-steady-state.gc", "collecting", gc),
        claim("firmware-steady-state.journal", "journalling", journal),
    ])
}
