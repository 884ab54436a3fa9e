//! `firmware-steady-state`: what garbage collection and journalling cost, on demand and in the background.

use super::super::plan::Measured;
use super::{
    Cell, DEPTH, Design, FIRMWARE, FULL_CORES, SEED, Specification, kiops, prepared, report,
};
use crate::prelude::*;
use meldsim::Duration;
use meldsim::profile::{ByteSize, Journaling, Profile};
use meldsim_host::{Access, Source, Until, WarmUp};

pub(crate) const STEADY_STATE: Experiment = Experiment {
    name: "firmware-steady-state",
    about: "What garbage collection and the journal cost behind firmware, on demand and while the host is idle",
    plan,
    ..FIRMWARE
};

/// How often the counted writes fill the journal's memory, after one time that is not counted: whole times, so that each
/// has its wait.
const FILLS: u64 = 4;
/// Pages that change their place for a write that makes a device collect garbage, about.
const WORN_CHANGES: u64 = 3;
/// Memories of the journal.
const MEMORIES_KIB: [u64; 3] = [64, 256, 1024];
/// "Costs" is at least this.
const LEAST_LOSS: f64 = 0.01;
/// Writes of a burst \[A\].
const BURST: usize = 100_000;
/// Bursts that are counted, after one that is not.
const BURSTS: usize = 2;
/// How long the host is idle before each burst \[A\].
const PAUSE: Duration = Duration::from_ms(1_000);
/// Share of the blocks that collection in the background frees \[A\]: room for several bursts.
const FREE_PERCENT: u32 = 12;

/// The states: name, garbage collection, journal.
const STATES: [(&str, bool, bool); 4] = [
    ("pristine", false, false),
    ("GC", true, false),
    ("journal", false, true),
    ("GC and journal", true, true),
];

/// When collection and journalling are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// When there is no room without, BGC and LOG in turn with NVMQ.
    Foreground,
    /// Also while the host is idle, BGC and LOG while NVMQ idles.
    Background,
}

/// Firmware that is slower than worn flash, which bursts would show instead: cores of one hardware thread, and writes whose
/// pages are composed one by one.
fn slower(profile: &Profile) -> Profile {
    let mut profile = Design::Full.of(profile, FULL_CORES);
    profile.firmware.transaction_percent = 0;
    profile
}

impl Mode {
    fn of(self, mut profile: Profile, journal: bool) -> Profile {
        let in_background = self == Mode::Background;
        profile.firmware.background_scheduling = in_background;
        profile.firmware.journal = journal;
        profile.gc.background = in_background;
        profile.gc.background_free_percent = FREE_PERCENT;
        profile.ftl.journal = match (journal, self) {
            (false, _) => Journaling::Off,
            (true, Mode::Foreground) => Journaling::OnDemand,
            (true, Mode::Background) => Journaling::Background,
        };
        profile
    }
}

struct SteadyRow {
    state: &'static str,
    /// Writes without end.
    steady: Cell,
    /// IOPS of bursts after pauses, by mode.
    bursts: [f64; 2],
}

/// Simulates the four states: a load without end, in which the host is never idle, and bursts.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let spec = |is_worn| Specification {
        is_worn,
        ..Specification::WRITES
    };
    let on_platform = |journal| {
        let profile = Design::Full.on_platform(&run.profile);
        Mode::Foreground.of(profile, journal)
    };
    let steady = cells.each(STATES, move |&(_, is_worn, journal)| {
        without_end(&on_platform(journal), spec(is_worn))
    });
    let memories = cells.each(MEMORIES_KIB, move |&kib| {
        let mut profile = on_platform(true);
        profile.ftl.journal_buffer = ByteSize(kib << 10);
        without_end(&profile, spec(false)).map(|cell| (kib, cell))
    });
    let mut in_bursts = |mode: Mode| -> Measured<f64> {
        cells.each(STATES, move |&(_, is_worn, journal)| {
            bursts(&mode.of(slower(&run.profile), journal), spec(is_worn))
        })
    };
    let (foreground, background) = (in_bursts(Mode::Foreground), in_bursts(Mode::Background));
    Ok(Box::new(move || {
        let bursts = foreground.take()?.into_iter().zip(background.take()?);
        let rows: Vec<SteadyRow> = STATES
            .into_iter()
            .zip(steady.take()?.into_iter().zip(bursts))
            .map(|((state, ..), (steady, bursts))| SteadyRow {
                state,
                steady,
                bursts: bursts.into(),
            })
            .collect();
        let sheet = Sheet::of("states", &rows)
            .cell("state", "state", |row| row.state)
            .number("steady_iops", "steady IOPS", 0, |row| row.steady.iops)
            .number("foreground_iops", "bursts, foreground IOPS", 0, |row| {
                row.bursts[0]
            })
            .number("background_iops", "bursts, background IOPS", 0, |row| {
                row.bursts[1]
            })
            .number("bgc_cores", "BGC cores", 2, |row| {
                row.steady.busy_by_type()[5]
            })
            .number("log_cores", "LOG cores", 2, |row| {
                row.steady.busy_by_type()[6]
            })
            .count("journal_pages", "journal pages", |row| {
                row.steady.stats.journal_pages_programmed
            })
            .number("write_amplification", "write amplification", 3, |row| {
                row.steady.stats.write_amplification().unwrap_or(f64::NAN)
            });
        let memories = memories.take()?;
        let pristine = rows.first()?.steady.iops;
        let memory_sheet = Sheet::of("memories", &memories)
            .bytes("journal_buffer_bytes", "journal memory", |(kib, _)| {
                kib << 10
            })
            .number("steady_iops", "steady IOPS", 0, |(_, cell)| cell.iops)
            .number("change_percent", "of pristine, %", 1, |(_, cell)| {
                100.0 * (cell.iops / pristine - 1.0)
            });
        let group = |row: &SteadyRow| {
            let [foreground, background] = row.bursts;
            let iops = [row.steady.iops, foreground, background];
            (row.state.to_owned(), iops)
        };
        let series = [
            "without end",
            "bursts, on demand",
            "bursts, work in the pauses",
        ];
        let title = "Writes by the state of the device";
        let chart = DotPlot::of(title, "IOPS", series, &rows, group);
        let about = format!(
            "Random writes of 4 KiB on {FULL_CORES} cores: an empty device without journal, one that collects garbage, one with the \
             journal, and both. Without end, on the published platform; and on cores of one hardware thread, so that worn flash is not \
             what limits them, in bursts of {BURST} after {} ms in which the host is idle.",
            PAUSE.as_ps() / 1_000_000_000
        );
        let outcome = report(run, about)
            .assumed(format!(
                "the journal has {} of each page with a new place, and {} of memory",
                run.profile.ftl.journal_entry, run.profile.ftl.journal_buffer
            ))
            .assumed(format!(
                "bursts and pauses; collection in the background frees {FREE_PERCENT} % of the blocks"
            ))
            .sheet(sheet)
            .sheet(memory_sheet)
            .figure(
                chart,
                "Collection takes the flash's time. The journal takes little of it, but writes wait when its memory is full. What is done \
                 while the host is idle costs the bursts nothing.",
            )
            .claims(claims(&rows)?);
        Some(outcome)
    }))
}

/// Writes without end, over so many as fill the journal's memory some times.
fn without_end(profile: &Profile, spec: Specification) -> Result<Cell> {
    let ftl = &profile.ftl;
    let fill = ftl.journal_buffer.0 / ftl.journal_entry.0;
    let fill = if spec.is_worn {
        fill / WORN_CHANGES
    } else {
        fill
    };
    let (warm_up, until) = (WarmUp::Requests(fill), Until::Requests(FILLS * fill));
    Cell::over(profile, spec, warm_up, until)
}

/// IOPS in bursts: from the start of each to its last completion.
fn bursts(profile: &Profile, spec: Specification) -> Result<f64> {
    let (mut device, nsid) = prepared(profile, spec)?;
    let mut requests = Access::RandomWrite.requests(&device, nsid, spec.request_bytes, SEED);
    let mut time = Duration::ZERO;
    for burst in 0..=BURSTS {
        device.advance_to(device.now() + PAUSE);
        let writes = requests.by_ref().take(BURST);
        let tally = Source::new(DEPTH, writes).measure(&mut device, WarmUp::NONE, Until::End)?;
        if burst > 0 {
            time += tally.duration;
        }
    }
    Ok((BURSTS * BURST) as f64 / time.as_secs_f64())
}

fn claims(rows: &[SteadyRow]) -> Option<[Claim; 3]> {
    let [pristine, collected, journal, both] = rows else {
        return None;
    };
    let change = |row: &SteadyRow| row.steady.iops / pristine.steady.iops - 1.0;
    let filled = |claim: Claim, statement: &str, row: &SteadyRow| {
        claim
            .statement(format!(
                "{statement} in the foreground on the published platform, against a pristine device"
            ))
            .expected("it costs throughput")
            .measured(format!(
                "{:+.2} % of {} IOPS",
                100.0 * change(row),
                kiops(pristine.steady.iops)
            ))
            .when(Bound::Own, "it costs at least 1 %")
            .holds(change(row) <= -LEAST_LOSS)
    };
    let gc = Claim::construction(
        "firmware-steady-state.gc",
        "collection takes the flash's time; no number is in our text of the source",
    );
    let log = Claim::fitted(
        "firmware-steady-state.journal",
        "no constant; what the journal has of a page and its memory are assumed, and that the platform counts, where writes are faster, was chosen with this number in sight",
    );
    let of_pristine = |mode: usize| both.bursts[mode] / pristine.bursts[mode] - 1.0;
    let background = Claim::construction(
        "firmware-steady-state.background",
        "an idle host lets the device collect and journal; no number is in our text of the source",
    )
    .statement(
        "bursts of writes after pauses, with collection and journal, against a pristine device",
    )
    .expected("LOG and BGC work once NVMQ is idle, so that bursts go on without them")
    .measured(format!(
        "{:+.1} %, and {:+.1} % when both are done on demand",
        100.0 * of_pristine(1),
        100.0 * of_pristine(0)
    ))
    .when(Bound::Own, "it costs less than 1 %, and on demand more")
    .holds(of_pristine(1) > -LEAST_LOSS && of_pristine(0) <= -LEAST_LOSS);
    Some([
        filled(gc, "collecting", collected),
        filled(log, "journalling", journal)
            .fails_with(Change::set("deepflash", &["ftl.journal_buffer=4MiB"])),
        background,
    ])
}
