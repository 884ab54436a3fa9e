//! `firmware-steady-state`: what garbage collection and journalling cost.

use super::super::burst::ExperimentError;
use super::super::claim::{Basis, Claim};
use super::super::effort::Effort;
use super::super::outcome::{Chart, Figure, Outcome};
use super::super::sheet::{Cell as Value, Sheet};
use super::cell::{Asked, Cell};
use super::{Design, Said, grounds, kiops};
use crate::report::chart::BarChart;
use meldsim::profile::Profile;

const NAME: &str = "firmware-steady-state";
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

/// Runs the four states, with and without background scheduling.
pub(in crate::experiment) fn steady(
    profile: &Profile,
    effort: Effort,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let mut rows: Vec<Row> = Vec::new();
    for (state, is_worn, journal) in STATES {
        let measure = |scheduling| {
            let mut profile = Design::Full.of(profile, CORES);
            profile.firmware.background_scheduling = scheduling;
            profile.firmware.journal = journal;
            let asked = Asked {
                is_worn,
                times: TIMES,
                ..Asked::WRITES
            };
            Cell::measure(&profile, asked, effort)
        };
        rows.push(Row {
            state,
            foreground: measure(false)?,
            background: measure(true)?,
        });
        progress(rows.len() as f64 / STATES.len() as f64);
    }
    Ok(Outcome {
        experiment: NAME,
        profile: profile.name.clone(),
        about: format!(
            "Random writes of 4 KiB on {CORES} cores: an empty device without journal, one that collects garbage, one with the \
             journal, and both."
        ) + effort.note(),
        grounds: grounds(),
        sheets: vec![sheet(&rows)],
        figures: vec![figure(&rows)],
        claims: claims(&rows),
    })
}

fn sheet(rows: &[Row]) -> Sheet {
    let mut sheet = Sheet::new(
        "states",
        &[
            ("state", "state"),
            ("foreground_iops", "foreground IOPS"),
            ("background_iops", "background IOPS"),
            ("bgc_cores", "BGC cores"),
            ("log_cores", "LOG cores"),
            ("write_amplification", "write amplification"),
        ],
    );
    for row in rows {
        let [.., bgc, log] = row.background.busy_by_type();
        sheet.row([
            Value::text(row.state),
            Value::Number(row.foreground.iops, 0),
            Value::Number(row.background.iops, 0),
            Value::Number(bgc, 2),
            Value::Number(log, 2),
            Value::Number(row.background.stats.write_amplification(), 2),
        ]);
    }
    sheet
}

fn figure(rows: &[Row]) -> Figure {
    let group = |row: &Row| {
        let values = [row.foreground.iops, row.background.iops];
        (
            row.state.to_owned(),
            values.map(|iops| Some(iops / 1e3)).to_vec(),
        )
    };
    Figure {
        chart: Chart::Bar(BarChart {
            title: "Writes by the state of the device".to_owned(),
            axis: "thousand IOPS".to_owned(),
            series: vec![
                "BGC and LOG in turn with NVMQ".to_owned(),
                "BGC and LOG while NVMQ idles".to_owned(),
            ],
            groups: rows.iter().map(group).collect(),
        }),
        caption: "Collection takes the flash's time more than the cores'; journalling takes the cores' alone, of which there are enough.".to_owned(),
    }
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let [pristine, gc, journal, ..] = rows else {
        return Vec::new();
    };
    let claim = |id, statement, row: &Row| {
        let change = row.foreground.iops / pristine.foreground.iops - 1.0;
        let said = Said {
            id,
            basis: Basis::Published,
            statement,
            published: "it costs throughput",
            criterion: "it costs at least 1 %",
        };
        let pristine = kiops(pristine.foreground.iops);
        let measured = format!("{:+.1} % of {pristine} IOPS", 100.0 * change);
        said.claim(NAME, measured, change <= -LEAST_LOSS)
    };
    vec![
        claim(
            "firmware-steady-state.gc",
            "predicted: collecting in the foreground, against a pristine device",
            gc,
        ),
        claim(
            "firmware-steady-state.journal",
            "predicted: journalling in the foreground, against a pristine device",
            journal,
        ),
    ]
}
