//! Every option of a job changes the run as it should.

use crate::common;
use meldsim::profile::SetLayout;
use meldsim::{Device, Duration, Profile};
use meldsim_workload::{
    BlockShare, BlockSizes, Distribution, Job, JobResult, Past, Rate, ReadWrite, RunResult, Runner,
    Tally, capacity_bytes, parse_job_file,
};

fn profile() -> Profile {
    Profile::builtin("melded-tlc-8x8").unwrap()
}

fn job(rw: ReadWrite) -> Job {
    Job {
        rw,
        size_bytes: 8 << 20,
        ..Job::new("j")
    }
}

fn run(jobs: &[Job]) -> RunResult {
    Runner::new(&profile(), jobs).unwrap().run(|_| {}).unwrap()
}

fn read(result: &RunResult) -> &Tally {
    result.jobs[0].read.as_ref().unwrap()
}

#[test]
fn served_is_generated() {
    for (rw, io_bytes, requests) in [
        (ReadWrite::RandRead, None, 2048),
        (ReadWrite::RandReadWrite, None, 2048),
        (ReadWrite::Write, Some(20 << 20), 5120),
        (ReadWrite::RandWrite, Some(1 << 20), 256),
    ] {
        let mut job = job(rw);
        (job.io_bytes, job.iodepth) = (io_bytes, 7);
        let result = run(&[job]);
        let served: u64 = result.jobs[0].directions().map(|(_, d)| d.requests).sum();
        let bytes: u64 = result.jobs[0].directions().map(|(_, d)| d.bytes).sum();
        let stats = &result.device.stats;
        assert_eq!(served, requests, "{rw}");
        assert_eq!(bytes, requests * 4096, "{rw}");
        assert_eq!(stats.read_commands + stats.write_commands, requests, "{rw}");
    }
}

#[test]
fn a_rate_opens_the_loop() {
    let mut slow = job(ReadWrite::RandRead);
    (slow.iodepth, slow.rate_read) = (64, Some(Rate::Requests(20_000)));
    let result = run(&[slow.clone()]);
    // 2048 requests, one each 50 us; the last takes 64 us at least.
    let duration_us = result.jobs[0].duration_us;
    assert!(
        (2047.0 * 50.0 + 60.0..2047.0 * 50.0 + 200.0).contains(&duration_us),
        "{duration_us}"
    );
    assert!(read(&result).waited.is_none(), "64 places are enough");

    slow.rate_read = Some(Rate::Bytes(20_000 * 4096));
    assert_eq!(run(&[slow.clone()]).jobs[0].duration_us, duration_us);

    slow.poisson = true;
    let poisson = run(&[slow.clone()]);
    let ratio = poisson.jobs[0].duration_us / duration_us;
    assert!((0.9..1.1).contains(&ratio) && ratio != 1.0, "{ratio}");
    let deviation = |result: &RunResult| read(result).latencies().summary().unwrap().deviation_us;
    assert!(
        deviation(&poisson) > deviation(&result),
        "arrivals in bursts queue up"
    );

    // More than one place can serve: what arrives waits, and its latency says so.
    let mut flooded = slow;
    (flooded.poisson, flooded.iodepth) = (false, 1);
    let result = run(&[flooded]);
    let direction = read(&result);
    let waited = direction.waited.as_ref().unwrap();
    assert!(waited.max() > direction.in_device.max());
    assert_eq!(direction.latencies().count(), 2048);
}

#[test]
fn a_rate_caps_one_direction() {
    let mut mixed = job(ReadWrite::RandReadWrite);
    (mixed.iodepth, mixed.rate_write) = (16, Some(Rate::Requests(1_000)));
    let capped = &run(&[mixed.clone()]).jobs[0];
    let count = |job: &JobResult| job.write.as_ref().unwrap().latencies().count();
    // One at once, and one after each millisecond; a read is made where a write would be too early, as in fio.
    assert_eq!(count(capped), 1 + (capped.duration_us / 1e3) as u64);
    mixed.rate_write = None;
    let free = &run(&[mixed]).jobs[0];
    assert!(count(free) > 50 * count(capped), "{}", count(free));
}

#[test]
fn thinktime_pauses_after_its_blocks() {
    let mut thinking = job(ReadWrite::RandRead);
    let eager_us = run(&[thinking.clone()]).jobs[0].duration_us;
    // As in fio, one follows the last request, too.
    thinking.think_time = Duration::from_us(500);
    let each_us = run(&[thinking.clone()]).jobs[0].duration_us;
    assert!(
        (each_us - eager_us - 2048.0 * 500.0).abs() < 1.0,
        "{eager_us} {each_us}"
    );
    thinking.think_blocks = 16;
    let sixteenth_us = run(&[thinking.clone()]).jobs[0].duration_us;
    assert!(
        (sixteenth_us - eager_us - 128.0 * 500.0).abs() < 1.0,
        "{sixteenth_us}"
    );
    // A pause waits for what is outstanding: no more than 16 are, whatever the depth.
    thinking.iodepth = 64;
    let deep = run(&[thinking]);
    assert!(deep.jobs[0].duration_us > 127.0 * (500.0 + 58.0));
}

#[test]
fn a_job_that_ends_in_its_ramp_says_so() {
    let mut early = job(ReadWrite::Read);
    early.ramp_time = Duration::from_ms(2000);
    let remarks = run(&[early]).remarks();
    assert!(
        remarks[0].ends_with("no request after its ramp_time of 2.00 s; let it go on for longer, such as with time_based=1"),
        "{remarks:?}"
    );
}

#[test]
fn ramp_time_is_not_counted_and_startdelay_waits() {
    let mut late = job(ReadWrite::RandRead);
    (late.time_based, late.runtime) = (true, Some(Duration::from_ms(5)));
    let whole = run(&[late.clone()]);
    late.start_delay = Duration::from_ms(2);
    let delayed = run(&[late.clone()]);
    assert_eq!(delayed.jobs[0].start_us, 2000.0);
    assert_eq!(read(&delayed).requests, read(&whole).requests);
    assert!(delayed.device.stats.now_ps > 7_000_000_000);
    late.ramp_time = Duration::from_ms(3);
    let ramped = run(&[late]);
    assert_eq!(ramped.jobs[0].start_us, 5000.0);
    let (counted, submitted) = (read(&ramped).requests, ramped.device.stats.read_commands);
    // A read takes 58 to 107 us, by its page: as many milliseconds have a few more or less.
    let most = 3;
    let whole = read(&whole).requests;
    assert!(counted.abs_diff(whole) <= most, "{counted} of {whole}");
    assert!(
        submitted * 5 / 8 >= counted - most,
        "{submitted}: 3 ms of 8 are not counted"
    );
}

#[test]
fn jobs_with_the_same_file_share_a_namespace() {
    let mut writer = job(ReadWrite::Write);
    let mut reader = job(ReadWrite::RandRead);
    reader.stonewall = true;
    let apart = run(&[writer.clone(), reader.clone()]);
    for job in [&mut writer, &mut reader] {
        job.file = Some("shared".to_owned());
    }
    let together = run(&[writer, reader]);
    let pages = |result: &RunResult| result.device.stats.mapped_pages;
    assert_eq!((pages(&apart), pages(&together)), (4096, 2048));
}

#[test]
fn numjobs_are_equal_jobs_with_other_seeds() {
    let mut many = job(ReadWrite::RandRead);
    many.numjobs = 3;
    let result = run(&[many.clone()]);
    let names: Vec<&str> = result.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["j.0", "j.1", "j.2"]);
    let means = result.jobs.iter().map(|job| {
        job.read
            .as_ref()
            .unwrap()
            .latencies()
            .summary()
            .unwrap()
            .mean_us
    });
    let means: Vec<f64> = means.collect();
    assert!(means[0] != means[1] && means[1] != means[2], "{means:?}");
    many.group_reporting = true;
    let grouped = run(&[many]);
    assert_eq!(
        (grouped.jobs.len(), grouped.jobs[0].name.as_str()),
        (1, "j")
    );
    assert_eq!(read(&grouped).requests, 3 * 2048);
    assert_eq!(grouped.device.stats, result.device.stats);
}

#[test]
fn skewed_writes_touch_fewer_pages() {
    let mapped = |distribution: Distribution| {
        let job = Job {
            distribution,
            ..job(ReadWrite::RandWrite)
        };
        run(&[job]).device.stats.mapped_pages
    };
    let once = mapped(Distribution::Once);
    let uniform = mapped(Distribution::Uniform);
    let zipf = mapped(Distribution::zipf(1_200_000));
    assert_eq!(once, 2048);
    assert!((1200..1400).contains(&uniform), "{uniform}"); // 1 - 1/e
    assert!(zipf < uniform / 2, "{zipf}");
}

#[test]
fn several_sizes_and_an_offset_reach_the_device() {
    let mut split = job(ReadWrite::Read);
    let shares = BlockSizes::split(vec![
        BlockShare {
            bytes: 4096,
            percent: 50,
        },
        BlockShare {
            bytes: 65_536,
            percent: 50,
        },
    ]);
    split.block_sizes = Some([shares.clone(), shares.clone(), shares]);
    split.offset_bytes = 1 << 20;
    let result = run(&[split]);
    let direction = read(&result);
    assert_eq!(direction.bytes, 8 << 20);
    assert!(
        (200..300).contains(&direction.requests),
        "{}",
        direction.requests
    );
    // What lies before the offset is not there.
    assert_eq!(result.device.stats.mapped_pages, 2048);
}

#[test]
fn nvm_set_says_where_a_job_runs() {
    let mut divided = profile();
    divided.sets.layout = meldsim::profile::SetLayout::Vertical;
    divided.sets.count = 4;
    let mut in_set = job(ReadWrite::RandRead);
    for set in [0, 3] {
        in_set.nvm_set = Some(set);
        let result = Runner::new(&divided, &[in_set.clone()])
            .unwrap()
            .run(|_| {})
            .unwrap();
        let busy = result.device.channels_busy_percent();
        let used: Vec<usize> = (0..8).filter(|channel| busy[*channel] > 0.0).collect();
        let first = set as usize * 2;
        assert_eq!(used, [first, first + 1]);
    }
    in_set.nvm_set = Some(4);
    let error = Runner::new(&divided, &[in_set]).unwrap_err().to_string();
    assert!(error.contains("job j") && error.contains('4'), "{error}");
}

#[test]
fn a_time_series_changes_nothing_and_adds_up() {
    let jobs = [job(ReadWrite::RandReadWrite), job(ReadWrite::Read)];
    let plain = run(&jobs);
    let runner = Runner::new(&profile(), &jobs).unwrap();
    let watched = runner
        .with_time_series(Duration::from_ms(1))
        .run(|_| {})
        .unwrap();
    assert_eq!(plain.device.stats, watched.device.stats);
    assert_eq!(plain.to_csv(), watched.to_csv());
    let series = watched.series.unwrap();
    assert_eq!((series.interval_us, series.tracks.len()), (1000.0, 3));
    let requests = series.tracks.iter().flat_map(|track| &track.intervals);
    assert_eq!(
        requests.map(|interval| interval.requests).sum::<u64>(),
        4096
    );
    let programs: u64 = series.device.iter().map(|interval| interval.programs).sum();
    assert_eq!(programs, plain.device.stats.programs);
}

#[test]
fn queue_priority_decides_under_weighted_round_robin() {
    let mut limited = profile();
    limited.host.commands_in_flight = 4;
    limited.host.arbitration =
        meldsim::policy::arbitration::ArbitrationPolicy::named("weighted-round-robin");
    let mut jobs = [job(ReadWrite::RandRead), job(ReadWrite::RandRead)];
    for job in &mut jobs {
        (job.iodepth, job.time_based, job.runtime) = (32, true, Some(Duration::from_ms(20)));
    }
    let requests = |jobs: &[Job]| {
        let result = Runner::new(&limited, jobs).unwrap().run(|_| {}).unwrap();
        let reads = result
            .jobs
            .iter()
            .map(|job| job.read.as_ref().unwrap().requests);
        reads.collect::<Vec<u64>>()
    };
    let equal = requests(&jobs);
    assert!(equal[0].abs_diff(equal[1]) < equal[0] / 10, "{equal:?}");
    jobs[0].queue_priority = meldsim::nvme::Priority::High;
    jobs[1].queue_priority = meldsim::nvme::Priority::Low;
    let weighted = requests(&jobs);
    // Weights are 4 and 1; what is queued at the end is served without any.
    let ratio = (weighted[0] - 32) as f64 / (weighted[1] - 32) as f64;
    assert!((3.8..4.2).contains(&ratio), "{weighted:?}");
}

#[test]
fn a_preconditioned_device_collects_from_the_first_write_on() {
    let small = common::small_profile();
    let stats = Device::new(&small).unwrap().stats();
    let mut overwrites = job(ReadWrite::RandWrite);
    overwrites.size_bytes = stats.capacity_pages * 4096;
    overwrites.io_bytes = Some(overwrites.size_bytes / 4);
    overwrites.distribution = Distribution::Uniform;
    let fresh = Runner::new(&small, &[overwrites.clone()]).unwrap();
    let used = Runner::new(&small, &[overwrites]).unwrap();
    let used = used.precondition(&Past::default()).unwrap();
    let moved = |runner: Runner| runner.run(|_| {}).unwrap().device.stats.gc_pages_moved;
    let (fresh, used) = (moved(fresh), moved(used));
    assert_eq!(fresh, 0);
    assert!(used > 0);
}

/// Two logs in one file that are written round and round at the same rate: the short one dies young.
const LOGS: &str = "
    [global]
    filename=shared
    rw=write
    iodepth=4
    io_size=120m
    [long]
    size=30m
    [short]
    offset=30m
    size=4m
";

/// A device of 48 MiB of flash.
fn small_profile() -> Profile {
    let mut profile = profile();
    profile.geometry.channels = 1;
    profile.geometry.dies_per_channel = 2;
    profile.geometry.wordlines_per_block = 16;
    profile.geometry.blocks_per_plane = 128;
    profile.ftl.over_provisioning_percent = 12;
    profile.controller.write_buffer.0 = 1 << 20;
    profile
}

/// Pages programmed for each page of the host's.
fn write_amplification(text: &str) -> f64 {
    let profile = small_profile();
    let jobs = parse_job_file("streams.fio", text, &Job::new(""))
        .unwrap()
        .jobs;
    let result = Runner::new(&profile, &jobs).unwrap().run(|_| {}).unwrap();
    let stats = result.device.stats;
    assert_eq!(stats.failed_commands, 0);
    stats.write_amplification().unwrap()
}

#[test]
fn streams_of_their_own_lower_the_write_amplification_of_logs() {
    let mixed = write_amplification(LOGS);
    let apart = LOGS
        .replace("[global]", "[global]\ndataplacement=streams")
        .replace("[long]", "[long]\nplids=1")
        .replace("[short]", "[short]\nplids=2");
    let apart = write_amplification(&apart);
    // Both logs in both streams are mixed again.
    let both = LOGS.replace("[global]", "[global]\ndataplacement=streams\nplids=1,2");
    let both = write_amplification(&both);
    assert!(mixed > 1.2 && both > 1.2, "{mixed} {both}");
    assert!(apart < 1.02, "blocks die as a whole: {apart}");
}

#[test]
fn a_run_longer_than_simulated_time_ends_with_a_message() {
    let mut profile = common::small_profile();
    profile.controller.latency = Duration::from_ms(1000);
    let job = Job {
        size_bytes: 1 << 20,
        rw: ReadWrite::RandWrite,
        time_based: true,
        runtime: Some(Duration::MAX),
        ..Job::new("long")
    };
    let outcome = Runner::new(&profile, &[job]).unwrap().run(|_| {});
    let message = outcome.unwrap_err().to_string();
    assert!(message.contains("simulated time is used up"), "{message}");
}

/// Why the jobs of `text` cannot run on a device of 48 MiB or one set of it, or nothing.
fn refusal(profile: &Profile, text: &str) -> String {
    let jobs = parse_job_file("room.fio", text, &Job::new(""))
        .unwrap()
        .jobs;
    match Runner::new(profile, &jobs) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_the_device_cannot_hold_is_refused_before_the_run() {
    let profile = small_profile();
    let capacity = Device::new(&profile).unwrap().set_capacity_bytes(0);
    for (text, asked) in [
        // Reads are preloaded, so that they have to fit as writes do.
        ("[j]\nrw=read\nsize=64m", 64 << 20),
        ("[j]\nrw=write\nsize=64m", 64 << 20),
        ("[j]\nrw=randwrite\nsize=9000g\nruntime=1ms", 9000 << 30),
        ("[j]\nrw=write\nsize=64m\nio_size=1m", 64 << 20),
        ("[j]\nrw=write\nsize=16m\nnumjobs=4", 64 << 20),
        (
            "[a]\nrw=write\nsize=32m\n[b]\nstonewall\nrw=read\nsize=30m\nruntime=1ms",
            62 << 20,
        ),
        (
            "[global]\nfilename=f\nrw=write\nsize=32m\n[a]\n[b]\noffset=24m",
            56 << 20,
        ),
    ] {
        let error = refusal(&profile, text);
        for said in [
            format!("{asked} B"),
            format!("the device can hold {capacity} B"),
            "use ".to_owned(),
            "size: ".to_owned(),
        ] {
            assert!(error.contains(&said), "{text}: {error}");
        }
    }
    let mut halves = profile.clone();
    (halves.sets.count, halves.geometry.channels) = (2, 2);
    halves.sets.layout = SetLayout::Vertical;
    halves.geometry.dies_per_channel = 1;
    halves.controller.write_buffer.0 = 2 << 20;
    let error = refusal(&halves, "[j]\nrw=write\nsize=32m\nnvm_set=1");
    assert!(error.contains("NVM set 1 can hold"), "{error}");
    // Two jobs are in two sets.
    let two = "[global]\nrw=write\nsize=20m\n[a]\n[b]";
    assert_eq!(refusal(&halves, two), "");
}

#[test]
fn what_may_fit_is_not_refused() {
    let profile = small_profile();
    for text in [
        // Beyond the capacity by what it transfers or where it lies, and not by what it maps.
        "[j]\nrw=randwrite\nsize=32m\ntime_based\nruntime=1s",
        "[j]\nrw=randread\nsize=32m\nio_size=10g",
        "[j]\nrw=read\nsize=16m\noffset=8g",
        // The same data.
        "[global]\nfilename=f\nsize=32m\n[a]\nrw=read\n[b]\nrw=randwrite\n[c]\nrw=write",
        // Nobody knows how much they will have written.
        "[j]\nrw=randwrite\nsize=32m\nnumjobs=4\nruntime=1ms",
        "[j]\nrw=randwrite\nsize=32m\nnumjobs=4\nnorandommap",
        "[j]\nrw=write\nsize=32m\nnumjobs=4\nio_size=8m",
    ] {
        assert_eq!(refusal(&profile, text), "", "{text}");
    }
    let xpoint = Profile::builtin("optane-900p").unwrap();
    assert_eq!(refusal(&xpoint, "[j]\nrw=randrw\nsize=9000g"), "");
}

#[test]
fn a_past_that_the_device_cannot_hold_is_refused() {
    let past = |fill: u32| format!("fill={fill},random=0").parse::<Past>().unwrap();
    let jobs = "[global]\nrw=randwrite\nsize=32m\nruntime=1ms\n[a]\n[b]";
    let jobs = parse_job_file("past.fio", jobs, &Job::new(""))
        .unwrap()
        .jobs;
    let precondition = |fill| {
        let runner = Runner::new(&small_profile(), &jobs).unwrap();
        runner.precondition(&past(fill))
    };
    let error = precondition(100).unwrap_err().to_string();
    assert!(error.contains("67108864 B (64 MiB)"), "{error}");
    assert!(error.contains("lower fill"), "{error}");
    assert!(precondition(50).is_ok());
}

#[test]
fn a_job_that_fills_an_empty_device_finds_it_empty() {
    let profile = common::small_profile();
    let size = capacity_bytes(&profile).unwrap() / 16384 * 16384;
    let text = format!(
        "[global]\nbs=16k\nsize={size}\nfilename=d\n[w]\nrw=write\n[r]\nstonewall\nrw=randread\nnumber_ios=500\n"
    );
    let jobs = parse_job_file("fill.fio", &text, &Job::new(""));
    let runner = Runner::new(&profile, &jobs.unwrap().jobs).unwrap();
    let result = runner.run(|_| {}).unwrap();
    let stats = &result.device.stats;
    assert_eq!((stats.gc_pages_moved, stats.unmapped_page_reads), (0, 0));
    assert_eq!(result.jobs[0].window.as_ref().unwrap().blocks_erased, 0);
}
