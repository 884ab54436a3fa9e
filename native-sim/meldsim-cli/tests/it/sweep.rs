//! Sweeps: a run for each cell of a grid.

use std::path::Path;

use crate::support::{meldsim, stdout, text_file};
use serde_json::Value;

const GRID: &str = "run --quiet --profile melded-tlc-8x8 --rw randrw --bs 16k --size 1m --set geometry.channels=4,0,8 \
                    --set job.iodepth:job.rwmixread=1:30,8:70";

fn rows(text: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(text).unwrap();
    document["rows"].as_array().unwrap().clone()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The words of a row's command, after the program's name.
fn line(row: &Value) -> String {
    let command = row["command"].as_str().unwrap();
    command.strip_prefix("meldsim ").unwrap().replace('\'', "")
}

#[test]
fn rows_are_what_their_commands_give_and_threads_change_nothing() {
    let text = stdout(&format!("{GRID} --threads 1 --format json"));
    for threads in [2, 7] {
        assert_eq!(
            stdout(&format!("{GRID} --threads {threads} --format json")),
            text
        );
    }
    let rows = rows(&text);
    assert_eq!(rows.len(), 6);
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row["cell"], number);
        let line = line(row);
        if row["geometry.channels"] == "0" {
            assert!(
                row["error"]
                    .as_str()
                    .unwrap()
                    .contains("geometry.channels: is 0"),
                "{row}"
            );
            let alone = meldsim(&line);
            assert_eq!(
                alone.stderr.trim_end(),
                format!("error: {}", row["error"].as_str().unwrap())
            );
            continue;
        }
        assert_eq!(row["error"], Value::Null);
        let run: Value = serde_json::from_str(&stdout(&line)).unwrap();
        let [job] = &run["jobs"].as_array().unwrap()[..] else {
            panic!("one job: {run}");
        };
        for direction in ["read", "write"] {
            let of = |figure: &str| row[format!("{direction}_{figure}")].as_f64().unwrap();
            let part = &job[direction];
            assert_eq!(row[format!("{direction}_requests")], part["total_ios"]);
            for (figure, expected) in [
                ("iops", part["iops"].as_f64().unwrap()),
                ("mean_us", part["lat_ns"]["mean"].as_f64().unwrap() / 1e3),
                (
                    "p99_us",
                    part["clat_ns"]["percentile"]["99.000000"].as_f64().unwrap() / 1e3,
                ),
            ] {
                // Percentiles of JSON are in whole nanoseconds.
                assert!((of(figure) - expected).abs() <= 1e-3, "{figure}: {row}");
            }
        }
        let options = &job["job options"];
        assert_eq!(options["iodepth"], row["job.iodepth"]);
        assert_eq!(options["rwmixread"], row["job.rwmixread"]);
    }
}

#[test]
fn a_cell_that_is_refused_is_named_and_loses_no_other() {
    let line = GRID.replace(" --quiet", "");
    let outcome = meldsim(&line);
    assert_eq!(outcome.code, 0);
    let said = "note: 2 of 6 cells are refused; the first, geometry.channels=0 job.iodepth=1 job.rwmixread=30: melded-tlc-8x8: \
                geometry.channels: is 0";
    assert!(outcome.stderr.starts_with(said), "{}", outcome.stderr);
    assert_eq!(outcome.stdout.lines().count(), 1 + 6 + 1);
    let outcome = meldsim(&line.replace("4,0,8", "0,none"));
    assert_eq!(outcome.code, 2);
    assert!(
        outcome
            .stderr
            .contains("no cell runs; the first, geometry.channels=0"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_half_finished_file_is_finished_and_what_it_has_is_not_run_again() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["s.csv", "s.json"] {
        let path = folder.path().join(name);
        let line = format!("{GRID} --out {}", path.display());
        stdout(&line);
        let whole = read(&path);
        for length in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
            std::fs::write(&path, &whole[..length]).unwrap();
            stdout(&line);
            assert!(read(&path) == whole, "{name} cut at {length}");
        }
        // A figure that no run gives is still there.
        let is_csv = name == "s.csv";
        let first = if is_csv { "\n" } else { "\"read_iops\":" };
        let first = whole.find(first).unwrap();
        let place = first + whole[first..].find('.').unwrap();
        let marked = format!("{}.123{}", &whole[..place], &whole[place + 1..]);
        std::fs::write(&path, &marked[..marked.len() - 300]).unwrap();
        stdout(&line);
        assert!(read(&path) == marked, "{name}: all was run again");
        // Rows of another workload are not taken for those of this one, and the file stays.
        let outcome = meldsim(&line.replace("--bs 16k", "--bs 8k"));
        assert_eq!(outcome.code, 2);
        assert!(
            outcome
                .stderr
                .contains("does not begin as the rows of this sweep do"),
            "{}",
            outcome.stderr
        );
        assert_eq!(read(&path), marked);
    }
    let path = folder.path().join("s.csv");
    std::fs::write(&path, "my notes\n").unwrap();
    let outcome = meldsim(&format!("{GRID} --out {}", path.display()));
    assert_eq!((outcome.code, read(&path)), (2, "my notes\n".to_owned()));
}

#[test]
fn options_of_jobs_are_set_over_flags_and_over_every_section() {
    let without_command = |line: &str| {
        let mut run: Value = serde_json::from_str(&stdout(line)).unwrap();
        run["command"] = Value::Null;
        // Those are as they were given.
        run["jobs"][0]["job options"] = Value::Null;
        run["global options"] = Value::Null;
        run
    };
    let flags = "run --bs 16k --size 1m --format json";
    assert_eq!(
        without_command(&format!("{flags} --rw randread --iodepth 8")),
        without_command(&format!(
            "{flags} --set job.rw=randread --set job.iodepth=8"
        )),
    );
    let text = "[global]\nsize=1m\nbs=4k\n[one]\nrw=randread\n[two]\nrw=randwrite\nbs=8k\n";
    let job = text_file("a.fio", text);
    let by_hand = text_file("a.fio", &text.replace("4k", "32k").replace("8k", "32k"));
    assert_eq!(
        without_command(&format!("run {} --set job.bs=32k --format json", job.path)),
        without_command(&format!("run {} --format json", by_hand.path)),
    );
    let files = format!(
        "run --set job={},{} --set job.bs=16k --format json",
        job.path, by_hand.path
    );
    let outcome = meldsim(&files);
    assert!(
        outcome
            .stderr
            .contains("rows are of 2 jobs together, one to two")
    );
    let rows = rows(&outcome.stdout);
    assert_eq!(rows[0]["job"], job.path);
    assert_eq!(rows[0]["read_iops"], rows[1]["read_iops"]);
    let outcome = meldsim(&format!("run {} --set job.bz=32k", job.path));
    assert_eq!(outcome.code, 2);
    assert!(
        outcome
            .stderr
            .contains("job.bz: is not a known option; did you mean bs?"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_grid_file_has_the_axes_of_flags() {
    let grid = text_file(
        "grid",
        "# devices\ngeometry.channels=4,8\n\n  timing.read=[\"60us\",\"70us\",\"80us\"],[\"50us\",\"50us\",\"50us\"]\n",
    );
    let line = "run --profile melded-tlc-8x8 --rw randread --size 1m --format csv";
    let text = stdout(&format!("{line} --grid {}", grid.path));
    assert_eq!(text.lines().count(), 5);
    let by_flags = format!(
        "{line} --set geometry.channels=4,8 --set timing.read=[\"60us\",\"70us\",\"80us\"],[\"50us\",\"50us\",\"50us\"]"
    );
    let of_flags = stdout(&by_flags);
    assert_eq!(text, of_flags);
    let wrong = text_file("grid", "geometry.channels=4,8\nchannels\n");
    let outcome = meldsim(&format!("{line} --grid {}", wrong.path));
    assert_eq!(outcome.code, 2);
    assert!(
        outcome
            .stderr
            .contains(&format!("--grid: {}:2: is \"channels\"", wrong.path)),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_trace_is_replayed_in_each_cell() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads/two-scans.meld");
    let line =
        format!("run --trace {trace} --set profile=melded-tlc-8x8,melded-qlc-8x8 --format json");
    let rows = rows(&stdout(&line));
    assert_eq!(rows[0]["trace"], trace);
    for row in &rows {
        let run: Value = serde_json::from_str(&stdout(&self::line(row))).unwrap();
        let reads = run["jobs"].as_array().unwrap().iter();
        let reads = reads.map(|job| job["read"]["total_ios"].as_u64().unwrap());
        assert_eq!(row["read_requests"], reads.sum::<u64>());
    }
    let outcome = meldsim(&format!("run --trace {trace} --set job.bs=4k,8k"));
    assert!(
        outcome
            .stderr
            .contains("job.bs is of jobs, and a trace has none"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn figures_are_drawn_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let [svg, html] = ["a.svg", "a.html"].map(|name| folder.path().join(name));
    let plot = format!("x=iodepth,y=read_p99_us,by=channels,file={}", svg.display());
    let page = format!(
        "x=read_iops,y=read_p99_us,by=channels,file={}",
        html.display()
    );
    let line = "run --quiet --profile melded-tlc-8x8 --rw randread --size 1m --set geometry.channels=4,0,8 --set job.iodepth=1,8,64";
    stdout(&format!("{line} --plot {plot} --plot {page} --threads 1"));
    let drawn = read(&svg);
    for text in [
        "p99 latency, us, of reads over iodepth",
        ">64<",
        "channels 8",
    ] {
        assert!(drawn.contains(text), "{text}: {drawn}");
    }
    assert!(read(&html).contains("<svg class=\"chart\""));
    stdout(&format!("{line} --plot {plot}"));
    assert_eq!(read(&svg), drawn);
    // What cannot be drawn is told before anything runs.
    let out = folder.path().join("never.csv");
    for (plot, said) in [
        ("x=iodepth,y=read_p99_us", "geometry.channels varies, too"),
        (
            "x=iodepth,y=speed,by=channels",
            "y: speed is no column; use one of cell, profile",
        ),
        ("x=iodepth", "write x=KEY"),
    ] {
        let outcome = meldsim(&format!("{line} --plot {plot} --out {}", out.display()));
        assert_eq!(outcome.code, 2, "{plot}");
        assert!(outcome.stderr.contains(said), "{plot}: {}", outcome.stderr);
        assert!(!out.exists());
    }
}

#[test]
fn what_is_of_one_run_is_refused() {
    let line = "run --size 1m --set job.iodepth=1,2";
    for (flag, name) in [
        ("--report a.html", "--report"),
        ("--time-series a.csv", "--time-series"),
        ("--interval 1ms", "--interval"),
        ("--timeline a.html", "--timeline"),
        ("--requests", "--requests"),
    ] {
        let outcome = meldsim(&format!("{line} {flag}"));
        assert_eq!(outcome.code, 2, "{flag}");
        assert!(
            outcome.stderr.contains(&format!("{name}: is of one run")),
            "{}",
            outcome.stderr
        );
    }
    let outcome = meldsim("run --job - --set job.iodepth=1,2");
    assert!(
        outcome
            .stderr
            .contains("standard input can be read but once"),
        "{}",
        outcome.stderr
    );
    let outcome = meldsim("run --size 1m --set job.iodepth=1,2 --set job.iodepth=4");
    assert!(
        outcome.stderr.contains("job.iodepth is on two axes"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn seeds_are_an_axis_and_show_how_far_means_may_be_off() {
    let line =
        "run --quiet --profile melded-tlc-8x8 --rw randread --size 64m --runtime 1ms --bs 4k";
    for seeds in [
        "--seed 1,2,3",
        "--set seed=1,2,3",
        "--set job.randseed=1,2,3",
    ] {
        let text = stdout(&format!("{line} {seeds} --set job.iodepth=4,8"));
        assert!(text.contains("95 % confidence intervals"), "{text}");
        assert_eq!(
            text.lines().filter(|line| line.contains("+-")).count(),
            2,
            "{text}"
        );
        let rows =
            rows(&meldsim(&format!("{line} {seeds} --set job.iodepth=8 --format json")).stdout);
        let rates: std::collections::BTreeSet<String> = rows
            .iter()
            .map(|row| row["read_mean_us"].to_string())
            .collect();
        assert_eq!(rates.len(), 3, "{seeds}: {rates:?}");
        // A row's command gives its figures.
        for row in &rows {
            let again: Value = serde_json::from_str(&stdout(&line_quiet(row))).unwrap();
            assert_eq!(again["jobs"][0]["read"]["total_ios"], row["read_requests"]);
        }
    }
}

fn line_quiet(row: &Value) -> String {
    line(row).replace("run ", "run --quiet ")
}

#[test]
fn rows_say_whether_they_are_steady_and_whose_rates_they_have() {
    let file = text_file(
        "two.fio",
        "[global]\nsize=4m\nbs=64k\n[fast]\niodepth=32\nioengine=libaio\n[slow]\nstonewall\nsize=1m\n",
    );
    let line = format!(
        "run --profile melded-tlc-8x8 {} --set geometry.channels=4,8 --format json",
        file.path
    );
    let outcome = meldsim(&line);
    assert!(
        outcome.stderr.contains("they run one after the other"),
        "{}",
        outcome.stderr
    );
    let row = &rows(&outcome.stdout)[0];
    assert!(["yes", "no"].contains(&row["steady"].as_str().unwrap_or("yes")));
    // 80 requests over the time of both jobs, and not the sum of two rates.
    let single = stdout(&format!(
        "run --quiet --profile melded-tlc-8x8 {} --set geometry.channels=4 --format json",
        file.path
    ));
    let single: Value = serde_json::from_str(&single).unwrap();
    let us = |job: usize| single["jobs"][job]["job_runtime_us"].as_f64().unwrap();
    let expected = 80.0 * 1e6 / (us(0) + us(1));
    let found = row["read_iops"].as_f64().unwrap();
    assert!((found / expected - 1.0).abs() < 0.001, "{found} {expected}");
}

/// Rows of one volume of a trace are not those of another.
#[test]
fn a_sweep_does_not_go_on_with_rows_of_another_volume() {
    let trace: String = (0..40u64)
        .map(|n| {
            format!(
                "{},v{},{},Read,{},4096,0\n",
                128_166_372_000_000_000 + n * 10_000,
                n % 2,
                n % 2,
                n * 8192
            )
        })
        .collect();
    let file = text_file("t.csv", &trace);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("s.csv");
    let line = format!(
        "run --quiet --profile melded-tlc-8x8 --trace {} --trace-format msr --volume v0.0 --set geometry.channels=4,8 --out {}",
        file.path,
        out.display()
    );
    stdout(&line);
    let outcome = meldsim(&line.replace("v0.0", "v1.1"));
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("does not begin as the rows of this sweep do"),
        "{}",
        outcome.stderr
    );
}
