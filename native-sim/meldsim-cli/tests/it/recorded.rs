//! Every output is the recorded one, to the byte: of every experiment, of runs, traces and advice, in each form, with
//! their pages and time series.
//!
//! `recorded.txt` has a line for each command: its exit code, the start of the SHA-256 of what it wrote, the command.
//! A change that is meant to change outputs records them anew, and says in its message which and why:
//! `MELDSIM_RECORD=1 cargo test --package meldsim-cli --test it -- --ignored recorded`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::support::release_binary;
use sha2::{Digest, Sha256};

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/recorded.txt");

/// What a command line writes: the exit code, and the digest of standard output, page and time series.
fn outcome(binary: &Path, line: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (page, series) = (
        folder.path().join("page.html"),
        folder.path().join("series.csv"),
    );
    let mut command = Command::new(binary);
    command
        .args(line.split_whitespace())
        // The date of a page is input, too.
        .env("SOURCE_DATE_EPOCH", "0")
        .env_remove("COLUMNS")
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    if ["experiment", "run", "what-if"]
        .iter()
        .any(|kind| line.starts_with(kind))
    {
        command.arg("--report").arg(&page);
    }
    if line.starts_with("run") {
        command.arg("--time-series").arg(&series);
    }
    let output = command.output().unwrap();
    let mut written = String::from_utf8(output.stdout).unwrap();
    for file in [page, series].iter().filter(|file| file.exists()) {
        written += &std::fs::read_to_string(file).unwrap();
    }
    // JSON and pages repeat the command, and with it the folder, which is another one each time.
    let digest = Sha256::digest(written.replace(folder.path().to_str().unwrap(), "FOLDER"));
    let start: String = digest[..8].iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    });
    format!("{} {start} {line}", output.status.code().unwrap())
}

#[test]
#[ignore = "builds the release binary; ./meld test runs it"]
fn every_output_is_the_recorded_one() {
    let binary = release_binary();
    let recorded = std::fs::read_to_string(RECORDED).unwrap();
    let now: Vec<String> = recorded
        .lines()
        .map(|recorded| {
            let line = recorded.splitn(3, ' ').nth(2).unwrap();
            outcome(&binary, line)
        })
        .collect();
    if std::env::var_os("MELDSIM_RECORD").is_some() {
        std::fs::write(RECORDED, now.join("\n") + "\n").unwrap();
        return;
    }
    let changed: Vec<(&str, &String)> = recorded
        .lines()
        .zip(&now)
        .filter(|(recorded, now)| recorded != now)
        .collect();
    assert!(changed.is_empty(), "outputs have changed: {changed:#?}");
    assert!(now.len() > 70, "few commands are recorded");
}
