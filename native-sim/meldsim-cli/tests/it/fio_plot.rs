//! fio-plot, the best-known plotting tool for fio's JSON, draws what `run --format json` prints. It comes from the Python
//! package index, its version pinned.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{stdout, text_file};
use serde_json::Value;

const VERSION: &str = "fio-plot==1.1.21";
const DEPTHS: [u32; 3] = [1, 4, 16];

/// The program, or a word that the test does nothing: a developer's machine may have no Python or network.
fn find() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(VERSION);
    let program = folder.join("bin/fio-plot");
    if program.exists() {
        return Some(program);
    }
    let run = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        }
    };
    let venv = run(
        Path::new("python3"),
        &["-m", "venv", folder.to_str().unwrap()],
    );
    let install = ["install", "--quiet", "--disable-pip-version-check", VERSION];
    match venv.and_then(|()| run(&folder.join("bin/pip"), &install)) {
        Ok(()) => Some(program),
        Err(why) => {
            assert!(std::env::var_os("CI").is_none(), "no fio-plot: {why}");
            eprintln!("skipped: no fio-plot: {why}; on Debian: apt-get install python3-venv");
            None
        }
    }
}

#[test]
fn fio_plot_draws_results() {
    let Some(program) = find() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let job = text_file(
        "job.fio",
        "[job]\nrw=randread\nbs=4k\nsize=1m\ngroup_reporting\n",
    );
    let mut expected = Vec::new();
    for jobs in [1, 2] {
        for depth in DEPTHS {
            let line = format!(
                "run {} --set job.iodepth={depth} --set job.numjobs={jobs} --format json",
                job.path
            );
            let text = stdout(&line);
            let name = format!("randread-{depth}-{jobs}.json");
            std::fs::write(folder.path().join(name), &text).unwrap();
            if jobs == 1 {
                let run: Value = serde_json::from_str(&text).unwrap();
                let read = &run["jobs"][0]["read"];
                let kilo = read["iops"].as_f64().unwrap() / 1e3;
                let us = read["lat_ns"]["mean"].as_f64().unwrap() / 1e3;
                expected.extend([format!(">{kilo:.0}K<"), format!(">{us:.0}<")]);
            }
        }
    }
    // Texts stay texts.
    std::fs::write(folder.path().join("matplotlibrc"), "svg.fonttype: none\n").unwrap();
    let plot = |graph: &str, file: &str| -> Output {
        let flags = format!("-i . -T title -r randread {graph} -o {file}");
        let mut command = Command::new(&program);
        let command = command
            .args(flags.split_whitespace())
            .current_dir(folder.path());
        command.env("MPLBACKEND", "agg").output().unwrap()
    };
    for graph in [
        "-l -d 1 4 16 -n 1",
        "-L -d 1 4 16 -n 1 2 -t iops",
        "-L -d 1 4 16 -n 1 2 -t lat",
        "-N -d 4 -n 1 2",
        "-H -d 4 -n 1",
    ] {
        let output = plot(graph, "figure.png");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{graph}: {said}");
        let figure = folder.path().join("figure.png");
        assert!(
            std::fs::read(&figure).unwrap().starts_with(b"\x89PNG"),
            "{graph}"
        );
        std::fs::remove_file(figure).unwrap();
    }
    // It writes this file, too, and ends with an error when it adds what only a PNG has.
    plot("-l --show-data -d 1 4 16 -n 1", "figure.svg");
    let figure = std::fs::read_to_string(folder.path().join("figure.svg")).unwrap();
    for number in expected {
        assert!(figure.contains(&number), "{number} is not in the figure");
    }
}
