//! Jobs with a rate for reads, for writes or for both: each direction keeps its own, and a mix waits no longer than the two
//! as jobs of their own. Beside fio, with its engine that has no device.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use meldsim::Profile;
use meldsim_stats::LatencySummary;
use meldsim_workload::{Job, RunResult, Runner, Tally, parse_job_file};
use serde_json::{Value, json};

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

/// Whether fio is there. Without it nothing is compared, which has to be asked for.
fn has_fio() -> bool {
    let is_there = Command::new("fio").arg("--version").output().is_ok();
    let is_left_out = std::env::var_os("MELDSIM_WITHOUT_FIO").is_some();
    assert!(
        is_there || is_left_out,
        "fio is not there; install it, or set MELDSIM_WITHOUT_FIO=1"
    );
    is_there
}

/// fio's own result of such jobs, on no device.
fn fio(text: &str) -> Value {
    // What shares the machine must not hold it up, where that may be asked for; else this is fio alone.
    let mut command = Command::new("nice");
    let command = command.args(["-n", "-20", "fio", "--output-format=json", "-"]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    let all = format!("[global]\nioengine=null\n{text}\n");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(all.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{text}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Paced jobs: groups of unequal jobs, ramps, delays, ends by time and by count.
const PACED: [&str; 10] = [
    "[j]\nrw=randread\nrate_iops=400\nruntime=1300ms\ntime_based=1",
    "[j]\nrw=randread\nrate_iops=400\nruntime=1300ms\ntime_based=1\nramp_time=700ms",
    "[j]\nrw=randwrite\nrate_iops=300\nruntime=1200ms\ntime_based=1\nnumjobs=3\ngroup_reporting=1",
    "[global]\ngroup_reporting=1\nrate_iops=400\ntime_based=1\n[r]\nrw=randread\nruntime=700ms\n[w]\nrw=randwrite\nruntime=1700ms",
    "[global]\ngroup_reporting=1\ntime_based=1\nruntime=1200ms\n[a]\nrw=read\nrate_iops=250\n[b]\nrw=read\nrate_iops=500\nnew_group=1",
    "[global]\ngroup_reporting=1\ntime_based=1\nruntime=1200ms\n[a]\nrw=write\nrate_iops=250\n[b]\nrw=write\nrate_iops=500\nstonewall=1",
    "[j]\nrw=randrw\nrwmixread=70\nrate_iops=350,250\nruntime=1700ms\ntime_based=1\nnumjobs=2\ngroup_reporting=1",
    "[j]\nrw=randread\nrate_iops=400\nnumber_ios=520",
    "[j]\nrw=randread\nnumber_ios=5\nthinktime=260ms",
    "[j]\nrw=randread\nrate_iops=600\nruntime=900ms\ntime_based=1",
];

#[test]
fn paced_jobs_come_to_what_fio_reports_of_them() {
    if !has_fio() {
        return;
    }
    let differences = |here: &Value, there: &Value| {
        let mut wrong = String::new();
        let jobs = |of: &Value| of["jobs"].as_array().unwrap().clone();
        assert_eq!(jobs(here).len(), jobs(there).len());
        for (here, there) in jobs(here).iter().zip(&jobs(there)) {
            let of_directions = ["read", "write"].map(|of| (&here[of], &there[of]));
            for (here, there) in of_directions {
                for key in
                    "total_ios iops bw runtime iops_samples iops_mean bw_mean bw_agg".split(' ')
                {
                    let [one, other] = [&here[key], &there[key]].map(|of| of.as_f64().unwrap());
                    // fio has no samples of less than half a second.
                    let is_there = !key.contains('_') || there["iops_samples"] != 0;
                    let near = 0.01 * one.max(other);
                    if is_there && (one - other).abs() > near {
                        wrong += &format!("{key}: {one}, fio {other}\n");
                    }
                }
            }
        }
        wrong
    };
    thread::scope(|scope| {
        for text in PACED {
            scope.spawn(move || {
                let text = format!("size=64m\nbs=4k\n{text}\n");
                let here = run(&format!("[global]\n{text}")).to_fio_json();
                // fio keeps its times only where it gets the processor in time.
                let mut tries = (0..20).map(|_| differences(&here, &fio(&text)));
                let mut last = String::new();
                let is_near = tries.any(|wrong| {
                    last.clone_from(&wrong);
                    wrong.is_empty()
                });
                assert!(is_near, "{text}{last}");
            });
        }
    });
}

#[test]
fn both_directions_keep_the_rates_that_fio_keeps() {
    if !has_fio() {
        return;
    }
    thread::scope(|scope| {
        for (lines, directions) in BESIDE_FIO {
            scope.spawn(move || {
                let text =
                    format!("rw=randrw\nsize=64m\niodepth=16\nruntime=2\ntime_based\n{lines}");
                let here = run(&format!("[j]\n{text}\n")).to_fio_json();
                // fio keeps a rate only where it gets the processor in time.
                let mut tries = (0..20).map(|_| fio(&format!("[j]\n{text}")));
                let is_near = |there: &Value| {
                    let mut directions = directions.iter();
                    directions.all(|of| is_near(iops(&here, of), iops(there, of), 0.01))
                };
                assert!(tries.any(|there| is_near(&there)), "{lines}: {here}");
            });
        }
    });
}

#[test]
fn json_has_what_scripts_for_fio_read() {
    let mut result = run("[global]\nioengine=libaio\nreadwrite=randread\n\
         [a]\nblocksize=8k\nsize=1m\niodepth=16\nruntime=1s\nlat_percentiles=1\n");
    result.has_bins = true;
    let json = result.to_fio_json();
    let (job, read) = (&json["jobs"][0], &json["jobs"][0]["read"]);
    assert_eq!(
        json["global options"],
        json!({ "ioengine": "libaio", "rw": "randread" })
    );
    let given = json!({
        "bs": "8k", "size": "1m", "iodepth": "16", "runtime": "1s", "lat_percentiles": "1",
    });
    assert_eq!(job["job options"], given);
    let bins = read["clat_ns"]["bins"].as_object().unwrap();
    let counts = bins.values().map(|count| count.as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 128);
    assert!(read["lat_ns"]["percentile"]["99.000000"].is_u64());
    assert!(job["iodepth_level"]["16"].as_f64().unwrap() > 80.0);
    for key in ["short_ios", "drop_ios", "bw_agg", "iops_mean", "bw_samples"] {
        assert!(read[key].is_number(), "{key}");
    }
    for key in ["ctx", "majf", "minf", "elapsed", "eta", "job_runtime"] {
        assert!(job[key].is_u64(), "{key}");
    }
    assert_eq!(
        (&json["timestamp"], &json["timestamp_ms"]),
        (&json!(0), &json!(0))
    );
}
