//! Compiles a C program against `include/meldsim.h`, links it with `libmeldsim` and runs it.
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::path::{Path, PathBuf};
use std::process::Command;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// Builds the C library, which cargo does not build for tests by itself, and gives its directory.
///
/// The profile is that of tests, so that what they depend on is not built again.
fn library_directory() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--profile", "test", "--lib"])
        .arg("--target-dir")
        .arg(target)
        .current_dir(CRATE)
        .status()
        .unwrap();
    assert!(status.success(), "cargo build failed");
    target.join("debug")
}

fn compile(name: &str, library: &Path) -> PathBuf {
    let program = library.join(name);
    let source = Path::new(CRATE).join("tests/c").join(format!("{name}.c"));
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
    program
}

#[test]
fn a_c_program_uses_the_whole_interface() {
    let program = compile("smoke", &library_directory());
    let output = Command::new(program).output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    assert_eq!(output.stdout, b"ok\n");
    assert!(
        messages.is_empty(),
        "the library must not print: {messages}"
    );
}
