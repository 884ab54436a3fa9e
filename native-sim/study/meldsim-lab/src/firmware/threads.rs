//! `firmware-threads`: throughput against the threads of one type, each thread on its own core, and CACHE on the published platform.

use super::{Cell, Design, FIRMWARE, MILLION, Specification, report};
use crate::prelude::*;
use meldsim::profile::{FirmwareThreads, Profile};
use meldsim_measured::Scale;

pub(crate) const THREADS: Experiment = Experiment {
    name: "firmware-threads",
    about: "IOPS against the firmware's threads of one type: NVMQ, CACHE, TRANS",
    plan,
    ..FIRMWARE
};

/// Cores for all.
const CORES: u32 = 64;
/// Threads of the types that are not swept.
const PLENTY: FirmwareThreads = FirmwareThreads {
    nvmq: 12,
    cache: 6,
    trans: 6,
    fcmd: 8,
};
/// CACHE threads that are published to suffice.
const CACHE_THREADS: u32 = 2;

struct ThreadsRow {
    threads: &'static str,
    count: u32,
    bypass: bool,
    reads: f64,
    writes: f64,
}

impl ThreadsRow {
    /// `profile` with so many threads of a swept type.
    fn measure(
        (threads, _, bypass, field): Sweep,
        count: u32,
        mut profile: Profile,
        scale: Scale,
    ) -> Result<ThreadsRow> {
        profile.firmware.cache_bypass = bypass;
        *field(&mut profile.firmware.threads) = count;
        Ok(ThreadsRow {
            threads,
            count,
            bypass,
            reads: Cell::measure(&profile, Specification::READS, scale)?.iops,
            writes: Cell::measure(&profile, Specification::WRITES, scale)?.iops,
        })
    }
}

/// What is swept: its name, how far, the bypass, and the count to set.
type Sweep = (
    &'static str,
    u32,
    bool,
    fn(&mut FirmwareThreads) -> &mut u32,
);

const SWEEPS: [Sweep; 4] = [
    ("NVMQ", 10, true, |threads| &mut threads.nvmq),
    ("CACHE", 4, true, |threads| &mut threads.cache),
    ("CACHE", 4, false, |threads| &mut threads.cache),
    ("TRANS", 5, true, |threads| &mut threads.trans),
];

fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let counts = |sweep: Sweep| (1..=sweep.1).map(move |count| (sweep, count));
    let rows = cells.each(SWEEPS.into_iter().flat_map(counts), |&(sweep, count)| {
        let mut profile = Design::Full.of(&run.profile, CORES);
        profile.firmware.threads = PLENTY;
        ThreadsRow::measure(sweep, count, profile, run.scale)
    });
    let of_cache = SWEEPS.into_iter().filter(|sweep| sweep.0 == "CACHE");
    let platform = cells.each(of_cache.flat_map(counts), |&(sweep, count)| {
        let profile = Design::Full.on_platform(&run.profile);
        ThreadsRow::measure(sweep, count, profile, run.scale)
    });
    Ok(Box::new(move || {
        let (rows, platform) = (rows.take()?, platform.take()?);
        let about = "Random requests of 4 KiB in front of a pipeline with enough cores and threads of all types but one; \
                     and with more and fewer CACHE threads among the 25 of the published platform.";
        let outcome = report(run, about)
            .sheet(sheet("threads", &rows))
            .sheet(sheet("platform", &platform))
            .figure(
                chart(&rows),
                "A type of thread limits the pipeline until there are enough of it. With the bypass, reads need no CACHE threads.",
            )
            .claims([claim(&rows, &platform)]);
        Some(outcome)
    }))
}

fn sheet(name: &'static str, rows: &[ThreadsRow]) -> Sheet {
    Sheet::of(name, rows)
        .cell("type", "type", |row| row.threads)
        .cell("bypass", "cache bypass", |row| {
            if row.bypass { "on" } else { "off" }
        })
        .count("threads", "threads", |row| u64::from(row.count))
        .number("read_iops", "read IOPS", 0, |row| row.reads)
        .number("write_iops", "write IOPS", 0, |row| row.writes)
        .into()
}

fn chart(rows: &[ThreadsRow]) -> LineChart {
    let line = |(threads, _, bypass, _): Sweep| {
        let of = rows
            .iter()
            .filter(|row| row.threads == threads && row.bypass == bypass);
        let name = match bypass {
            true => threads.to_owned(),
            false => format!("{threads}, no bypass"),
        };
        Line::over(name, of, |row| (f64::from(row.count), row.reads / 1e3))
    };
    let title = "Reads against threads of one type";
    LineChart::linear(title, "threads", "thousand IOPS", SWEEPS.map(line))
}

/// The fewest CACHE threads with which reads and writes reach the million.
fn cache_threads(rows: &[ThreadsRow], bypass: bool) -> Option<u32> {
    let mut of = rows
        .iter()
        .filter(|row| row.threads == "CACHE" && row.bypass == bypass);
    let enough = of.find(|row| row.reads.min(row.writes) >= MILLION);
    enough.map(|row| row.count)
}

/// `rows`: with a core for each thread; `platform`: on the published platform.
fn claim(rows: &[ThreadsRow], platform: &[ThreadsRow]) -> Claim {
    let of = |rows| [true, false].map(|bypass| cache_threads(rows, bypass));
    let text = |counts: [Option<u32>; 2]| {
        let [with, without] =
            counts.map(|count| count.map_or("none".to_owned(), |count| count.to_string()));
        format!("{with}, and {without} without")
    };
    let [with, without] = of(platform);
    let fewer = with.is_some_and(|with| with <= CACHE_THREADS)
        && without.is_none_or(|without| without > CACHE_THREADS);
    Claim::fitted(
        "firmware-threads.two-cache",
        "no constant; that reads fill the buffer without the bypass was put in, and that the platform counts, with its 25 threads on cores of four, was chosen with this number in sight",
    )
    .statement("CACHE threads of the published platform for 1 M IOPS of reads and of writes, with the bypass and without")
    .expected("2, and more without")
    .measured(format!(
        "{}; with a core for each thread {}",
        text([with, without]),
        text(of(rows))
    ))
    .when(
        Bound::Published,
        "with the bypass 2 suffice, and without it they do not",
    )
    .holds(fewer)
    .fails_with(Change::set("deepflash", &["firmware.cache_fill=false"]))
}
