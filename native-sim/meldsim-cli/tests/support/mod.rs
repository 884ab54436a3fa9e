//! Runs the command line and takes its outcome apart. Every JSON that comes out is checked against its schema.

pub(crate) mod browser;
pub(crate) mod perfetto;
pub(crate) mod schema;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The command line with the checks of the tests.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_meldsim");

/// What one run gave.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `meldsim` with the words of `line`, with backtraces asked for as a developer's shell may have it. A benchmark runs the
/// program without the checks of the tests: with them it takes minutes.
pub(crate) fn meldsim(line: &str) -> Outcome {
    let program = match line.starts_with("bench") {
        true => release_binary(),
        false => Path::new(BINARY),
    };
    let output = Command::new(program)
        .args(line.split_whitespace())
        .env("RUST_BACKTRACE", "1")
        // A width that a shell has exported is not meant for the tests.
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The standard output of a run that must succeed silently.
pub(crate) fn stdout(line: &str) -> String {
    let outcome = meldsim(line);
    assert_eq!(outcome.code, 0, "{line}: {}", outcome.stderr);
    assert_eq!(outcome.stderr, "", "{line}");
    if line.contains("--format json") {
        schema::check(line, &outcome.stdout);
    }
    outcome.stdout
}

/// A file for one test; its folder goes when it is dropped.
pub(crate) struct TextFile {
    _folder: tempfile::TempDir,
    pub(crate) path: String,
}

pub(crate) fn text_file(name: &str, text: &str) -> TextFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    TextFile {
        path: path.to_str().unwrap().to_owned(),
        _folder: folder,
    }
}

/// The command line without the checks of the tests, and about as fast as it ships: the program that `MELDSIM_TESTED` names,
/// or else one that is built when first asked for.
pub(crate) fn release_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| std::env::var_os("MELDSIM_TESTED").map_or_else(build, PathBuf::from))
}

fn build() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--profile", "tested"])
        .args(["--package", "meldsim-cli", "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap();
    assert!(status.success(), "cargo build failed");
    target.join("tested/meldsim")
}
