//! Compiles C programs against `include/meldsim.h`, links them with `libmeldsim` and runs them.
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// The directory of the C library, built when first asked for: cargo does not build it for tests by itself.
fn library_directory() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(build_library)
}

/// The profile is that of tests, so that what they depend on is not built again.
fn build_library() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let status = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--locked",
            "--profile",
            "test",
            "--package",
            "libmeldsim",
        ])
        .arg("--target-dir")
        .arg(target)
        .current_dir(CRATE)
        .status()
        .unwrap();
    assert!(status.success(), "cargo build failed");
    target.join("debug")
}

/// Compiles `source` and gives what the program prints.
fn run(source: &str) -> String {
    let library = library_directory();
    let source = Path::new(CRATE).join(source);
    let program = library.join(source.file_stem().unwrap());
    let output = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(Path::new(CRATE).join("include"))
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(library)
        .arg("-lmeldsim")
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    let output = Command::new(program).output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    assert!(
        messages.is_empty(),
        "the library must not print: {messages}"
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_c_program_uses_the_whole_interface() {
    assert_eq!(run("tests/c/smoke.c"), "ok\n");
}

#[test]
fn the_scan_example_is_faster_melded() {
    let output = run("examples/scan.c");
    let rate = |layout: &str| -> f64 {
        let line = output
            .lines()
            .find(|line| line.starts_with(layout))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    assert!(rate("melded:") > 1.3 * rate("normal:"), "{output}");
}
