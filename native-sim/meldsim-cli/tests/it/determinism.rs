//! Same profile, workload and seed: the same bytes, run after run, in debug and release.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{TextFile, release_binary, stdout, text_file};
use meldsim::profile::{ProgramOrder, SetLayout};
use meldsim::{Duration, Profile};

/// A device on which garbage is collected.
const SMALL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../model/meldsim/tests/common/small.toml"
);

/// Jobs for a device that is small enough to be overwritten many times.
const JOBS: [(&str, &str); 3] = [
    (
        "churn.fio",
        "[global]\nbs=4k\nsize=2m\nfilename=a\n[fill]\nrw=write\nread_pattern=sequential\n\
         [churn]\nrw=randwrite\niodepth=8\nrandseed=3\ntime_based\nruntime=800ms\n",
    ),
    (
        "mixed.fio",
        "[global]\nsize=1m\nruntime=300ms\ntime_based\n[hinted]\nrw=rw\nbs=48k\niodepth=3\nread_pattern=sequential\n\
         [odd]\nrw=randrw\nbs=12k\niodepth=5\nrwmixread=30\nrandseed=9\n",
    ),
    (
        "groups.fio",
        "[global]\nbs=16k\nsize=1m\n[one]\nrw=write\niodepth=2\n[two]\nstonewall\nrw=randread\niodepth=16\nrandseed=1\n",
    ),
];

/// Jobs for a device of four NVM sets, two of which share channels; each job has a set and a stream of its own.
const IN_SETS: &str = "[global]\nbs=4k\nsize=300k\ntime_based\nruntime=300ms\n\
     [one]\nrw=randwrite\niodepth=4\nnvm_set=0\ndataplacement=streams\nplids=1\n\
     [neighbour]\nrw=randrw\niodepth=4\nnvm_set=2\ndataplacement=streams\nplids=2\nread_pattern=sequential\n\
     [other]\nrw=randread\niodepth=8\nnvm_set=1\n";

/// Traces in each format, and what else their lines say.
const TRACES: [(&str, &str); 4] = [
    ("tpcc-small.trace", ""),
    (
        "tpcc-small.trace",
        "--replay closed --iodepth 16 --speedup 4",
    ),
    ("two-scans.meld", ""),
    ("two-scans.meld", "--read-pattern sequential --interval 1ms"),
];
const MSR_TRACE: &str = "128166372003061629,hm,0,Read,383496192,32768,1331\n\
     128166372003082155,hm,0,Write,2822144,4096,2049\n\
     128166372003082155,hm,1,Write,2826240,12288,153903\n\
     128166372003091000,hm,1,Read,2826240,65536,2000\n";

/// Command lines to compare, and the files they name.
struct Lines {
    lines: Vec<String>,
    _files: Vec<TextFile>,
}

impl Lines {
    fn new() -> Lines {
        let mut lines = Vec::new();
        let mut files = Vec::new();
        for (name, text) in JOBS {
            let job = text_file(name, text);
            lines.push(format!(
                "run --profile {SMALL} --job {} --format json",
                job.path
            ));
            files.push(job);
        }
        for program_order in [ProgramOrder::OneShot, ProgramOrder::Shadow] {
            let sets = text_file("sets.toml", &profile_of_sets(program_order));
            let job = text_file("sets.fio", IN_SETS);
            let (sets_path, job_path) = (&sets.path, &job.path);
            lines.push(format!(
                "run --profile {sets_path} --job {job_path} --format json"
            ));
            files.extend([sets, job]);
        }
        for profile in Profile::builtin_names() {
            for rest in [
                "--rw randread --bs 4k --iodepth 64 --size 64m --seed 5",
                "--rw randrw --rwmixread 40 --bs 20k --iodepth 7 --size 32m",
                "--rw write --bs 1m --iodepth 4 --size 64m --read-pattern sequential",
            ] {
                // Zones are not written at random.
                let set = "--set zones.size=0B";
                let set = if profile == "zn540" { set } else { "" };
                lines.push(format!(
                    "run --profile {profile} {set} {rest} --format json"
                ));
            }
        }
        let workloads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads");
        let mut jobs: Vec<PathBuf> = std::fs::read_dir(&workloads)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|suffix| suffix == "fio"))
            .collect();
        jobs.sort();
        assert!(!jobs.is_empty());
        lines.extend(
            jobs.iter()
                .map(|job| format!("run --job {} --format json", job.display())),
        );
        for (trace, rest) in TRACES {
            let trace = workloads.join(trace);
            lines.push(format!(
                "run --trace {} {rest} --format json",
                trace.display()
            ));
        }
        let msr = text_file("hm.csv", MSR_TRACE);
        lines.push(format!("run --trace {} --format json", msr.path));
        files.push(msr);
        lines.extend(EXPERIMENTS.map(|line| format!("experiment {line} --format json")));
        Lines {
            lines,
            _files: files,
        }
    }
}

const EXPERIMENTS: [&str; 14] = [
    "melded-latency",
    "melded-throughput",
    "programming",
    "qlc-melding",
    "melding-window",
    "end-to-end",
    "latency-windows",
    "palloc --quick",
    "noisy-neighbor --quick",
    "firmware-scaling --quick",
    "firmware-threads --quick",
    "firmware-steady-state --quick",
    "firmware-flash --quick",
    "firmware-power --quick",
];

/// A device of four NVM sets in two groups of channels, with blocks to spare for streams; collects also when idle and
/// to level wear.
fn profile_of_sets(program_order: ProgramOrder) -> String {
    let mut profile = Profile::from_toml(&std::fs::read_to_string(SMALL).unwrap()).unwrap();
    profile.sets.layout = SetLayout::Mixed;
    profile.sets.count = 4;
    profile.sets.channel_groups = 2;
    profile.controller.write_buffer.0 = 1 << 20;
    profile.geometry.blocks_per_plane = 30;
    profile.ftl.over_provisioning_percent = 40;
    profile.timing.program_pages = Some(vec![Duration::from_us(900); 3]);
    profile.ftl.program_order = program_order;
    profile.gc.background = true;
    profile.gc.background_idle = Duration::from_us(10);
    profile.gc.wear_threshold = 2;
    profile.to_toml()
}

/// What has independent parts to simulate on several threads.
const IN_PARALLEL: [&str; 8] = [
    "validate --quiet --experiment programming --experiment melding-window --format json",
    "experiment melded-latency --format json",
    "experiment palloc --quick --format json",
    "experiment noisy-neighbor --quick --format json",
    "experiment firmware-steady-state --quick",
    "experiment interleave-detection --quick --format csv",
    "experiment qlc-melding",
    "what-if ../workloads/two-scans.meld --profile melded-tlc-8x8 --profile optane-900p --format json",
];

/// What differs, short: the first line that does.
fn assert_same(line: &str, one: &str, other: &str) {
    if one != other {
        let first = one
            .lines()
            .zip(other.lines())
            .find(|(one, other)| one != other);
        panic!("{line}: {first:?}");
    }
}

/// What the program without the checks of the tests writes.
fn released(line: &str) -> String {
    let output = Command::new(release_binary())
        .args(line.split_whitespace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_run_gives_the_same_bytes_in_debug_and_release() {
    let all = Lines::new();
    let mut collected = false;
    for line in &all.lines {
        // Two processes: whatever is seeded per process differs between them.
        let debug = stdout(line);
        assert_same(line, &debug, &released(line));
        collected |=
            debug.contains("\"gc_pages_moved\": ") && !debug.contains("\"gc_pages_moved\": 0,");
    }
    assert!(collected, "no run collected garbage");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    for line in IN_PARALLEL {
        let [one, four] = [1, 4].map(|jobs| released(&format!("{line} --jobs {jobs}")));
        assert_same(line, &one, &four);
    }
}

#[test]
#[ignore = "validates everything twice, for minutes; ./meld check runs it"]
fn any_number_of_threads_validates_to_the_same_bytes() {
    let release = release_binary();
    let validated = |jobs: &str| {
        let words = ["validate", "--quiet", "--format", "json", "--jobs", jobs];
        let output = Command::new(release).args(words).output().unwrap();
        assert!(output.stderr.is_empty());
        String::from_utf8(output.stdout).unwrap()
    };
    let one = validated("1");
    assert!(one.contains("firmware-power.platform"), "{one}");
    // The recorded output is that of as many as there are cores.
    assert_same("64", &one, &validated("64"));
}
