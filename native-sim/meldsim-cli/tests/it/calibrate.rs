//! `meldsim calibrate`: wrong cells are said in words, and a search that was interrupted goes on to the same profile.

use std::fs;
use std::path::Path;

use crate::support::{self, meldsim};

const COLUMNS: &str = "drive,dataset,sw_path,block_bytes,threads,depth_per_thread,iops,mean_us,p10_us,p50_us,p90_us,p99_us,limit";

/// Reads over depth of a drive with so many dies, each of 60 us: what a closed queue of random dies gives, about.
fn reads(depths: &[u32]) -> String {
    let mut text = COLUMNS.to_owned() + "\n";
    for depth in depths {
        let (dies, alone) = (32.0, 70.0);
        let depth_of = f64::from(*depth);
        let busy = dies * depth_of / (depth_of + dies - 1.0);
        let iops = busy / (alone + (busy - 1.0) * -10.0 / dies) * 1e6;
        let mean = depth_of / iops * 1e6;
        text += &format!(
            "mine,reads,io_uring,4096,1,{depth},{iops:.0},{mean:.2},{:.2},{mean:.2},{:.2},{:.2},\n",
            mean * 0.95,
            mean * 1.1,
            mean * 1.3
        );
    }
    text
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn calibrate(folder: &Path, more: &str) -> support::Outcome {
    let folder = folder.to_str().unwrap();
    meldsim(&format!(
        "calibrate --cells {folder} --capacity 960197124096 --quiet {more}"
    ))
}

#[test]
fn latencies_in_milliseconds_are_refused() {
    let good = reads(&[1, 8]);
    let mut lines = good.lines();
    let mut text = lines.next().unwrap().to_owned() + "\n";
    for line in lines {
        let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
        let mean: f64 = fields[7].parse().unwrap();
        fields[7] = (mean / 1e3).to_string();
        text += &(fields.join(",") + "\n");
    }
    let folder = folder(&[("read_latency_by_depth.csv", &text)]);
    let outcome = calibrate(folder.path(), "");
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    for said in [
        "read_latency_by_depth.csv:2",
        "milliseconds",
        "the row says 1",
    ] {
        assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
    }
}

#[test]
fn a_capacity_in_gigabytes_is_refused() {
    let folder = folder(&[("read_latency_by_depth.csv", &reads(&[1]))]);
    let path = folder.path().to_str().unwrap();
    let outcome = meldsim(&format!("calibrate --cells {path} --capacity 960"));
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("blockdev --getsize64"),
        "{}",
        outcome.stderr
    );
    let outcome = meldsim("calibrate --cells /dev/null/none --capacity 960197124096");
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("give a folder"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn reads_at_depth_1_say_nothing_of_the_dies() {
    let folder = folder(&[("read_latency_by_depth.csv", &reads(&[1]))]);
    let outcome = calibrate(folder.path(), "");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for said in [
        "reads were measured at a depth of 1 at most",
        "measure next: 4 KiB random reads at depths 1, 2, 4 and on to 256",
    ] {
        assert!(outcome.stdout.contains(said), "{said}: {}", outcome.stdout);
    }
    let json = calibrate(folder.path(), "--check --format json").stdout;
    support::schema::check("calibrate --check", &json);
    let json = calibrate(folder.path(), "--format json").stdout;
    support::schema::check("calibrate", &json);
    let dies = outcome
        .stdout
        .lines()
        .find(|line| line.starts_with("geometry.dies"));
    assert!(dies.unwrap().contains("not identifiable"), "{dies:?}");
}

/// What is fitted rests on what is assumed, and says so; what it cannot meet is named.
#[test]
fn a_fit_says_what_it_rests_on_and_where_it_is_off() {
    let mut text = COLUMNS.to_owned() + "\n";
    for depth in [1u32, 2, 4, 8, 16, 32, 64] {
        let mean = 80.0 + 1.5 * f64::from(depth);
        let iops = f64::from(depth) / mean * 1e6;
        // No drive of one kind of flash has such a tail at every depth.
        let p99 = 40.0 * mean;
        text += &format!("mine,reads,libaio,4096,1,{depth},{iops},{mean},,{mean},,{p99},\n");
    }
    let folder = folder(&[("read_latency_by_depth.csv", &text)]);
    let out = folder.path().join("mine.toml");
    let line = format!("--format json --out {}", out.display());
    let outcome = calibrate(folder.path(), &line);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    support::schema::check("calibrate", &outcome.stdout);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let parameters = json["parameters"].as_array().unwrap();
    let row = |key: &str| parameters.iter().find(|row| row["key"] == key).unwrap();
    let fitted = parameters.iter().filter(|row| row["kind"] == "fitted");
    for row in fitted {
        let note = row["note"].as_str().unwrap();
        assert!(note.contains("bus.rate 1200 (assumed)"), "{row}");
    }
    assert_eq!(row("host.link_rate")["value"], "unlimited");
    let profile = std::fs::read_to_string(out).unwrap();
    let own = row("geometry.wordlines_per_block")["own"].as_str().unwrap();
    let line = format!("\nwordlines_per_block = {own}");
    assert!(profile.contains(&line), "{line}: {profile}");
    let far_off = json["far_off"].as_array().unwrap();
    assert!((1..=5).contains(&far_off.len()), "{far_off:?}");
    assert!(
        far_off[0]["column"].as_str().unwrap().contains("p99"),
        "{far_off:?}"
    );
}

#[test]
fn a_straight_curve_that_stops_is_the_hosts() {
    let mut text = COLUMNS.to_owned() + "\n";
    for depth in [1u32, 2, 4, 8, 16, 32, 64] {
        let iops = (f64::from(depth) * 14_000.0).min(110_000.0);
        let mean = f64::from(depth) / iops * 1e6;
        text += &format!("mine,reads,libaio,4096,1,{depth},{iops},{mean},,{mean},,,\n");
    }
    let folder = folder(&[("read_latency_by_depth.csv", &text)]);
    let outcome = calibrate(folder.path(), "");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for said in [
        "stop at 110000 a second",
        "the host or the link is the limit",
        "numjobs",
    ] {
        assert!(outcome.stdout.contains(said), "{said}: {}", outcome.stdout);
    }
}

#[test]
fn a_rate_that_is_held_says_nothing_of_the_spare_flash() {
    let steady = "drive,dataset,pattern,param,file_bytes,threads,depth_per_thread,steady,iops_steady,cv_last_quarter,waf_counter\n\
        mine,s,uniform,0,960197124096,4,128,1,71428,0.00001,\n";
    let folder = folder(&[
        ("steady_random_writes.csv", steady),
        ("read_latency_by_depth.csv", &reads(&[1])),
    ]);
    let out = folder.path().join("out.toml");
    let outcome = calibrate(folder.path(), &format!("--out {}", out.display()));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(
        outcome
            .stdout
            .contains("steady writes are held at 71428 a second")
    );
    let profile = fs::read_to_string(out).unwrap();
    assert!(profile.contains("throttle_iops = 71428"), "{profile}");
}

#[test]
fn what_is_given_stays_and_a_state_goes_on_to_the_same_profile() {
    let folder = folder(&[("read_latency_by_depth.csv", &reads(&[1, 4, 16, 64]))]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let line = |name: &str| {
        format!(
            "--given geometry.channels=4 --given bus.rate=800MT/s --state {} --out {}",
            path("state"),
            path(name)
        )
    };
    let first = calibrate(folder.path(), &line("first.toml"));
    assert_eq!(first.code, 0, "{}", first.stderr);
    let profile = fs::read_to_string(path("first.toml")).unwrap();
    assert!(profile.contains("rate = \"800MT/s\" # [G]"), "{profile}");
    let check = meldsim(&format!("profiles check {}", path("first.toml")));
    assert_eq!(check.code, 0, "{}", check.stderr);

    // As if it had been killed while it wrote a line.
    let state = fs::read_to_string(path("state")).unwrap();
    fs::write(path("state"), &state[..state.len() * 2 / 3]).unwrap();
    let again = calibrate(folder.path(), &line("again.toml"));
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(fs::read_to_string(path("again.toml")).unwrap(), profile);
    // One thread or two: the same bytes.
    let one = format!(
        "--given geometry.channels=4 --given bus.rate=800MT/s --jobs 1 --out {}",
        path("one.toml")
    );
    assert_eq!(calibrate(folder.path(), &one).code, 0);
    assert_eq!(fs::read_to_string(path("one.toml")).unwrap(), profile);
    let other = calibrate(
        folder.path(),
        &format!("--seed 9 --state {}", path("state")),
    );
    assert_eq!(other.code, 2);
    assert!(
        other.stderr.contains("is of other cells or settings"),
        "{}",
        other.stderr
    );
}

fn measure(words: &[&str]) -> std::process::Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/calibrate/measure");
    std::process::Command::new(script)
        .args(words)
        .env("ENGINE", "libaio")
        .output()
        .unwrap()
}

#[test]
fn a_file_that_calibrate_would_refuse_is_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("drive");
    // The program that measures is not needed for that, but looked for.
    let path = folder.path().join("fio");
    std::fs::write(&path, "#!/bin/sh\n").unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/calibrate/measure");
    let output = std::process::Command::new("bash")
        .args(["-c", "chmod +x \"$1/fio\" && PATH=$1:$PATH \"$2\" --file \"$1/drive\" --size 64m --yes \"$1/measured\"", "bash"])
        .args([folder.path(), script.as_path()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("give 1g or more"), "{said}");
    assert!(!file.exists());
}

#[test]
#[ignore = "runs fio for half a minute; ./meld check runs it"]
fn reads_of_a_file_that_is_not_there_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let [file, measured] = ["drive", "measured"].map(|name| folder.path().join(name));
    let (file, measured) = (file.to_str().unwrap(), measured.to_str().unwrap());
    let words = [
        "--file",
        file,
        "--size",
        "1g",
        "--quick",
        "--reads-only",
        measured,
    ];
    let output = measure(&words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let checked = meldsim(&format!("calibrate --fio {measured} --check"));
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let expected = "cells of read_latency_by_depth\n";
    assert!(checked.stdout.contains(expected), "{}", checked.stdout);
}

/// fio itself runs the job set, on a file: what it writes today is read, and every kind of cells is there.
#[test]
#[ignore = "runs fio for a minute or two; ./meld check runs it"]
fn what_fio_writes_of_the_job_set_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let measured = folder.path().join("measured");
    let file = folder.path().join("drive");
    let (file, to) = (file.to_str().unwrap(), measured.to_str().unwrap());
    let output = measure(&["--file", file, "--size", "1g", "--quick", "--yes", to]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "fio of Debian's package is needed: {said}"
    );
    let line = format!("calibrate --fio {} --check", measured.display());
    let checked = meldsim(&line);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    for kind in [
        "read_latency_by_depth",
        "write_latency_by_depth",
        "latency_by_offered_rate",
        "mixed_read_write",
        "steady_random_writes",
        "waf_by_fill",
        "sequential_write",
    ] {
        assert!(
            checked.stdout.contains(&format!("cells of {kind}\n")),
            "{kind}: {}",
            checked.stdout
        );
    }
    assert!(!checked.stdout.contains("left out"), "{}", checked.stdout);
}
