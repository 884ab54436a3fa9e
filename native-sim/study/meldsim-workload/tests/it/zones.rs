//! Jobs with `zonemode=zbd`.

use crate::common::small_profile;
use meldsim::Profile;
use meldsim::policy::placement::PlacementPolicy;
use meldsim::profile::ByteSize;
use meldsim_workload::{
    Job, JobResult, RunError, RunResult, Runner, ZonesResult, parse_job_file, write_requests,
};

const ZONES: u64 = 20;

/// The small device with zones of a superblock, 192 KiB of 256 KiB, of which so many may be open.
fn profile(max_open: u32) -> Profile {
    let mut profile = small_profile();
    profile.timing.melded_read = None;
    profile.geometry.wordlines_per_block = 4;
    profile.geometry.blocks_per_plane = 64;
    profile.ftl.over_provisioning_percent = 40;
    profile.ftl.placement = PlacementPolicy::named("streams");
    profile.controller.lba_size = profile.mapping_unit();
    profile.controller.capacity = ByteSize(ZONES * profile.zone_capacity().0);
    profile.controller.write_buffer = ByteSize(1 << 20);
    profile.zones.size = ByteSize(256 << 10);
    profile.zones.max_active = max_open;
    profile.zones.max_open = max_open;
    assert_eq!(profile.zone_capacity(), ByteSize(192 << 10));
    profile
}

fn run_on(profile: &Profile, text: &str) -> Result<RunResult, RunError> {
    let jobs = parse_job_file("zones.fio", text, &Job::new(""))
        .unwrap()
        .jobs;
    Runner::new(profile, &jobs)?.run(|_| {})
}

/// The run of a job file, no request of which fails.
fn run(max_open: u32, text: &str) -> (RunResult, ZonesResult) {
    let result = run_on(&profile(max_open), text).unwrap();
    assert_eq!(result.device.stats.failed_commands, 0, "{text}");
    assert_eq!(result.device.stats.gc_pages_moved, 0, "{text}");
    let zones = result.device.zones.unwrap();
    (result, zones)
}

fn written(result: &RunResult, job: usize) -> u64 {
    result.jobs[job]
        .write
        .as_ref()
        .map_or(0, |tally| tally.bytes)
}

const CAPACITY: u64 = 192 << 10;

#[test]
fn sequential_writes_fill_zones_in_order_and_reset_them_the_next_time() {
    // 3 zones, then as many bytes again: the second pass resets what is full.
    let (result, zones) = run(
        4,
        "[j]\nrw=write\nbs=16k\niodepth=4\nzonemode=zbd\nsize=768k\n",
    );
    assert_eq!(written(&result, 0), 3 * CAPACITY);
    assert_eq!((zones.resets, zones.finishes), (0, 0));
    let (result, zones) = run(
        4,
        "[j]\nrw=write\nbs=16k\niodepth=4\nzonemode=zbd\nsize=768k\nloops=3\n",
    );
    assert_eq!(written(&result, 0), 9 * CAPACITY);
    assert_eq!((zones.resets, zones.finishes), (6, 0));
}

#[test]
fn what_is_left_of_a_zone_is_finished() {
    // 192 KiB hold three writes of 56 KiB; 24 KiB are left.
    let (result, zones) = run(4, "[j]\nrw=write\nbs=56k\nzonemode=zbd\nsize=1m\n");
    assert_eq!(zones.finishes, 4);
    assert_eq!(written(&result, 0), 4 * 3 * (56 << 10));
    assert_eq!(result.device.stats.padded_pages, 4 * 6);
}

#[test]
fn random_writes_keep_to_the_zones_that_may_be_open() {
    for (limit, open) in [
        ("", 4),
        ("max_open_zones=2\n", 2),
        ("job_max_open_zones=1\n", 1),
    ] {
        let text = format!(
            "[j]\nrw=randwrite\nbs=16k\niodepth=8\nnorandommap\nzonemode=zbd\nsize=5m\nio_size=20m\n{limit}"
        );
        let (result, zones) = run(4, &text);
        assert!(written(&result, 0) >= 20 << 20, "{limit}");
        // 20 MiB are more than the zones hold.
        assert!(zones.resets >= 80, "{limit}: {zones:?}");
        // The host never opens more than may be: the device need not close any.
        assert_eq!(zones.implicit_closes, 0, "{open}");
    }
}

#[test]
fn jobs_that_share_zones_write_all_of_them_in_order() {
    let text = "[j]\nrw=randwrite\nbs=16k\niodepth=4\nnumjobs=3\nnorandommap\nzonemode=zbd\nsize=5m\nio_size=8m\n";
    let (result, _) = run(4, text);
    let all: u64 = (0..3).map(|job| written(&result, job)).sum();
    assert!(all >= 24 << 20);
}

#[test]
fn reads_are_of_what_is_written() {
    let text = "[w]\nrw=write\nbs=16k\nzonemode=zbd\nsize=768k\n\
                [s]\nstonewall\nrw=read\nbs=16k\nzonemode=zbd\nsize=5m\n\
                [r]\nstonewall\nrw=randread\nbs=16k\nnorandommap\nzonemode=zbd\nsize=5m\nio_size=5m\n";
    // Jobs that read find their region full from before.
    let (result, _) = run(4, text);
    let read = |job: usize| result.jobs[job].read.as_ref().unwrap().bytes;
    assert_eq!(read(1), ZONES * CAPACITY);
    assert_eq!(read(2), 5 << 20);
    assert_eq!(result.device.stats.unmapped_page_reads, 0);
}

#[test]
fn trims_are_resets_in_order_of_all_zones_and_at_random_of_those_that_hold_data() {
    for (rw, trims) in [("trim", ZONES), ("randtrim", 4)] {
        let text = format!(
            "[w]\nrw=write\nbs=16k\nzonemode=zbd\nsize=1m\n\
             [t]\nstonewall\nrw={rw}\nbs=256k\nzonemode=zbd\nsize=5m\n"
        );
        let (result, zones) = run(4, &text);
        assert_eq!(zones.resets, 4);
        assert_eq!(result.jobs[1].trim.as_ref().unwrap().requests, trims);
        assert_eq!(result.device.stats.mapped_pages, 0);
    }
    let (result, _) = run(4, "[j]\nrw=randtrim\nbs=256k\nzonemode=zbd\nsize=5m\n");
    assert_eq!(result.remarks(), ["j: it made no request"]);
}

#[test]
fn a_job_whose_zones_others_keep_from_opening_ends() {
    // fio 3.33 on a file, with zones of 1 MiB: 48, 48 and 0 writes.
    let text = "[j]\nrw=write\nbs=16k\nzonemode=zbd\nnumjobs=3\nsize=1m\nio_size=128k\noffset_increment=1m\n\
                max_open_zones=2\njob_max_open_zones=1\n";
    let result = run_on(&profile(4), text).unwrap();
    let writes = |job: &JobResult| job.write.as_ref().map_or(0, |tally| tally.requests);
    let all: Vec<u64> = result.jobs.iter().map(writes).collect();
    assert_eq!(all, [8, 8, 0]);
    assert!(
        result
            .remarks()
            .iter()
            .any(|text| text.contains("j.2: ended early: none of its zones is open"))
    );
    let jobs = parse_job_file("zones.fio", text, &Job::new(""))
        .unwrap()
        .jobs;
    let mut out = Vec::new();
    write_requests(&profile(4), &jobs, u64::MAX, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 1 + 8 + 8);
}

#[test]
fn what_a_later_job_reads_is_placed_when_that_starts() {
    // As a user of FEMU has it: the zones that are written are empty, and read afterwards.
    for later in ["stonewall", "wait_for=w", "startdelay=1s"] {
        let text = format!(
            "[w]\nrw=write\nbs=32k\nzonemode=zbd\nsize=2m\n\
             [r]\n{later}\nrw=randread\nbs=16k\nzonemode=zbd\nsize=3m\n"
        );
        let (result, zones) = run(4, &text);
        assert_eq!(
            (zones.resets, written(&result, 0)),
            (0, 8 * CAPACITY),
            "{later}"
        );
        assert!(result.jobs[1].read.is_some(), "{later}");
        assert_eq!(result.device.stats.unmapped_page_reads, 0, "{later}");
    }
}

#[test]
fn regions_that_are_written_are_whole_zones_and_others_are_not() {
    // 256 KiB each, of which 192 KiB can be written.
    let (result, _) = run(
        4,
        "[j]\nrw=write\nbs=16k\nzonemode=zbd\noffset=80k\nsize=1m\n",
    );
    assert_eq!(written(&result, 0), 3 * CAPACITY);
    let said =
        "j: rounded up offset from 81920 to 262144; rounded down io_size from 868352 to 786432";
    assert_eq!(result.remarks()[0], said);
    let (result, _) = run(
        4,
        "[j]\nrw=read\nbs=16k\nzonemode=zbd\noffset=80k\nsize=1m\n",
    );
    assert!(result.jobs[0].read.is_some());
}

/// The requests of jobs, as `job,direction,offset,bytes`.
fn requests(text: &str) -> Vec<String> {
    let jobs = parse_job_file("zones.fio", text, &Job::new(""))
        .unwrap()
        .jobs;
    let mut out = Vec::new();
    write_requests(&profile(4), &jobs, 1000, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn requests_go_to_zones_without_a_device_too() {
    let rows = requests("[j]\nrw=write\nbs=64k\nzonemode=zbd\nsize=512k\n");
    let starts = [0, 64, 128, 256, 320, 384].map(|kib| format!("j,write,{},65536", kib << 10));
    assert_eq!(rows, starts);
    // At the write pointers of their zones, whatever was drawn.
    let rows =
        requests("[j]\nrw=randwrite\nbs=64k\nzonemode=zbd\nsize=1m\nnorandommap\nio_size=768k\n");
    let mut starts: Vec<u64> = rows
        .iter()
        .map(|row| row.split(',').nth(2).unwrap().parse().unwrap())
        .collect();
    starts.sort_unstable();
    assert_eq!(starts.len(), 12);
    assert!(starts.iter().all(|start| start % (256 << 10) < CAPACITY));
}

#[test]
fn zones_are_reset_when_enough_is_written() {
    let text = "[j]\nrw=randwrite\nbs=16k\nnorandommap\nzonemode=zbd\nsize=5m\nio_size=4m\nzone_reset_threshold=0.25\n";
    let resets = |frequency: &str| run(4, &format!("{text}{frequency}")).1.resets;
    let (none, some, more) = (
        resets(""),
        resets("zone_reset_frequency=0.05\n"),
        resets("zone_reset_frequency=0.2\n"),
    );
    assert!(none < some && some < more, "{none} {some} {more}");
}

#[test]
fn jobs_that_do_not_go_with_zones_are_refused() {
    let zoned = profile(4);
    for (text, said) in [
        ("rw=write\nbs=16k\nsize=1m\n", "zonemode: is not zbd"),
        (
            "rw=write\nbs=16k\nsize=1m\nzonemode=zbd\nzonesize=1m\n",
            "zonesize: of 1048576 B is not the device's 262144 B",
        ),
        (
            "rw=write\nbs=16k\nsize=1m\nzonemode=zbd\nzonecapacity=1m\n",
            "zonecapacity: of 1048576 B",
        ),
        (
            "rw=write\nbs=16k\nsize=256k\nzonemode=zbd\noffset=16k\n",
            "size: leaves no whole zone from 16384 B to 278528 B",
        ),
        ("rw=trim\nbs=16k\nsize=1m\nzonemode=zbd\n", "bs: of a trim"),
        (
            "rw=trimwrite\nbs=16k\nsize=1m\nzonemode=zbd\n",
            "rw: trims what it writes",
        ),
        (
            "rw=write\nbs=256k\nsize=1m\nzonemode=zbd\n",
            "bs: is more than can be written of a zone",
        ),
        (
            "rw=write\nbs=16k\nsize=6m\nzonemode=zbd\n",
            "namespace size",
        ),
    ] {
        let error = run_on(&zoned, &format!("[j]\n{text}"))
            .unwrap_err()
            .to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
    let plain = run_on(&small_profile(), "[j]\nrw=write\nsize=64k\nzonemode=zbd\n");
    let error = plain.unwrap_err().to_string();
    assert!(
        error.contains("zonemode: is zbd, and the device has no zones"),
        "{error}"
    );
}
