//! The committed corpus through every target, then a number of mutations of it, the same ones on every machine.
//!
//! Longer: `MELDSIM_FUZZ_SECONDS=600 cargo test -p meldsim-fuzz --release -- --nocapture`, or with coverage feedback:
//! see README.md.
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use meldsim::engine::Random;
use meldsim_fuzz::mutate::mutate;
use meldsim_fuzz::{TARGETS, Target};

/// Mutations of a target's corpus: some seconds of an unoptimised build. Those that run devices take longer.
fn mutations(name: &str) -> u64 {
    match name {
        "abi" | "handles" | "job" | "snapshot" | "zones" => 150,
        _ => 3000,
    }
}

fn corpus(target: &Target) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(target.corpus())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let read =
        |path: std::path::PathBuf| (path.display().to_string(), std::fs::read(&path).unwrap());
    files.into_iter().map(read).collect()
}

fn fuzz(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let corpus = corpus(target);
    assert!(!corpus.is_empty(), "no corpus for {name}");
    for (file, data) in &corpus {
        let outcome = catch_unwind(|| (target.run)(data));
        assert!(outcome.is_ok(), "{name} panics on {file}");
    }
    let seconds = std::env::var("MELDSIM_FUZZ_SECONDS");
    let time = seconds.map(|text| Duration::from_secs(text.parse().unwrap()));
    let seeds: Vec<Vec<u8>> = corpus.into_iter().map(|(_, data)| data).collect();
    let dictionary = target.dictionary();
    let (mut random, mut inputs) = (Random::new(1), 0u64);
    let start = Instant::now();
    let goes_on = |inputs| match time {
        Ok(time) => start.elapsed() < time,
        Err(_) => inputs < mutations(name),
    };
    while goes_on(inputs) {
        let data = mutate(&mut random, &seeds, &dictionary);
        if catch_unwind(AssertUnwindSafe(|| (target.run)(&data))).is_err() {
            let path = std::env::temp_dir().join(format!("meldsim-fuzz-{name}-{inputs}"));
            std::fs::write(&path, &data).unwrap();
            panic!("{name} panics; the input is in {}", path.display());
        }
        inputs += 1;
    }
    println!("{name}: {inputs} mutations in {:?}", start.elapsed());
}

#[test]
fn abi() {
    fuzz("abi");
}

#[test]
fn job() {
    fuzz("job");
}

#[test]
fn profile() {
    fuzz("profile");
}

#[test]
fn run() {
    fuzz("run");
}

#[test]
fn snapshot() {
    fuzz("snapshot");
}

#[test]
fn trace() {
    fuzz("trace");
}

#[test]
fn device() {
    fuzz("device");
}

#[test]
fn handles() {
    fuzz("handles");
}

#[test]
fn zones() {
    fuzz("zones");
}

#[test]
fn every_target_is_tested_here() {
    let source = include_str!("corpus.rs");
    for target in TARGETS {
        assert!(
            source.contains(&format!("fuzz(\"{}\")", target.name)),
            "{}",
            target.name
        );
    }
}
