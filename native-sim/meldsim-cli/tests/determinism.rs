//! Same profile, workload and seed: the same bytes, run after run, in debug and release.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use meldsim::Profile;
use support::{TextFile, stdout, text_file};

/// Jobs for a device that is small enough to be overwritten many times.
const JOBS: [(&str, &str); 3] = [
    (
        "churn.fio",
        "[global]\nbs=4k\nsize=2m\n[fill]\nrw=write\nread_pattern=sequential\n\
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

/// Command lines to compare, and the files they name.
struct Lines {
    lines: Vec<String>,
    _files: Vec<TextFile>,
}

impl Lines {
    fn new() -> Lines {
        let mut lines = Vec::new();
        let mut files = vec![text_file("small.toml", &small_profile())];
        let small = files[0].path.clone();
        for (name, text) in JOBS {
            let job = text_file(name, text);
            lines.push(format!(
                "run --profile {small} --job {} --format json",
                job.path
            ));
            files.push(job);
        }
        for profile in Profile::builtin_names() {
            for rest in [
                "--rw randread --bs 4k --iodepth 64 --size 64m --seed 5",
                "--rw randrw --rwmixread 40 --bs 20k --iodepth 7 --size 32m",
                "--rw write --bs 1m --iodepth 4 --size 64m --read-pattern sequential",
            ] {
                lines.push(format!("run --profile {profile} {rest} --format json"));
            }
        }
        let workloads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads");
        let mut jobs: Vec<PathBuf> = std::fs::read_dir(workloads)
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
        lines.push("experiment melded-latency --format json".to_owned());
        Lines {
            lines,
            _files: files,
        }
    }
}

/// A device on which garbage is collected.
fn small_profile() -> String {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.geometry.channels = 2;
    profile.geometry.dies_per_channel = 2;
    profile.geometry.blocks_per_plane = 24;
    profile.geometry.wordlines_per_block = 4;
    profile.controller.write_buffer.0 = 512 << 10;
    profile.ftl.open_runs = 8;
    profile.to_toml()
}

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

#[test]
fn every_run_gives_the_same_bytes() {
    let all = Lines::new();
    let mut collected = false;
    for line in &all.lines {
        // Two processes: whatever is seeded per process differs between them.
        let (one, other) = (stdout(line), stdout(line));
        assert_same(line, &one, &other);
        collected |=
            one.contains("\"gc_pages_moved\": ") && !one.contains("\"gc_pages_moved\": 0,");
    }
    assert!(collected, "no run collected garbage");
}

#[test]
#[ignore = "builds the release binary; ./meld test runs it"]
fn debug_and_release_give_the_same_bytes() {
    let release = release_binary();
    for line in &Lines::new().lines {
        let output = Command::new(&release)
            .args(line.split_whitespace())
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}");
        assert_same(
            line,
            &stdout(line),
            &String::from_utf8(output.stdout).unwrap(),
        );
    }
}

fn release_binary() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let status = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--locked",
            "--release",
            "--package",
            "meldsim-cli",
        ])
        .arg("--target-dir")
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap();
    assert!(status.success(), "cargo build failed");
    target.join("release/meldsim")
}
