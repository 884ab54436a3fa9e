//! What is measured.

use std::io::BufReader;
use std::num::NonZeroUsize;

use anyhow::{Context, Result};
use meldsim::{Device, Directive, NamespaceId, Pattern, Precondition};
use meldsim_host::all_cores;
use meldsim_stats::count;
use meldsim_workload::trace::{Replay, ReplayOptions, TraceReader, decompressed};

use super::figure::{Figure, Spent, Stopwatch, peak_bytes};
use super::generated::GeneratedTrace;
use super::speed::{Counted, SpeedTest};

/// Time a request of a long run may take, of a short run's.
const FLATNESS: f64 = 1.25;
/// Share of the threads that must come to be gained, of sets that are simulated at once.
const THREADS_GAIN: f64 = 0.75;
/// Replays of the short trace.
const REPLAYS: u32 = 100;
/// Of preconditioning: share of the data that was overwritten at random.
const RANDOM_PERCENT: u32 = 75;
/// A trace's requests and their results at most, whatever its length.
const TRACE_MIB: f64 = 32.0;
/// One sequential write.
const BLOCK_BYTES: u64 = 128 << 20;

/// Simulated requests or pages a second, of each test. The runs of one are spread over the whole
/// measurement: a neighbour on the machine disturbs some of them, and seldom all.
pub(super) fn speeds(tests: &[SpeedTest], progress: &mut dyn FnMut(f64)) -> Result<Vec<Figure>> {
    let fastest = fastest(tests, progress)?;
    let figures = tests.iter().zip(fastest).map(|(test, spent)| {
        let unit = match test.counted {
            Counted::Requests => "requests/s",
            Counted::Pages => "pages/s",
        };
        let rate = test.count() as f64 / spent.cpu_s;
        Figure::at_least(test.name.clone(), rate, unit, test.least_per_s, spent).of(test.device)
    });
    Ok(figures.collect())
}

/// How much longer a request takes in a long run.
pub(super) fn flatness(few: u64, many: u64, progress: &mut dyn FnMut(f64)) -> Result<Figure> {
    let fastest = fastest(&[few, many].map(SpeedTest::random_reads), progress)?;
    let short = fastest[0].cpu_s / few as f64;
    let long = fastest[1].cpu_s / many as f64;
    let what = format!(
        "time a request, {} to {}",
        count(few as f64),
        count(many as f64)
    );
    Ok(Figure::at_most(
        what,
        long / short,
        "times",
        FLATNESS,
        fastest[1],
    ))
}

/// The fastest of several runs of each test: what is slower was disturbed by something else on the
/// machine.
fn fastest(tests: &[SpeedTest], progress: &mut dyn FnMut(f64)) -> Result<Vec<Spent>> {
    let mut fastest: Vec<Option<Spent>> = vec![None; tests.len()];
    let runs = tests.iter().map(|test| test.runs).max().unwrap_or(0);
    for run in 0..runs {
        for (fastest, test) in fastest.iter_mut().zip(tests) {
            if run >= test.runs {
                continue;
            }
            let spent = simulate(test, progress)?;
            if fastest.is_none_or(|fastest| spent.cpu_s < fastest.cpu_s) {
                *fastest = Some(spent);
            }
        }
    }
    Ok(fastest.into_iter().flatten().collect())
}

/// How much sooner independent NVM sets are simulated on several threads than on one: at best as many times as there are
/// threads. Measured only where the machine has several cores.
pub(super) fn threads(requests: u64, progress: &mut dyn FnMut(f64)) -> Result<Option<Figure>> {
    let test = SpeedTest::independent_sets(requests);
    let threads =
        all_cores().min(NonZeroUsize::new(test.sets as usize).unwrap_or(NonZeroUsize::MIN));
    if threads.get() == 1 {
        return Ok(None);
    }
    let mut fastest = [f64::INFINITY; 2];
    let mut spent = Spent::default();
    for _ in 0..test.runs {
        for (fastest, threads) in fastest.iter_mut().zip([NonZeroUsize::MIN, threads]) {
            let runner = test.runner()?.with_threads(threads);
            let watch = Stopwatch::start();
            runner.run(&mut *progress)?;
            spent = watch.spent();
            *fastest = fastest.min(spent.wall_s);
        }
    }
    let what = format!("{}, on {threads} threads: speed", test.name);
    let [one, several] = fastest;
    let least = THREADS_GAIN * threads.get() as f64;
    Ok(Some(Figure::at_least(
        what,
        one / several,
        "times",
        least,
        spent,
    )))
}

fn simulate(test: &SpeedTest, progress: &mut dyn FnMut(f64)) -> Result<Spent> {
    let runner = test.runner()?;
    let watch = Stopwatch::start();
    runner.run(&mut *progress)?;
    Ok(watch.spent())
}

/// A whole trace, from the first line to the result.
pub(super) fn trace() -> Result<Figure> {
    let watch = Stopwatch::start();
    let reader = TraceReader::new("tpcc-small.trace", SpeedTest::TRACE.as_bytes(), None)?;
    let replay = Replay::new(&SpeedTest::profile(), reader, ReplayOptions::default())?;
    replay.run(|| {})?;
    let spent = watch.spent();
    let what = "replaying tpcc-small.trace".to_owned();
    Ok(Figure::at_most(what, spent.cpu_s, "s", 0.1, spent))
}

/// A trace of an HDFS DataNode, several times: once takes too little time to be measured.
pub(super) fn hdfs_trace() -> Result<Figure> {
    let watch = Stopwatch::start();
    for _ in 0..REPLAYS {
        let input = decompressed(SpeedTest::HDFS_TRACE)?;
        let reader = TraceReader::new("hdfs-lookup.meld.gz", input, None)?;
        let replay = Replay::new(&SpeedTest::profile(), reader, ReplayOptions::default())?;
        replay.run(|| {})?;
    }
    let spent = watch.spent();
    let what = format!("replaying hdfs-lookup.meld.gz {REPLAYS} times");
    Ok(Figure::at_most(what, spent.cpu_s, "s", 1.0, spent))
}

/// Memory of replaying a trace of so many bytes of text: the same for any.
pub(super) fn trace_memory(bytes: u64) -> Result<Figure> {
    let watch = Stopwatch::start();
    let input = BufReader::with_capacity(1 << 18, GeneratedTrace::new(bytes));
    let reader = TraceReader::new("generated.trace", input, None)?;
    let replay = Replay::new(&SpeedTest::profile(), reader, ReplayOptions::default())?;
    let result = replay.run(|| {})?;
    let spent = watch.spent();
    let peak_bytes = peak_bytes()
        .context("cannot measure memory: /proc/self/status has no VmHWM; measure with --quick")?;
    let records = result.trace.map_or(0, |trace| trace.records);
    let what = format!(
        "replaying a trace of {} GB, {} requests: memory",
        bytes as f64 / 1e9,
        count(records as f64)
    );
    Ok(memory(what, peak_bytes, TRACE_MIB, spent))
}

/// Building a device.
pub(super) fn start_up(bytes: u64) -> Result<Figure> {
    let profile = SpeedTest::profile_of(bytes);
    let watch = Stopwatch::start();
    let device = Device::new(&profile)?;
    let spent = watch.spent();
    drop(device);
    let what = format!("start-up of {}", terabytes(bytes));
    Ok(Figure::at_most(what, spent.cpu_s, "s", 0.1, spent))
}

/// Preconditioning: its time, and its memory if there is a bar.
pub(super) fn precondition(bytes: u64, bar_s: f64, bar_gb: Option<f64>) -> Result<Vec<Figure>> {
    let watch = Stopwatch::start();
    let (mut device, _) = device_of(bytes)?;
    device.precondition(&Precondition {
        random_percent: RANDOM_PERCENT,
        ..Precondition::default()
    })?;
    let spent = watch.spent();
    let peak_bytes = peak_bytes().unwrap_or_else(|| device.memory());
    let what = format!(
        "preconditioning {}, {RANDOM_PERCENT} % random",
        terabytes(bytes)
    );
    let time = Figure::at_most(what.clone(), spent.cpu_s, "s", bar_s, spent);
    let memory = bar_gb.map(|bar| {
        let what = format!("{what}: memory");
        Figure::at_most(what, peak_bytes as f64 / 1e9, "GB", bar, spent)
    });
    Ok([Some(time), memory].into_iter().flatten().collect())
}

/// Memory of data that was written in blocks of HDFS's size.
pub(super) fn sequential_memory(bytes: u64, bar_mib: f64) -> Result<Figure> {
    let watch = Stopwatch::start();
    let (mut device, nsid) = device_of(bytes)?;
    let lba_bytes = device.profile().controller.lba_size.0;
    let block_lbas = BLOCK_BYTES / lba_bytes;
    for block in 0..bytes / BLOCK_BYTES {
        let directive = Directive::read_pattern(Pattern::Sequential);
        device.preload(nsid, block * block_lbas, block_lbas, directive)?;
    }
    let spent = watch.spent();
    let peak_bytes = peak_bytes().unwrap_or_else(|| device.memory());
    let what = format!(
        "memory of {} written in blocks of 128 MiB",
        terabytes(bytes)
    );
    Ok(memory(what, peak_bytes, bar_mib, spent))
}

/// Memory of data that was written at random.
pub(super) fn random_memory(bytes: u64, bar_mib: f64) -> Result<Figure> {
    let watch = Stopwatch::start();
    let (mut device, _) = device_of(bytes)?;
    device.precondition(&Precondition::default())?;
    let spent = watch.spent();
    let peak_bytes = peak_bytes().unwrap_or_else(|| device.memory());
    let what = format!("memory of {} written at random, 4 KiB", terabytes(bytes));
    Ok(memory(what, peak_bytes, bar_mib, spent))
}

/// A device whose host can fill `bytes`, and a namespace of that size.
fn device_of(bytes: u64) -> Result<(Device, NamespaceId)> {
    let mut device = Device::new(&SpeedTest::profile_of(bytes))?;
    let lba_bytes = device.profile().controller.lba_size.0;
    let nsid = device.create_namespace(bytes / lba_bytes * lba_bytes)?;
    Ok((device, nsid))
}

/// Capacities are in powers of ten, as devices are sold.
fn terabytes(bytes: u64) -> String {
    format!("{} TB", bytes as f64 / 1e12)
}

fn memory(what: String, bytes: u64, bar_mib: f64, spent: Spent) -> Figure {
    let mib = bytes as f64 / f64::from(1 << 20);
    Figure::at_most(what, mib, "MiB", bar_mib, spent)
}
