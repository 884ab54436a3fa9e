//! What the host's path adds to latencies and takes from throughput, and that a run without one is as it was.

use std::io::BufReader;

use meldsim::profile::{HostPath, PathTimes};
use meldsim::{Duration, Profile};
use meldsim_workload::trace::{Replay, ReplayMode, ReplayOptions, TraceReader};
use meldsim_workload::{Job, Rate, ReadWrite, RunResult, Runner, Tally, parse_job_file};
use serde_json::Value;

const PATHS: [HostPath; 3] = [HostPath::Spdk, HostPath::IoUring, HostPath::Libaio];

/// A device that a thread can be too slow for.
fn optane(path: HostPath) -> Profile {
    let mut profile = Profile::builtin("optane-900p").unwrap();
    profile.host.path = path;
    profile
}

fn flash(path: HostPath) -> Profile {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.host.path = path;
    profile
}

/// A path whose times are given.
fn with_times(mut profile: Profile, submit: Duration, completion: Duration) -> Profile {
    profile.host.path = HostPath::IoUring;
    profile.host.path_submit_time = Some(submit);
    profile.host.path_completion_time = Some(completion);
    profile
}

fn job(rw: ReadWrite, iodepth: u32) -> Job {
    Job {
        rw,
        iodepth,
        size_bytes: 16 << 20,
        ..Job::new("j")
    }
}

fn run(profile: &Profile, jobs: &[Job]) -> RunResult {
    Runner::new(profile, jobs).unwrap().run(|_| {}).unwrap()
}

fn direction(result: &RunResult) -> &Tally {
    result.jobs[0].directions().next().unwrap().1
}

fn iops(result: &RunResult) -> f64 {
    let jobs = result.jobs.iter();
    jobs.flat_map(|job| job.directions())
        .map(|(_, tally)| tally.iops().unwrap())
        .sum()
}

#[test]
fn latency_at_depth_1_grows_by_the_times() {
    // The memory's own latency depends on when its last access was: of that only the least is the same.
    for (profile, rw, is_constant) in [
        (flash as fn(HostPath) -> Profile, ReadWrite::RandRead, true),
        (flash, ReadWrite::RandWrite, true),
        (optane, ReadWrite::RandRead, false),
    ] {
        let bare = run(&profile(HostPath::None), &[job(rw, 1)]);
        let bare = direction(&bare);
        assert!(bare.waited.is_none());
        for path in PATHS {
            let PathTimes { submit, completion } = path.times();
            let result = run(&profile(path), &[job(rw, 1)]);
            let tally = direction(&result);
            let waited = tally.waited.as_ref().unwrap();
            assert_eq!((waited.min(), waited.max()), (submit, submit));
            assert_eq!(tally.in_device.min(), bare.in_device.min() + completion);
            assert_eq!(
                tally.latencies().min(),
                bare.latencies().min() + submit + completion
            );
            if is_constant {
                let mean = |tally: &Tally| tally.latencies().mean_ps();
                let added = mean(tally) - mean(bare);
                let expected = (submit + completion).as_ps() as f64;
                assert!((added - expected).abs() < 1.0, "{path:?}: {added}");
                assert_eq!(tally.in_device.max(), bare.in_device.max() + completion);
            }
        }
    }
}

#[test]
fn a_thread_has_a_ceiling_and_two_have_twice_it() {
    let submit = Duration::from_us(8);
    let profile = with_times(
        optane(HostPath::None),
        submit,
        HostPath::IoUring.times().completion,
    );
    let one = job(ReadWrite::RandRead, 64);
    let two = Job {
        numjobs: 2,
        ..one.clone()
    };
    let near = |iops: f64, expected: f64| {
        assert!((iops / expected - 1.0).abs() < 0.002, "{iops}, {expected}");
    };
    assert!(iops(&run(&optane(HostPath::None), std::slice::from_ref(&one))) > 400e3);
    near(iops(&run(&profile, std::slice::from_ref(&one))), 125e3);
    near(iops(&run(&profile, &[two])), 250e3);
    // Depth makes up for no processor.
    near(
        iops(&run(&profile, &[job(ReadWrite::RandRead, 256)])),
        125e3,
    );
    for path in [HostPath::IoUring, HostPath::Libaio] {
        let ceiling = 1.0 / path.times().submit.as_secs_f64();
        let measured = iops(&run(&optane(path), std::slice::from_ref(&one)));
        assert!(measured < ceiling * 1.002, "{path:?}: {measured}");
        // The memory itself is near io_uring's ceiling.
        assert!(measured > ceiling * 0.9, "{path:?}: {measured}");
    }
}

/// Little's law holds for what a user sees: a thread fills its queue before it looks for completions.
#[test]
fn at_the_ceiling_a_latency_is_depth_over_rate() {
    let submit = Duration::from_us(20);
    let profile = with_times(optane(HostPath::None), submit, Duration::ZERO);
    let result = run(&profile, &[job(ReadWrite::RandRead, 32)]);
    let tally = direction(&result);
    // Requests are made when the thread is free, so they do not wait for it.
    let waited = tally.waited.as_ref().unwrap();
    assert_eq!((waited.min(), waited.max()), (submit, submit));
    let whole = Duration::from_ps(32 * submit.as_ps());
    let mean_us = tally.latencies().mean_ps() / 1e6;
    assert!((mean_us - 640.0).abs() < 4.0, "{mean_us}");
    assert_eq!(tally.latencies().max(), whole);
    // A queue that is not full is of no use to a thread that is the limit.
    let little = run(&profile, &[job(ReadWrite::RandRead, 2)]);
    let (few, many) = (direction(&little).iops(), tally.iops());
    assert!((few.unwrap() / many.unwrap() - 1.0).abs() < 0.01);
    // What is asked for at a rate does wait.
    let mut fast = job(ReadWrite::RandRead, 32);
    fast.rate_read = Some(Rate::Requests(100_000));
    let result = run(&profile, &[fast]);
    let tally = direction(&result);
    assert!(tally.waited.as_ref().unwrap().max() > Duration::from_ms(1));
    assert!((tally.iops().unwrap() / 50e3 - 1.0).abs() < 0.002);
}

#[test]
fn a_rate_below_the_ceiling_is_met() {
    let mut job = job(ReadWrite::RandWrite, 32);
    job.rate_write = Some(Rate::Requests(20_000));
    for path in PATHS {
        let result = run(&flash(path), std::slice::from_ref(&job));
        let tally = direction(&result);
        let waited = tally.waited.as_ref().unwrap();
        assert_eq!(
            (waited.min(), waited.max()),
            (path.times().submit, path.times().submit)
        );
        assert!((tally.iops().unwrap() / 20e3 - 1.0).abs() < 0.002);
    }
}

/// The result as JSON, and as text, but for what names the path.
fn bare_outputs(result: &RunResult) -> (Value, String) {
    let mut json = result.to_fio_json();
    json.as_object_mut().unwrap().remove("host_path");
    let text = result.to_text();
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("host path"))
        .collect::<Vec<_>>();
    (json, lines.join("\n"))
}

#[test]
fn a_path_without_times_changes_nothing() {
    let jobs = "[global]\nsize=4m\nrw=randrw\niodepth=8\n[a]\nnumjobs=3\n[b]\nrate_iops=50000\n\
                [c]\nthinktime=100\nthinktime_blocks=4\n[d]\nstonewall\nlatency_target=400\nlatency_window=1ms\n";
    let jobs = parse_job_file("x.fio", jobs, &Job::new("")).unwrap().jobs;
    for device in [flash, optane] {
        let bare = run(&device(HostPath::None), &jobs);
        assert!(bare.host_path.is_none());
        assert!(bare.to_fio_json().get("host_path").is_none());
        let timeless = with_times(device(HostPath::None), Duration::ZERO, Duration::ZERO);
        let result = run(&timeless, &jobs);
        assert_eq!(bare_outputs(&result), bare_outputs(&bare));
        assert_eq!(result.host_path.unwrap().times, PathTimes::default());
    }
}

#[test]
fn all_that_is_asked_for_is_served_whatever_the_path() {
    let jobs = "[global]\nsize=2m\n[a]\nrw=randrw\niodepth=16\nnumjobs=3\n[b]\nrw=write\niodepth=2\nthinktime=50\n\
                [c]\nrw=randread\nrate_iops=80000,\nrate_process=poisson\n[d]\nwait_for=b\nrw=randwrite\niodepth=64\n\
                [e]\nstonewall\nrw=randread\nflow=1\n[f]\nrw=randread\nflow=3\nflow_sleep=10\n";
    let jobs = parse_job_file("x.fio", jobs, &Job::new("")).unwrap().jobs;
    let mut paths: Vec<Profile> = PATHS.iter().map(|path| optane(*path)).collect();
    let us = Duration::from_us(3);
    paths.push(with_times(optane(HostPath::None), us, Duration::ZERO));
    paths.push(with_times(optane(HostPath::None), Duration::ZERO, us));
    for profile in paths {
        let result = run(&profile, &jobs);
        let tallies = result.jobs.iter().flat_map(|job| job.directions());
        let requests: u64 = tallies.map(|(_, tally)| tally.requests).sum();
        assert_eq!(requests, 8 * 512);
        let again = run(&profile, &jobs);
        assert_eq!(
            result.to_fio_json().to_string(),
            again.to_fio_json().to_string()
        );
    }
}

/// TPC-C, from MQSim.
const TRACE: &str = include_str!("../../../../workloads/tpcc-small.trace");

#[test]
fn a_trace_goes_through_one_thread() {
    let replay = |profile: &Profile, mode: ReplayMode| {
        let input = BufReader::new(TRACE.as_bytes());
        let reader = TraceReader::new("tpcc", input, None).unwrap();
        let options = ReplayOptions {
            mode,
            iodepth: mode.default_iodepth().max(8),
            ..ReplayOptions::default()
        };
        let replay = Replay::new(profile, reader, options).unwrap();
        replay.run(|| {}).unwrap()
    };
    let bare = replay(&optane(HostPath::None), ReplayMode::Open);
    let path = HostPath::Libaio;
    let result = replay(&optane(path), ReplayMode::Open);
    assert_eq!(result.trace, bare.trace);
    assert_eq!(result.host_path.unwrap().path, path);
    for (with, without) in result.jobs[0].directions().zip(bare.jobs[0].directions()) {
        assert_eq!(with.1.requests, without.1.requests);
        let waited = with.1.waited.as_ref().unwrap();
        assert_eq!(waited.min(), path.times().submit);
        let least = without.1.latencies().min() + path.times().submit + path.times().completion;
        assert_eq!(with.1.latencies().min(), least);
    }
    let slow = with_times(
        optane(HostPath::None),
        Duration::from_us(100),
        Duration::ZERO,
    );
    let closed = replay(&slow, ReplayMode::Closed);
    let requests: u64 = closed.jobs[0].directions().map(|(_, t)| t.requests).sum();
    let rate = requests as f64 / (closed.jobs[0].duration_us / 1e6);
    assert!((rate / 10e3 - 1.0).abs() < 0.01, "{rate}");
}

#[test]
fn a_result_names_its_path() {
    let result = run(&flash(HostPath::IoUring), &[job(ReadWrite::RandRead, 1)]);
    let json = result.to_fio_json();
    assert_eq!(
        json["host_path"].to_string(),
        r#"{"name":"io_uring","submit_ns":2300.0,"completion_ns":4000.0}"#
    );
    let read = &json["jobs"][0]["read"];
    let ns = |key: &str| read[key]["mean"].as_f64().unwrap();
    assert!((ns("slat_ns") + ns("clat_ns") - ns("lat_ns")).abs() < 1e-3);
    assert_eq!(ns("slat_ns"), 2300.0);
    let line = "host path: io_uring; latencies include 2300ns to submit a request and 4us until the host sees that \
                it has completed; a thread submits at most 434.8 k a second\n";
    assert!(result.to_text().contains(line), "{}", result.to_text());
}

/// The search for a depth goes by what a user sees.
#[test]
fn a_latency_target_counts_the_path() {
    let stopped = |profile: &Profile| {
        let text = "[j]\nrw=randread\nsize=64m\niodepth=64\nlatency_target=20us\nlatency_window=2ms\n\
                    latency_percentile=90\ntime_based\nruntime=60ms\nnorandommap\n";
        let jobs = parse_job_file("x.fio", text, &Job::new("")).unwrap().jobs;
        run(profile, &jobs).jobs[0].stopped.clone()
    };
    let bare = optane(HostPath::None);
    let us = Duration::from_us;
    assert_eq!(stopped(&bare), None);
    for slow in [
        with_times(bare.clone(), us(15), us(0)),
        with_times(bare.clone(), us(0), us(15)),
    ] {
        let reason = stopped(&slow).unwrap();
        assert!(reason.contains("slower than latency_target"), "{reason}");
    }
}
