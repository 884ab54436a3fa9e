//! Jobs that begin, end or proceed by what others do, or by how the device serves them.

use std::ops::ControlFlow;

use meldsim::Profile;
use meldsim_workload::{Job, JobResult, RunResult, Runner, parse_job_file};

fn jobs(text: &str) -> Vec<Job> {
    let list = parse_job_file("control.fio", text, &Job::new("")).unwrap();
    list.jobs
}

fn run(text: &str) -> RunResult {
    let profile = Profile::builtin("melded-tlc-8x8").unwrap();
    let runner = Runner::new(&profile, &jobs(text)).unwrap();
    runner.run(|_| {}).unwrap()
}

fn job<'a>(result: &'a RunResult, name: &str) -> &'a JobResult {
    result.jobs.iter().find(|job| job.name == name).unwrap()
}

fn requests(job: &JobResult) -> u64 {
    job.directions().map(|(_, tally)| tally.requests).sum()
}

fn end_us(job: &JobResult) -> f64 {
    job.start_us + job.duration_us
}

#[test]
fn a_job_waits_for_all_of_another() {
    let result = run(
        "[global]\nrw=randread\nsize=1m\n[one]\nnumjobs=2\ngroup_reporting\n[free]\n\
         [two]\nwait_for=one\nstartdelay=1ms\n[three]\nwait_for=two\n",
    );
    let [one, free, two, three] = ["one", "free", "two", "three"].map(|name| job(&result, name));
    assert_eq!((one.start_us, free.start_us), (0.0, 0.0));
    assert!((two.start_us - end_us(one) - 1000.0).abs() < 1.0);
    assert!((three.start_us - end_us(two)).abs() < 1.0);
    for job in [free, two, three] {
        assert_eq!(requests(job), 256);
    }
}

#[test]
fn jobs_end_with_the_first_of_their_group_or_with_all() {
    let text = |exit: &str| {
        format!(
            "[global]\nrw=randread\nsize=64m\nthinktime=1s\nthinktime_blocks=4096\n[short]\nsize=64k\n{exit}\n\
             [long]\n[other]\nnew_group\n[after]\nstonewall\nsize=64k\n"
        )
    };
    let full = 16_384;
    for (exit, long_ends, other_ends, after_runs) in [
        ("", false, false, true),
        ("exit_what=all", false, false, true),
        ("exitall", true, false, true),
        ("exitall\nexit_what=stonewall", true, true, true),
        ("exitall\nexit_what=all", true, true, false),
    ] {
        let result = run(&text(exit));
        assert_eq!(requests(job(&result, "short")), 16, "{exit}");
        let ends = |name: &str| requests(job(&result, name)) < full;
        assert_eq!(ends("long"), long_ends, "{exit}");
        assert_eq!(ends("other"), other_ends, "{exit}");
        assert_eq!(requests(job(&result, "after")) > 0, after_runs, "{exit}");
    }
}

/// As fio 3.33 numbers them.
#[test]
fn groups_are_numbered_from_the_first_job() {
    let result = run(
        "[global]\nsize=64k\n[a]\nstonewall\n[b]\n[c]\nstonewall\nnumjobs=2\n[d]\nnew_group\n[e]\n",
    );
    let groups: Vec<usize> = result.jobs.iter().map(|job| job.group).collect();
    assert_eq!(groups, [0, 0, 1, 1, 2, 2]);
    let json: serde_json::Value = serde_json::from_str(&result.to_json("", "").unwrap()).unwrap();
    assert_eq!(json["jobs"][5]["groupid"], 2);
}

#[test]
fn a_flow_keeps_its_ratio() {
    for sleep in ["", "flow_sleep=20\n"] {
        let result = run(&format!(
            "[global]\nrw=randread\nsize=64m\nnorandommap\ntime_based\nruntime=20ms\niodepth=16\n{sleep}\
             [one]\nflow=1\n[eight]\nflow=8\n[free]\n[alone]\nflow=5\nflow_id=7\n"
        ));
        let [one, eight, free, alone] =
            ["one", "eight", "free", "alone"].map(|name| requests(job(&result, name)) as f64);
        assert!(
            (7.8..8.2).contains(&(eight / one)),
            "{sleep}: {eight} {one}"
        );
        assert!(
            free > 4.0 * one && alone > 4.0 * one,
            "{sleep}: {free} {alone} {eight}"
        );
    }
    // When one of a flow has ended, the other goes on alone.
    let result =
        run("[global]\nrw=randread\nsize=1m\n[few]\nflow=1\nnumber_ios=10\n[many]\nflow=1\n");
    assert_eq!(requests(job(&result, "few")), 10);
    assert_eq!(requests(job(&result, "many")), 256);
}

#[test]
fn a_job_ends_when_its_speed_is_steady() {
    let steady = "[j]\nrw=randread\nsize=64m\ntime_based\nruntime=1s\niodepth=32\nnumjobs=2\ngroup_reporting\n\
         ss=iops:10%\nss_dur=20ms\nss_interval=2ms\nss_ramp=10ms\n";
    let job = run(steady).jobs.remove(0);
    let at_us = job.steady_us.unwrap();
    assert!((30_000.0..60_000.0).contains(&at_us), "{at_us}");
    assert!(end_us(&job) < at_us + 1000.0);
    let never = steady.replace("10%", "0.0001%").replace("1s", "100ms");
    let job = run(&never).jobs.remove(0);
    assert_eq!(job.steady_us, None);
    assert!(end_us(&job) > 99_000.0);
}

#[test]
fn the_depth_for_a_latency_is_found() {
    let search = |target: &str| {
        let text = format!(
            "[j]\nrw=randread\nsize=256m\nnorandommap\ntime_based\nruntime=10s\niodepth=256\n\
             latency_target={target}\nlatency_window=2ms\nlatency_percentile=99\n"
        );
        run(&text).jobs.remove(0)
    };
    let (tight, loose) = (search("250us"), search("500us"));
    let depths = [&tight, &loose].map(|job| job.latency_depth.unwrap());
    assert!(
        1 < depths[0] && depths[0] < depths[1] && depths[1] < 256,
        "{depths:?}"
    );
    for (job, bound_us) in [(&tight, 250.0), (&loose, 500.0)] {
        // It ended by itself, and what is reported is the depth that was found.
        assert!(end_us(job) < 1e6);
        let summary = job.read.as_ref().unwrap().latencies().summary().unwrap();
        assert!(summary.p50_us < bound_us, "{summary:?}");
    }
    let job = search("1us");
    assert_eq!(job.latency_depth, Some(0));
    assert!(job.stopped.unwrap().contains("latency_target"));
    let text = "[j]\nrw=randread\nsize=1m\nlatency_target=1us\nlatency_window=2ms\n";
    let text = run(text).to_text();
    assert!(
        text.contains("latency_target is not met") && !text.contains("met up to"),
        "{text}"
    );
}

#[test]
fn a_job_that_is_too_slow_ends() {
    let text = "[j]\nrw=randread\nsize=64m\nrate_iops=100\nrate_iops_min=200\n";
    let result = run(text);
    let stopped = result.jobs[0].stopped.as_ref().unwrap();
    assert!(stopped.contains("below the least of 200 IOPS"), "{stopped}");
    assert!((2e6..4e6).contains(&end_us(&result.jobs[0])));
    assert!(result.to_text().contains("j: ended early: reads at"));
    assert_eq!(result.to_fio_json()["jobs"][0]["error"], 110);
}

#[test]
fn what_is_broken_off_says_so_and_has_what_was_done() {
    let profile = Profile::builtin("melded-tlc-8x8").unwrap();
    let text = "[global]\nrw=randread\nsize=1g\nnorandommap\niodepth=64\n[a]\n[b]\nstonewall\n";
    let runner = Runner::new(&profile, &jobs(text)).unwrap();
    let result = runner.run_until(|share| match share > 0.2 {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    });
    let result = result.unwrap();
    let [a, b] = ["a", "b"].map(|name| requests(job(&result, name)));
    assert!(a > 65_536 && a < 200_000 && b == 0, "{a} {b}");
    assert!(result.to_text().starts_with("partial: "));
    assert_eq!(result.to_fio_json()["partial"], true);
}
