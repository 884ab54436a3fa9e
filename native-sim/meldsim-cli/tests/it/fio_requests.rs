//! Random job files make the same requests here as in fio: `tests/fio_requests.py` has the generator and says what is compared.
//!
//! Where fio or Python is not installed, this fails, unless `MELDSIM_WITHOUT_FIO` is set; `.ci/run` installs both. Ten thousand jobs:
//! `meldsim-cli/tests/fio_requests.py MELDSIM 10000`.

use std::process::Command;

use crate::support::{stdout, text_file};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fio_requests.py");
const JOBS: &str = "200";

#[test]
fn requests_are_those_of_fio() {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !is_there("fio") || !is_there("python3") {
        let is_left_out = std::env::var_os("MELDSIM_WITHOUT_FIO").is_some();
        assert!(
            is_left_out,
            "fio or python3 is not there; install them, or set MELDSIM_WITHOUT_FIO=1"
        );
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

#[test]
fn a_command_line_of_fio_is_a_job_file() {
    for (line, text) in [
        (
            "--name=a --rw=randread --bs=8k --iodepth=4 --size=4m --ioengine=libaio --direct=1",
            "[a]\nrw=randread\nbs=8k\niodepth=4\nsize=4m\n",
        ),
        // One hyphen, and values that stand apart, but for those of flags.
        (
            "-filename=/dev/x -iodepth 2 -thread -rw=randwrite -size 1m -numjobs=2 -group_reporting -name=b",
            "[global]\nfilename=/dev/x\niodepth=2\nrw=randwrite\nsize=1m\nnumjobs=2\ngroup_reporting\n[b]\n",
        ),
        // What is before the first job is of all.
        (
            "--size=1m --name w --rw=write --name=r --rw=read --stonewall --eta=never --output-format=normal",
            "[global]\nsize=1m\n[w]\nrw=write\n[r]\nrw=read\nstonewall\n",
        ),
        (
            "--name=a --size=1m --runtime=1ms --name=b --size=2m --rwmixread=70 --rw=randrw --percentage_random=50",
            "[a]\nsize=1m\nruntime=1ms\n[b]\nsize=2m\nrwmixread=70\nrw=randrw\npercentage_random=50\n",
        ),
        // Our flags stay ours.
        (
            "--profile pm9a3 --name=a --size=1m --set job.bs=64k",
            "[a]\nsize=1m\nbs=64k\n;--profile pm9a3",
        ),
    ] {
        let file = text_file("line.fio", text);
        let (_, ours) = text.split_once(';').unwrap_or_default();
        let expected = stdout(&format!("run --job {} --format csv {ours}", file.path));
        assert_eq!(
            stdout(&format!("run --quiet --format csv {line}")),
            expected,
            "{line}"
        );
    }
    let json = stdout("run --name=a --size=1m --output-format=json+");
    assert!(json.starts_with('{'), "{json}");
}
