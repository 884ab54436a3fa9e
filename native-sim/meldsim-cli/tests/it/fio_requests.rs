//! Random job files make the same requests here as in fio: `tests/fio_requests.py` has the generator and says what is compared.
//!
//! Where fio or Python is not installed, nothing is tested, loudly; `.ci/run` installs both. Ten thousand jobs:
//! `meldsim-cli/tests/fio_requests.py MELDSIM 10000`.

use std::process::Command;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fio_requests.py");
const JOBS: &str = "200";

#[test]
fn requests_are_those_of_fio() {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !is_there("fio") || !is_there("python3") {
        eprintln!("SKIPPED: fio or python3 is not there; on Debian, install fio and python3");
        return;
    }
    let output = Command::new("python3")
        .args([SCRIPT, crate::support::BINARY, JOBS])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    eprintln!("{text}");
}
