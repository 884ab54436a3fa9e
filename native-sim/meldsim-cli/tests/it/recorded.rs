//! Every output is the recorded one, to the byte: of every experiment, of runs, traces and advice, in each form, with
//! their pages and time series.
//!
//! `recorded/` has a file for each command, called after it. The first line is the command and its exit code; then comes
//! what it wrote, each part with its SHA-256. Of what is long and of time series the first lines are there, of a page its
//! verdict.
//! A change that is meant to change outputs records them anew, and says in its message which and why:
//! `MELDSIM_RECORD=1 cargo test --package meldsim-cli --test it recorded`. A new command is a file of its first line.

use std::path::{Path, PathBuf};
use std::process::Command;

use meldsim_host::{all_cores, try_map};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::release_binary;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/recorded");
const PROMPT: &str = "$ meldsim ";
/// More than that is long.
const WHOLE_BYTES: usize = 64 << 10;
const FIRST_LINES: usize = 20;

/// What a file says of a part of what a command wrote.
fn part(name: &str, text: &str) -> String {
    let lines = |shown: Vec<&str>| shown.iter().map(|line| format!("{line}\n")).collect();
    let shown: String = match name {
        "page" => {
            let is_verdict = |line: &&str| line.contains("class=\"verdict\"");
            lines(text.lines().filter(is_verdict).collect())
        }
        "standard output" if text.len() <= WHOLE_BYTES => text.to_owned(),
        _ => lines(text.lines().take(FIRST_LINES).collect()) + "...\n",
    };
    let (bytes, digest) = (text.len(), Sha256::digest(text));
    format!("--- {name}: {bytes} bytes, SHA-256 {digest:x}\n{shown}")
}

/// The file of what a command line writes: standard output, page and time series.
fn written(binary: &Path, line: &str) -> String {
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
    // JSON and pages repeat the command, and with it the folder, which is another one each time.
    let part = |name, text: String| {
        part(
            name,
            &text.replace(folder.path().to_str().unwrap(), "FOLDER"),
        )
    };
    let code = output.status.code().unwrap();
    let mut file = format!("{PROMPT}{line} # exit code {code}\n");
    file += &part("standard output", String::from_utf8(output.stdout).unwrap());
    for (name, path) in [("page", page), ("time series", series)] {
        if path.exists() {
            file += &part(name, std::fs::read_to_string(path).unwrap());
        }
    }
    file
}

/// The name of the file of a command line.
fn name_of(line: &str) -> String {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-") + ".txt"
}

/// From the first line that differs on, some lines of both.
fn difference(recorded: &str, now: &str) -> String {
    let pairs = recorded.lines().zip(now.lines());
    let same = pairs.take_while(|(recorded, now)| recorded == now).count();
    let some = |sign: &str, text: &str| -> String {
        let lines = text.lines().skip(same).take(10);
        lines.map(|line| format!("{sign}{line}\n")).collect()
    };
    let command = recorded.lines().next().unwrap();
    format!(
        "{command}\n@@ line {} @@\n{}{}\n",
        same + 1,
        some("-", recorded),
        some("+", now)
    )
}

/// What a file says otherwise than its command now does, or nothing. Recording anew, the file is written.
fn compare(path: &Path) -> String {
    let recorded = std::fs::read_to_string(path).unwrap();
    let first = recorded
        .lines()
        .next()
        .and_then(|line| line.strip_prefix(PROMPT));
    let line = first.unwrap_or_else(|| panic!("{} is of no command", path.display()));
    let line = line.split(" # ").next().unwrap();
    let name = path.file_name().unwrap().to_str();
    assert_eq!(name, Some(&*name_of(line)), "{line}");
    let now = written(release_binary(), line);
    if std::env::var_os("MELDSIM_RECORD").is_some() {
        std::fs::write(path, now).unwrap();
    } else if now != recorded {
        return difference(&recorded, &now);
    }
    String::new()
}

#[test]
fn every_output_is_the_recorded_one() {
    let folder = std::fs::read_dir(RECORDED).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 75, "few commands are recorded");
    // The last ones begin first: `validate` takes longest.
    files.sort_by(|one, other| other.cmp(one));
    let compared = try_map(all_cores(), &files, |path| Ok::<_, ()>(compare(path)));
    let changed = compared.unwrap().concat();
    assert!(changed.is_empty(), "outputs have changed:\n{changed}");
}

/// All claims hold but those of `known-misses.txt`, which miss their published numbers.
#[test]
fn what_does_not_hold_is_known() {
    let recorded = include_str!("recorded/validate-format-json.txt");
    let (_, json) = recorded.split_at(recorded.find("\n{").unwrap());
    let validated: Value = serde_json::from_str(json).unwrap();
    let claims = validated["claims"].as_array().unwrap();
    let missed = claims.iter().filter(|claim| claim["holds"] == false);
    let mut missed: Vec<&str> = missed.map(|claim| claim["id"].as_str().unwrap()).collect();
    missed.sort_unstable();
    let mut known: Vec<&str> = include_str!("known-misses.txt").lines().collect();
    known.sort_unstable();
    assert_eq!(missed, known);
    assert!(claims.len() > 60, "few claims are checked");
}
