//! Tells the program its version with the commit it was built from: the one that cargo noted in a packed crate, else that of
//! the git checkout which these sources are part of. Without either, the version stands alone.

use std::path::Path;
use std::process::Command;

/// Digits of a commit that are shown.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env!("CARGO_PKG_VERSION");
    let version = match packed().or_else(checked_out) {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    };
    println!("cargo::rustc-env=MELDSIM_VERSION={version}");
}

/// From `{"git": {"sha1": "…"}, …}`, which `cargo package` puts beside the manifest.
fn packed() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    shortened(rest.split('"').nth(1)?)
}

/// From git, if it knows this file: the sources may lie unpacked in a repository of something else.
fn checked_out() -> Option<String> {
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    // The commit changes when the branch does or moves.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    shortened(&git(&["rev-parse", "HEAD"])?)
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn shortened(commit: &str) -> Option<String> {
    let is_commit = commit.len() >= DIGITS && commit.bytes().all(|b| b.is_ascii_hexdigit());
    is_commit.then(|| commit[..DIGITS].to_owned())
}
