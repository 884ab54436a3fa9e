//! Jobs with a rate for reads, for writes or for both: each direction keeps its own, and a mix waits no longer than the two
//! as jobs of their own. Beside fio, with its engine that has no device.

use std::process::Command;
use std::thread;

use meldsim::Profile;
use meldsim_stats::LatencySummary;
use meldsim_workload::{Job, RunResult, Runner, Tally, parse_job_file};
use serde_json::Value;

fn run(text: &str) -> RunResult {
    let profile = Profile::builtin("melded-tlc-8x8").unwrap();
    let jobs = parse_job_file("rates.fio", text, &Job::new(""))
        .unwrap()
        .jobs;
    let runner = Runner::new(&profile, &jobs).unwrap();
    runner.run(|_| {}).unwrap()
}

fn is_near(a: f64, b: f64, share: f64) -> bool {
    (a / b - 1.0).abs() < share
}

/// Requests of a direction a second, in fio's JSON.
fn iops(json: &Value, direction: &str) -> f64 {
    json["jobs"][0][direction]["iops"].as_f64().unwrap()
}

fn summary(tally: Option<&Tally>) -> LatencySummary {
    tally.unwrap().latencies().summary().unwrap()
}

#[test]
fn a_mix_has_the_rates_and_the_latencies_of_its_two_streams() {
    // At random there must be many, to be near the rate.
    for (process, [read_iops, write_iops]) in [("linear", [700, 300]), ("poisson", [7000, 3000])] {
        let rest = format!(
            "filename=d\nsize=64m\nbs=4k\niodepth=64\nruntime=20\ntime_based\nrate_process={process}\n"
        );
        let mix = run(&format!(
            "[mix]\nrw=randrw\nrwmixread=70\nrate_iops={read_iops},{write_iops}\n{rest}"
        ));
        let apart = run(&format!(
            "[global]\n{rest}[r]\nrw=randread\nrate_iops={read_iops}\n[w]\nrw=randwrite\nrate_iops={write_iops}\n"
        ));
        let json = mix.to_fio_json();
        for (direction, rate) in [("read", read_iops), ("write", write_iops)] {
            assert!(
                is_near(iops(&json, direction), f64::from(rate), 0.01),
                "{process}: {json}"
            );
        }
        let [reads, reads_apart] =
            [&mix.jobs[0], &apart.jobs[0]].map(|job| summary(job.read.as_ref()));
        let [writes, writes_apart] =
            [&mix.jobs[0], &apart.jobs[1]].map(|job| summary(job.write.as_ref()));
        for (together, alone) in [(&reads, &reads_apart), (&writes, &writes_apart)] {
            assert!(
                is_near(together.mean_us, alone.mean_us, 0.05),
                "{process}: {together:?} {alone:?}"
            );
        }
        assert!(
            is_near(reads.p99_us, reads_apart.p99_us, 0.05),
            "{process}: {reads:?} {reads_apart:?}"
        );
        assert!(
            reads.p50_us < 120.0 && writes.mean_us < 12.0,
            "{process}: {reads:?} {writes:?}"
        );
    }
}

#[test]
fn only_one_direction_may_have_a_rate() {
    let mix = |lines: &str| {
        let text =
            format!("[j]\nrw=randrw\nsize=64m\nruntime=1s\ntime_based\niodepth=8\n{lines}\n");
        run(&text).to_fio_json()
    };
    let free = mix("rwmixread=5");
    let capped = mix("rwmixread=5\nrate_iops=,2000");
    // Reads are not held at their share of the mix.
    assert!(is_near(iops(&capped, "write"), 2000.0, 0.01), "{capped}");
    assert!(
        iops(&capped, "read") > 10.0 * iops(&free, "read"),
        "{capped}"
    );
    // What has no share of the mix has nothing yielded to it.
    let reads = mix("rwmixread=100\nrate_iops=2000,500");
    assert!(is_near(iops(&reads, "read"), 2000.0, 0.01), "{reads}");
    assert_eq!(iops(&reads, "write"), 0.0);
}

/// Lines of a job, and the directions that have a rate. Arrivals at random are not fio's in a short time.
const BESIDE_FIO: [(&str, &[&str]); 6] = [
    ("rwmixread=70\nrate_iops=700,300", &["read", "write"]),
    ("rwmixread=10\nrate_iops=2000", &["read", "write"]),
    (
        "rw=rw\nrwmixread=50\nbs=16k\nrate=20m,5m",
        &["read", "write"],
    ),
    ("rwmixread=50\nrate_iops=,500", &["write"]),
    ("rwmixread=20\nrate=4m,", &["read"]),
    ("rwmixread=60\nbs=4k,16k\nrate=8m", &["read", "write"]),
];

/// fio's own result of such a job, on no device.
fn fio(text: &str) -> Value {
    let options = text.lines().map(|line| format!("--{line}"));
    let mut command = Command::new("fio");
    command.args(["--name=j", "--ioengine=null", "--output-format=json"]);
    let output = command.args(options).output().unwrap();
    assert!(output.status.success(), "{text}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn both_directions_keep_the_rates_that_fio_keeps() {
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("SKIPPED: fio is not there; on Debian, install fio");
        return;
    }
    thread::scope(|scope| {
        for (lines, directions) in BESIDE_FIO {
            scope.spawn(move || {
                let text =
                    format!("rw=randrw\nsize=64m\niodepth=16\nruntime=2\ntime_based\n{lines}");
                let here = run(&format!("[j]\n{text}\n")).to_fio_json();
                // fio keeps a rate only where it gets the processor in time.
                let mut tries = (0..5).map(|_| fio(&text));
                let is_near = |there: &Value| {
                    let mut directions = directions.iter();
                    directions.all(|of| is_near(iops(&here, of), iops(there, of), 0.01))
                };
                assert!(tries.any(|there| is_near(&there)), "{lines}: {here}");
            });
        }
    });
}
