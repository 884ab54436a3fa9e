//! `firmware-threads`: throughput against the threads of one type, each thread on its own core.

use super::super::burst::ExperimentError;
use super::super::claim::{Basis, Claim};
use super::super::effort::Effort;
use super::super::outcome::{Chart, Figure, Outcome};
use super::super::sheet::{Cell as Value, Sheet};
use super::cell::{Asked, Cell};
use super::{Design, MILLION, Said, grounds, kiops};
use crate::report::chart::{Axis, Line, LineChart};
use meldsim::profile::{FirmwareThreads, Profile};

const NAME: &str = "firmware-threads";
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

struct Row {
    threads: &'static str,
    count: u32,
    bypass: bool,
    reads: f64,
    writes: f64,
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

/// Runs the sweeps.
pub(in crate::experiment) fn threads(
    profile: &Profile,
    effort: Effort,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let total: u32 = SWEEPS.iter().map(|sweep| sweep.1).sum();
    let mut rows = Vec::new();
    for (threads, most, bypass, field) in SWEEPS {
        for count in 1..=most {
            let mut profile = Design::Full.of(profile, CORES);
            profile.firmware.threads = PLENTY;
            profile.firmware.cache_bypass = bypass;
            *field(&mut profile.firmware.threads) = count;
            rows.push(Row {
                threads,
                count,
                bypass,
                reads: Cell::measure(&profile, Asked::READS, effort)?.iops,
                writes: Cell::measure(&profile, Asked::WRITES, effort)?.iops,
            });
            progress(rows.len() as f64 / f64::from(total));
        }
    }
    let mut sheet = Sheet::new(
        "threads",
        &[
            ("type", "type"),
            ("bypass", "cache bypass"),
            ("threads", "threads"),
            ("read_iops", "read IOPS"),
            ("write_iops", "write IOPS"),
        ],
    );
    for row in &rows {
        sheet.row([
            Value::text(row.threads),
            Value::text(if row.bypass { "on" } else { "off" }),
            Value::Count(row.count.into()),
            Value::Number(row.reads, 0),
            Value::Number(row.writes, 0),
        ]);
    }
    Ok(Outcome {
        experiment: NAME,
        profile: profile.name.clone(),
        about: "Random requests of 4 KiB in front of a pipeline with enough cores and threads of all types but one."
            .to_owned()
            + effort.note(),
        grounds: grounds(),
        sheets: vec![sheet],
        figures: vec![figure(&rows)],
        claims: claims(&rows),
    })
}

fn figure(rows: &[Row]) -> Figure {
    let line = |(threads, _, bypass, _): Sweep| {
        let of = rows
            .iter()
            .filter(|row| row.threads == threads && row.bypass == bypass);
        let name = match bypass {
            true => threads.to_owned(),
            false => format!("{threads}, no bypass"),
        };
        let points = of.map(|row| (f64::from(row.count), row.reads / 1e3));
        Line::new(name, points.collect())
    };
    Figure {
        chart: Chart::Line(LineChart {
            title: "Reads against threads of one type".to_owned(),
            x: Axis::linear("threads"),
            y: Axis::linear("thousand IOPS"),
            lines: SWEEPS.map(line).to_vec(),
        }),
        caption: "A type limits the pipeline until it has threads enough; with the bypass reads do without CACHE threads."
            .to_owned(),
    }
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let mut of = rows
        .iter()
        .filter(|row| row.threads == "CACHE" && row.bypass);
    let Some(two) = of.find(|row| row.count == CACHE_THREADS) else {
        return Vec::new();
    };
    let measured = format!(
        "reads {}, writes {} IOPS",
        kiops(two.reads),
        kiops(two.writes)
    );
    let said = Said {
        id: "firmware-threads.two-cache",
        basis: Basis::Published,
        statement: "predicted: two CACHE threads with the bypass",
        published: "1 M IOPS",
        criterion: "reads and writes are at least 1 M",
    };
    vec![said.claim(NAME, measured, two.reads.min(two.writes) >= MILLION)]
}
