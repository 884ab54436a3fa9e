//! How fast the simulator is: `cargo bench -p meldsim-bench`. The same workloads, against their bars: `meldsim bench`.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "benchmarks may stop anywhere"
)]

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use meldsim::{Device, Pattern, Precondition};
use meldsim_bench::SpeedTest;
use meldsim_timeline::{Shown, Timelines};
use meldsim_workload::trace::{Replay, ReplayOptions, TraceReader};

const TB: u64 = 1_000_000_000_000;

/// Simulates `test`; only the run counts, not what is in place before.
fn simulate(test: &SpeedTest) -> Duration {
    let runner = test.runner().unwrap();
    let begin = Instant::now();
    runner.run(|_| {}).unwrap();
    begin.elapsed()
}

fn requests(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("simulate");
    group.sample_size(10);
    for test in [
        SpeedTest::random_reads(500_000),
        SpeedTest::sequential_reads(2_000_000, Pattern::None),
        SpeedTest::sequential_reads(2_000_000, Pattern::Sequential),
        SpeedTest::overwrites(200_000),
        SpeedTest::firmware(500_000),
    ] {
        group.throughput(Throughput::Elements(test.count()));
        group.bench_function(&test.name, |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| simulate(&test)).sum());
        });
    }
    group.finish();
}

/// Time a request must not depend on how many there are; `meldsim bench --full` goes to 20 million.
fn flatness(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("flatness");
    group.sample_size(10);
    for count in [100_000, 1_000_000] {
        let test = SpeedTest::random_reads(count);
        group.throughput(Throughput::Elements(count));
        group.bench_with_input(
            BenchmarkId::from_parameter(count),
            &test,
            |bencher, test| {
                bencher.iter_custom(|times| (0..times).map(|_| simulate(test)).sum());
            },
        );
    }
    group.finish();
}

/// Slices written a second, encoded and compressed: the bar is a million.
fn timelines(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("timelines");
    group.sample_size(10);
    let test = SpeedTest::random_reads(100_000);
    let simulate = |shown, for_page: bool| {
        let trace = (!for_page).then(std::io::sink);
        let timelines = Timelines::new(trace, for_page, shown);
        let device = timelines.begin(&SpeedTest::profile(), "bench").unwrap();
        let runner = test.runner().unwrap().with_timeline(device).unwrap();
        let begin = Instant::now();
        runner.run(|_| {}).unwrap();
        (timelines.finish().unwrap().slices, begin.elapsed())
    };
    let slowest = Shown {
        slowest: Some(20),
        ..Shown::default()
    };
    let (slices, _) = simulate(Shown::default(), false);
    group.throughput(Throughput::Elements(slices));
    for (name, shown, for_page) in [
        ("for Perfetto", Shown::default(), false),
        ("for a page", Shown::default(), true),
        ("of the slowest commands", slowest, false),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| simulate(shown, for_page).1).sum());
        });
    }
    group.finish();
}

fn set_up(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("set-up");
    group.sample_size(10);
    let large = SpeedTest::profile_of(8 * TB);
    group.bench_function("start-up of 8 TB", |bencher| {
        bencher.iter(|| Device::new(&large).unwrap());
    });
    let half = SpeedTest::profile_of(TB / 2);
    group.bench_function("preconditioning 0.5 TB, 75 % random", |bencher| {
        bencher.iter(|| {
            let mut device = Device::new(&half).unwrap();
            device.create_namespace(TB / 2 / 4096 * 4096).unwrap();
            let precondition = Precondition {
                random_percent: 75,
                ..Precondition::default()
            };
            device.precondition(&precondition).unwrap();
        });
    });
    group.bench_function("replaying tpcc-small.trace", |bencher| {
        bencher.iter(|| {
            let reader =
                TraceReader::new("tpcc-small.trace", SpeedTest::TRACE.as_bytes(), None).unwrap();
            let options = ReplayOptions::default();
            Replay::new(&SpeedTest::profile(), reader, options)
                .unwrap()
                .run(|| {})
                .unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, requests, flatness, timelines, set_up);
criterion_main!(benches);
