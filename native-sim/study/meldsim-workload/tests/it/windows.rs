//! What a run says of the time in which a job is counted: write amplification, and whether it is steady.

use std::num::NonZeroUsize;

use meldsim::Profile;
use meldsim::profile::{ByteSize, SetLayout};
use meldsim_workload::{Job, Past, RunResult, Runner, Window, parse_job_file};

/// A device of 192 MiB of flash, 12 % of it spare.
fn profile() -> Profile {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.geometry.channels = 2;
    profile.geometry.dies_per_channel = 2;
    profile.geometry.wordlines_per_block = 32;
    profile.geometry.blocks_per_plane = 128;
    profile.ftl.over_provisioning_percent = 12;
    profile.controller.write_buffer.0 = 1 << 20;
    profile
}

fn run(profile: &Profile, past: Option<&str>, text: &str, threads: usize) -> RunResult {
    let jobs = parse_job_file("j.fio", text, &Job::new("")).unwrap().jobs;
    let mut runner = Runner::new(profile, &jobs)
        .unwrap()
        .with_threads(NonZeroUsize::new(threads).unwrap());
    if let Some(past) = past {
        runner = runner.precondition(&past.parse::<Past>().unwrap()).unwrap();
    }
    runner.run(|_| {}).unwrap()
}

fn window(result: &RunResult) -> &Window {
    result.jobs[0].window.as_ref().unwrap()
}

const OVERWRITES: &str =
    "[j]\nrw=randwrite\nnorandommap\nbs=4k\nsize=160m\niodepth=32\ntime_based\n";

#[test]
fn what_is_partly_overwritten_is_not_steady_at_first() {
    let text = format!("{OVERWRITES}runtime=20s\n");
    let all = run(&profile(), Some("fill=100,random=100"), &text, 1);
    assert_eq!(window(&all).is_steady, Some(true), "{:?}", window(&all));
    assert!(all.to_text().contains("j: steady"), "{}", all.to_text());
    // The closed form is near.
    let uniform = all.jobs[0].uniform_write_amplification.unwrap();
    let simulated = window(&all).write_amplification.unwrap();
    assert!(
        (simulated / uniform - 1.0).abs() < 0.1,
        "{simulated} {uniform}"
    );
    let part = run(&profile(), Some("fill=100,random=40"), &text, 1);
    assert_eq!(window(&part).is_steady, Some(false), "{:?}", window(&part));
    let halves = window(&part).halves.unwrap();
    assert!(halves[0].write_amplification < halves[1].write_amplification);
    assert!(
        part.to_text().contains("j: not steady: "),
        "{}",
        part.to_text()
    );
    // A fresh device collects nothing until it has been written.
    let fresh = run(
        &profile(),
        None,
        "[j]\nrw=write\nbs=64k\nsize=16m\niodepth=4\n",
        1,
    );
    assert_eq!(window(&fresh).blocks_erased, 0);
    assert!(
        fresh.to_text().contains("no block erased yet"),
        "{}",
        fresh.to_text()
    );
}

#[test]
fn what_is_before_a_ramp_is_left_out_everywhere() {
    // From an empty device: the ramp fills it.
    let result = run(
        &profile(),
        None,
        &format!("{OVERWRITES}ramp_time=40s\nruntime=20s\n"),
        1,
    );
    let flash = result.device.flash().unwrap();
    let whole = result.device.stats.write_amplification().unwrap();
    let counted = flash.write_amplification.unwrap();
    assert!(counted > 1.2 * whole, "{counted} {whole}");
    let of_job = window(&result).write_amplification.unwrap();
    assert!((of_job / counted - 1.0).abs() < 0.01, "{of_job} {counted}");
    let writes = result.jobs[0].write.as_ref().unwrap();
    let written = window(&result).written_bytes as f64;
    assert!(
        (writes.bytes as f64 / written - 1.0).abs() < 0.01,
        "{writes:?} {written}"
    );
}

#[test]
fn jobs_one_after_the_other_have_windows_of_their_own() {
    let text = "[fill]\nrw=write\nbs=64k\nsize=160m\niodepth=8\nfilename=d\n\
                [over]\nstonewall\nrw=randwrite\nnorandommap\nbs=4k\nsize=160m\niodepth=32\nfilename=d\nio_size=320m\n\
                [look]\nstonewall\nrw=randread\nbs=4k\nsize=160m\nio_size=16m\niodepth=4\nfilename=d\n";
    let result = run(&profile(), None, text, 1);
    let of = |job: usize| {
        result.jobs[job]
            .window
            .as_ref()
            .unwrap()
            .write_amplification
    };
    assert!(of(0).unwrap() < 1.05, "{:?}", of(0));
    assert!(of(1).unwrap() > 1.5, "{:?}", of(1));
    assert_eq!(of(2), None);
}

#[test]
fn sets_on_threads_have_the_same_windows() {
    let mut profile = profile();
    profile.sets.layout = SetLayout::Vertical;
    profile.sets.count = 2;
    profile.geometry.blocks_per_plane = 160;
    profile.controller.write_buffer.0 = 4 << 20;
    let text = "[global]\nrw=randwrite\nbs=4k\nsize=60m\nio_size=100m\niodepth=16\nnorandommap\n\
                [a]\nnvm_set=0\n[b]\nnvm_set=1\nio_size=30m\niodepth=2\n";
    let [one, two] =
        [1, 2].map(|threads| run(&profile, Some("fill=100"), text, threads).to_fio_json());
    assert_eq!(one, two);
    assert!(one["jobs"][1]["window"]["halves"].is_array(), "{one}");
}

#[test]
fn write_amplification_is_bytes_over_bytes() {
    // A page is what is mapped together.
    let mut profile = profile();
    profile.controller.lba_size = ByteSize(512);
    for (text, expected) in [
        ("rw=write\nbs=4k", 1.0),
        ("rw=randwrite\nbs=512", 8.0),
        ("rw=randwrite\nbs=2k", 2.0),
    ] {
        let text = format!("[j]\nsize=64m\nio_size=8m\niodepth=8\n{text}\n");
        let result = run(&profile, None, &text, 1);
        let flash = result.device.flash().unwrap();
        let stats = &result.device.stats;
        assert_eq!(flash.bytes.programmed, stats.programmed_bytes);
        let ratio = stats.programmed_bytes as f64 / stats.host_written_bytes as f64;
        assert_eq!(flash.write_amplification, Some(ratio));
        let in_buffer = (stats.buffered_pages * 4096) as f64 / stats.host_written_bytes as f64;
        assert!(
            ((ratio + in_buffer) / expected - 1.0).abs() < 0.03,
            "{text}: {ratio} {in_buffer}"
        );
    }
}

#[test]
fn placement_events_are_those_of_the_window() {
    let mut profile = profile();
    profile.fdp.handles = 2;
    // Each write names a handle that does not exist.
    let text = "[j]\nrw=randwrite\nbs=4k\nsize=16m\ndataplacement=fdp\nplids=9\ntime_based\nramp_time=2ms\nruntime=3ms\n";
    let result = run(&profile, None, text, 1);
    let counted = result.jobs[0].write.as_ref().unwrap().requests;
    assert!(result.device.stats.write_commands > counted);
    let events = &result.device.fdp.unwrap().events;
    // One was submitted before the window and completed in it.
    assert_eq!(events["invalid_placement_identifier"], counted - 1);
}

/// Within a superblock, of a device that collects whole ones.
#[test]
fn what_collection_has_not_freed_is_not_steady() {
    let mut profile = profile();
    profile.geometry.wordlines_per_block = 256;
    profile.geometry.blocks_per_plane = 64;
    profile.gc.pacing = meldsim::policy::pacing::PacingPolicy::named("off");
    let text = "[j]\nrw=randwrite\nbs=4k\nsize=670m\niodepth=4\nnumber_ios=2500\n";
    let result = run(&profile, Some("fill=100,random=100"), text, 1);
    let window = window(&result);
    assert_eq!(window.is_steady, Some(false), "{window:?}");
    assert!(window.freed.is_some_and(|freed| freed < 0.9), "{window:?}");
    assert!(result.to_text().contains("j: not steady: "));
}
