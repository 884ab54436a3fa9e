//! NVM sets that are independent are simulated on threads of their own, and nobody sees it in the result.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use crate::common::small_profile;
use meldsim::profile::{Profile, Setting};
use meldsim_workload::{Job, Past, ReadWrite, RunResult, Runner};
use proptest::prelude::*;

/// What sets of a device may do, each by itself.
const SETTINGS: [&str; 14] = [
    "gc.pacing=credit",
    "gc.pacing=throttle",
    "gc.background=true",
    "gc.reads_yield=true",
    "gc.copyback=true",
    "ftl.allocation=static",
    "ftl.journal=background",
    "controller.write_cache=false",
    "controller.read_segment=16KiB",
    "commands.suspend_program=true",
    "commands.cache_read=true",
    "commands.issue=in-order",
    "geometry.dies_per_package=2",
    "predictable_latency.alternate=true",
];

/// Four sets of two dies, with some settings.
fn divided(settings: &[&str]) -> Result<Profile, String> {
    let base = [
        "geometry.channels=4",
        "sets.layout=vertical",
        "sets.count=4",
        "controller.write_buffer=1MiB",
        "gc.background_idle=200us",
        "predictable_latency.dtwin_time=1ms",
        "predictable_latency.ndwin_time_low=1ms",
        "predictable_latency.ndwin_time_high=2ms",
    ];
    let all = base.iter().chain(settings);
    let all: Vec<Setting> = all.map(|setting| setting.parse().unwrap()).collect();
    let text = small_profile().to_toml();
    let profile = Profile::from_toml_with(&text, &all);
    let checked = profile.and_then(|profile| profile.validate().map(|()| profile));
    checked.map_err(|errors| errors.to_string())
}

fn run(profile: &Profile, jobs: &[Job], past: &Option<Past>, threads: usize) -> RunResult {
    let mut runner = Runner::new(profile, jobs).unwrap();
    if let Some(past) = past {
        runner = runner.precondition(past).unwrap();
    }
    let threads = NonZeroUsize::new(threads).unwrap();
    runner.with_threads(threads).run(|_| {}).unwrap()
}

fn json(result: &RunResult) -> String {
    result.to_json("", "").unwrap()
}

fn job() -> impl Strategy<Value = Job> {
    let kind = prop_oneof![
        Just(ReadWrite::RandRead),
        Just(ReadWrite::RandWrite),
        Just(ReadWrite::RandReadWrite),
        Just(ReadWrite::Read),
        Just(ReadWrite::Write),
    ];
    (kind, 0..4u32, 1..12u32, 1..5u64, 1..4u32, any::<u64>()).prop_map(
        |(rw, set, iodepth, pages, numjobs, seed)| Job {
            rw,
            iodepth,
            seed,
            block_bytes: pages * 4096,
            size_bytes: pages * 4096 * 16,
            io_bytes: Some(pages * 4096 * 90),
            // Several clones go to the sets in turn.
            nvm_set: (numjobs == 1).then_some(set),
            numjobs,
            ..Job::new("job")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_result_does_not_depend_on_the_number_of_threads(
        jobs in prop::collection::vec(job(), 1..5),
        chosen in prop::collection::vec(prop::sample::select(&SETTINGS[..]), 0..4),
        past in prop::option::of(Just("fill=90,random=60".parse::<Past>().unwrap())),
        threads in 2..5usize,
    ) {
        let profile = divided(&chosen);
        // Some settings exclude others.
        prop_assume!(profile.is_ok());
        let profile = profile.unwrap();
        let one = run(&profile, &jobs, &past, 1);
        let several = run(&profile, &jobs, &past, threads);
        prop_assert_eq!(json(&one), json(&several));
        prop_assert_eq!(one.device.utilisation, several.device.utilisation);
    }
}

#[test]
fn a_run_that_is_broken_off_ends_on_all_threads() {
    let profile = divided(&[]).unwrap();
    let jobs: Vec<Job> = (0..4)
        .map(|set| Job {
            rw: ReadWrite::RandRead,
            size_bytes: 400 << 10,
            // Hours.
            io_bytes: Some(1 << 50),
            nvm_set: Some(set),
            ..Job::new("endless")
        })
        .collect();
    let runner = Runner::new(&profile, &jobs).unwrap();
    let runner = runner.with_threads(NonZeroUsize::new(2).unwrap());
    let result = runner.run_until(|_| ControlFlow::Break(())).unwrap();
    assert!(result.is_partial);
    let requests = result.jobs.iter().filter_map(|job| job.read.as_ref());
    assert!(requests.map(|read| read.requests).sum::<u64>() >= 16_384);
}
