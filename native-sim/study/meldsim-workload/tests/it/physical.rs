//! No result is beyond what the device of the profile can be: its link, its buses, its dies.

use meldsim::Profile;
use meldsim::profile::{Flush, Kind, ProgramOrder, Sources, Zones};
use meldsim_workload::{
    Arrivals, Job, Limit, Load, ReadWrite, RunResult, Runner, Tally, parse_job_file,
};
use proptest::prelude::*;

fn run(profile: &Profile, jobs: &[Job]) -> RunResult {
    Runner::new(profile, jobs).unwrap().run(|_| {}).unwrap()
}

/// Sequential reads of 128 KiB at depth 32 against the data sheets, in MB/s.
#[test]
fn sequential_reads_are_those_of_the_data_sheet() {
    for (name, sheet) in [
        ("7450-pro", 6_800.0),
        ("7450-max", 6_800.0),
        ("p5520", 5_300.0),
        ("pe8110", 6_500.0),
        ("pm9a3", 6_500.0),
        ("cm7-r", 14_000.0),
        ("wd-960", 3_330.0),
    ] {
        let job = Job {
            rw: ReadWrite::Read,
            block_bytes: 128 << 10,
            iodepth: 32,
            size_bytes: 256 << 20,
            ..Job::new("j")
        };
        let result = run(&Profile::builtin(name).unwrap(), &[job]);
        let read = result.jobs[0].read.as_ref().unwrap();
        let mb_s = read.bandwidth_mib_s().unwrap() * 1.048_576;
        assert!(
            (0.9..=1.05).contains(&(mb_s / sheet)),
            "{name}: {mb_s:.0} MB/s"
        );
    }
}

fn job() -> impl Strategy<Value = Job> {
    let kinds = prop::sample::select(vec![
        ReadWrite::Read,
        ReadWrite::Write,
        ReadWrite::RandRead,
        ReadWrite::RandWrite,
        ReadWrite::ReadWrite,
        ReadWrite::RandReadWrite,
    ]);
    (
        kinds,
        0..9u32,
        1..=64u32,
        1..=8u64,
        0..=100u32,
        any::<u64>(),
    )
        .prop_map(|(rw, block, iodepth, size_mib, rwmixread, seed)| Job {
            rw,
            block_bytes: 4096 << block,
            iodepth,
            size_bytes: size_mib << 20,
            rwmixread,
            seed,
            ..Job::new("j")
        })
}

/// What moved in the time of a run, over what can: at most 1, but for a `slack` that began and has not ended.
fn check(profile: &Profile, result: &RunResult) -> Result<(), TestCaseError> {
    let stats = &result.device.run;
    let seconds = stats.now_ps as f64 / 1e12;
    let link = profile.host.link_rate.0 as f64;
    let bytes = stats.host_read_bytes.max(stats.host_written_bytes) as f64;
    if link > 0.0 {
        prop_assert!(bytes <= link * seconds, "link: {bytes} B in {seconds} s");
    }
    if profile.kind == Kind::Xpoint {
        let xpoint = &profile.xpoint;
        for (bytes, rate) in [
            (stats.host_read_bytes, xpoint.read_rate),
            (stats.host_written_bytes, xpoint.write_rate),
        ] {
            let most = rate.0 as f64 * seconds;
            prop_assert!(bytes as f64 <= most, "data path: {bytes} B in {seconds} s");
        }
        return Ok(());
    }
    let (geometry, timing, bus) = (&profile.geometry, &profile.timing, &profile.bus);
    let dies = u64::from(geometry.channels * geometry.dies_per_channel);
    let planes = match profile.commands.multi_plane {
        true => dies * u64::from(geometry.planes_per_die),
        false => dies,
    };
    let all_ps = |units: u64| units * stats.now_ps;
    let channels = u64::from(geometry.channels);
    prop_assert!(stats.channel_busy_ps <= all_ps(channels), "buses");
    prop_assert!(stats.die_busy_ps <= all_ps(dies), "dies");
    // What the arrays did, but for one program each that goes on after the run.
    let program_ps = match profile.ftl.program_order {
        ProgramOrder::OneShot => timing.program.as_ps(),
        ProgramOrder::Shadow => 0,
    };
    let read_ps = timing.read.iter().map(|read| read.as_ps()).min().unwrap();
    let programs = stats.programs.saturating_sub(planes);
    let array_ps = programs * program_ps + stats.page_reads * read_ps;
    prop_assert!(
        array_ps <= all_ps(planes),
        "arrays: {array_ps} ps in {} ps",
        stats.now_ps
    );
    // The data of what was programmed and, where a page of the mapping is a block of the host's, of what was read.
    let pages_at_once = match profile.ftl.program_order {
        ProgramOrder::OneShot => timing.read.len() as u64,
        ProgramOrder::Shadow => 1,
    };
    let mut bytes = programs * pages_at_once * geometry.page_size.0;
    if profile.mapping_unit() == profile.controller.lba_size {
        let pages = stats.buffer_page_reads + stats.unmapped_page_reads;
        let reads = result.jobs.iter().filter_map(|job| job.read.as_ref());
        let largest_read = reads.map(|read| read.bytes / read.requests.max(1)).max();
        let not_from_flash = pages * profile.mapping_unit().0
            + stats.firmware_cache_hits * largest_read.unwrap_or(0);
        bytes += stats.host_read_bytes.saturating_sub(not_from_flash);
    }
    let on_bus = bytes as f64 * f64::from(bus.bytes_per_4kib) / 4096.0;
    let most = (channels * bus.rate.0 * u64::from(bus.width_bits)) as f64 / 8.0 * 1e6 * seconds;
    prop_assert!(on_bus <= most, "buses: {on_bus} B of {most}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_is_faster_than_the_device(
        name in prop::sample::select(Profile::builtin_names().collect::<Vec<_>>()),
        jobs in prop::collection::vec(job(), 1..3),
    ) {
        meldsim_firmware::register();
        let mut profile = Profile::builtin(name).unwrap();
        // Jobs may write anywhere.
        profile.zones = Zones::default();
        let result = run(&profile, &jobs);
        let mut moved = [0, 0];
        for (job, of) in jobs.iter().zip(&result.jobs) {
            prop_assert_eq!(of.failed(), 0);
            let bytes: u64 = of.directions().map(|(_, tally)| tally.bytes).sum();
            let requests: u64 = of.directions().map(|(_, tally)| tally.requests).sum();
            prop_assert_eq!(bytes, requests * job.block_bytes);
            prop_assert_eq!(bytes, job.size_bytes / job.block_bytes * job.block_bytes);
            for (moved, tally) in moved.iter_mut().zip([&of.read, &of.write]) {
                *moved += tally.as_ref().map_or(0, |tally| tally.bytes);
            }
        }
        let stats = &result.device.run;
        prop_assert_eq!(moved, [stats.host_read_bytes, stats.host_written_bytes]);
        check(&profile, &result)?;
    }
}

/// A write and its flush, one after the other: a protected buffer answers at once and pads nothing, a client drive programs.
#[test]
fn a_flush_costs_a_program_where_the_buffer_is_volatile() {
    let drives = ["7450-pro", "7450-max", "pm9a3", "p5520", "cm7-r", "pe8110"];
    for (name, is_protected) in drives
        .map(|name| (name, true))
        .into_iter()
        .chain(["980-pro", "flash-970pro"].map(|name| (name, false)))
    {
        for text in [
            "rw=write\nfdatasync=1",
            "rw=randwrite\nfsync=1",
            "rw=randwrite\nsync=1",
        ] {
            let text = format!("[j]\n{text}\nbs=4k\niodepth=1\nsize=8m\n");
            let jobs = parse_job_file("j.fio", &text, &Job::new("")).unwrap().jobs;
            let mut profile = Profile::builtin(name).unwrap();
            let result = run(&profile, &jobs);
            let job = &result.jobs[0];
            let mean = |tally: &Option<Tally>| {
                let summary = tally.as_ref().and_then(|tally| tally.latencies().summary());
                summary.map_or(0.0, |latency| latency.mean_us)
            };
            let both = mean(&job.write) + mean(&job.sync);
            let amplification = result.device.run.write_amplification().unwrap();
            if is_protected {
                assert!(both < 60.0, "{name} {text}: {both} us");
                assert!(amplification < 1.01, "{name} {text}: {amplification}");
            } else {
                assert!(both > 400.0, "{name} {text}: {both} us");
                profile.controller.flush = Flush::None;
                let job = &run(&profile, &jobs).jobs[0];
                let both = mean(&job.write) + mean(&job.sync);
                assert!(both < 60.0, "{name} {text}: {both} us");
            }
        }
    }
}

/// Bursts that the buffer does not hold wait for it, though the dies idle between them; smaller ones do not.
#[test]
fn bursts_beyond_the_write_buffer_are_limited_by_it() {
    let profile = crate::common::small_profile();
    let buffer = profile.controller.write_buffer.0 / 4096;
    for (blocks, limit) in [(16 * buffer, "write buffer"), (buffer / 4, "rate")] {
        let text = format!(
            "[j]\nrw=randwrite\nbs=4k\niodepth={blocks}\nthinktime=500ms\nthinktime_blocks={blocks}\nsize=2m\nio_size={}k\n",
            16 * blocks
        );
        let jobs = parse_job_file("bursts.fio", &text, &Job::new(""))
            .unwrap()
            .jobs;
        let result = run(&profile, &jobs);
        let load = Load {
            arrivals: Arrivals::Rate,
            threads: 1,
            depth: blocks,
            flushes: 1,
        };
        let found = Limit::of(&result.device.run, load, &profile, &Sources::default());
        assert_eq!(found.what, limit, "{text}");
        // What reads made of its programs is named in its place.
        let mut stats = result.device.run;
        stats.program_suspends = 1000 * stats.programs;
        let found = Limit::of(&stats, load, &profile, &Sources::default());
        let instead = match limit {
            "write buffer" => "suspended programs",
            other => other,
        };
        assert_eq!(found.what, instead);
    }
}
