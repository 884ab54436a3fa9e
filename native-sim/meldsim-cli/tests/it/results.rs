//! Results: shapes, determinism, golden outputs.

use crate::support::{self, BINARY, meldsim, stdout};
use serde_json::Value;

fn parsed(line: &str) -> Value {
    serde_json::from_str(&stdout(line)).unwrap()
}

#[test]
fn one_throughput_cell_as_json() {
    let document = parsed(
        "experiment melded-throughput --channels 4 --dies 16 --page-size 8KiB --bus 1600x16 --format json",
    );
    let cells = document["sheets"]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 1);
    let cell = &cells[0];
    for (key, value) in [
        ("channels", 4),
        ("dies_per_channel", 16),
        ("page_bytes", 8192),
    ] {
        assert_eq!(cell[key], value, "{key}");
    }
    assert_eq!(cell["bus"], "1600x16");
    for key in ["normal_mib_s", "melded_mib_s"] {
        let rate = cell[key].as_f64().unwrap();
        assert!(
            rate > 1000.0 && rate.fract() != 0.0,
            "{key} is whole or missing: {rate}"
        );
    }
    // Nothing is published of this device, and so nothing is claimed.
    assert_eq!(cell["normal_published_mib_s"], Value::Null);
    assert_eq!(document["claims"], serde_json::json!([]));
    assert_eq!(document["kind"], "simulated");
}

#[test]
fn latency_cells_as_json() {
    let document = parsed("experiment melded-latency --request-size 4KiB,2MiB --format json");
    let cells = document["sheets"]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    assert_eq!(cells[0]["request_bytes"], 4096);
    assert_eq!(cells[0]["normal_us"].as_f64().unwrap().trunc(), 63.0);
    assert_eq!(cells[0]["melded_us"].as_f64().unwrap().trunc(), 183.0);
    assert_eq!(cells[1]["melded_published_us"], 636);
    assert_eq!(
        document["command"],
        "meldsim experiment melded-latency --request-size 4KiB,2MiB --format json"
    );
}

#[test]
fn the_published_tables_hold() {
    let latency = stdout("experiment melded-latency");
    assert!(
        latency.contains("published: 32 cells in whole us; simulated: 0 of 32 off"),
        "{latency}"
    );
    let throughput = stdout("experiment melded-throughput");
    assert!(
        throughput.contains("published: 48 cells in MiB/s; simulated: 0 of 48 off"),
        "{throughput}"
    );
    for text in [&latency, &throughput] {
        assert!(!text.contains("DOES NOT HOLD"), "{text}");
    }
    insta::assert_snapshot!("melded_latency", latency);
    insta::assert_snapshot!("melded_throughput", throughput);
}

#[test]
fn a_claim_that_does_not_hold_is_said_and_exits_0() {
    let profile =
        stdout("profiles show melded-tlc-8x8").replace("\"commands-first\"", "\"data-first\"");
    let file = support::text_file("data-first.toml", &profile);
    let text = stdout(&format!(
        "experiment melded-latency --profile {}",
        file.path
    ));
    assert!(
        text.contains("DOES NOT HOLD: [fitted] latency of one burst"),
        "{text}"
    );
}

#[test]
fn runs_are_golden_and_repeat() {
    for (name, line) in [
        (
            "run_randread",
            "run --rw randread --bs 4k --iodepth 16 --size 8m --seed 3",
        ),
        (
            "run_randrw",
            "run --rw randrw --bs 16k --iodepth 4 --size 8m --rwmixread 70",
        ),
        (
            "run_read_json",
            "run --profile melded-tlc-8x8 --bs 1m --iodepth 4 --size 32m --read-pattern sequential --format json",
        ),
    ] {
        let first = stdout(line);
        assert_eq!(first, stdout(line), "{line}");
        insta::assert_snapshot!(name, first);
    }
    let other = stdout("run --rw randread --bs 4k --iodepth 16 --size 8m --seed 4");
    assert_ne!(
        other,
        stdout("run --rw randread --bs 4k --iodepth 16 --size 8m --seed 3")
    );
}

#[test]
fn every_sample_job_file_runs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "fio") {
            continue;
        }
        let document = parsed(&format!("run --format json --job {}", path.display()));
        for job in document["jobs"].as_array().unwrap() {
            let done = |direction: &str| job[direction]["total_ios"].as_u64().unwrap();
            assert!(
                done("read") + done("write") > 0,
                "{}: {job}",
                path.display()
            );
        }
        count += 1;
    }
    assert!(count >= 4);
}

#[test]
fn melding_speeds_a_scan_up() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads/melded-scan.fio");
    let document = parsed(&format!(
        "run --profile melded-tlc-8x8 --format json --job {path}"
    ));
    let rate = |job: usize| document["jobs"][job]["read"]["bw_bytes"].as_f64().unwrap();
    assert!(rate(1) / rate(0) > 1.3, "{} {}", rate(0), rate(1));
}

#[test]
fn a_short_run_has_finite_rates_and_all_requests() {
    let document = parsed("run --rw randread --size 12k --iodepth 2 --format json");
    let read = &document["jobs"][0]["read"];
    assert_eq!(read["total_ios"], 3);
    assert!(read["iops"].as_f64().unwrap().is_finite());
    assert!(read["clat_ns"]["percentile"]["99.999000"].as_u64().unwrap() > 0);
}

#[test]
fn a_runtime_ends_a_run() {
    let document = parsed("run --rw randread --size 1g --iodepth 8 --runtime 2ms --format json");
    let duration_us = document["jobs"][0]["job_runtime_us"].as_f64().unwrap();
    assert!((2000.0..2600.0).contains(&duration_us), "{duration_us}");
}

#[test]
fn a_run_says_what_flash_did_in_it_and_how_full_the_device_is() {
    let line = "run --profile melded-tlc-8x8 --rw randwrite --bs 16k --iodepth 8 --size 64g --runtime 30ms \
                --precondition fill=50,random=25";
    let document = parsed(&format!("{line} --format json"));
    let flash = |key: &str| document["flash"][key].as_u64().unwrap();
    let programmed = flash("host_pages_programmed");
    assert!(programmed > 0 && flash("host_pages_read") == 0);
    let all = programmed + flash("gc_pages_programmed") + flash("padded_pages");
    let bytes = document["flash"]["bytes"]["programmed"].as_u64().unwrap();
    let written = document["jobs"][0]["write"]["io_bytes"].as_u64().unwrap();
    assert_eq!(bytes, all * 4096);
    assert_eq!(
        document["flash"]["write_amplification"].as_f64().unwrap(),
        bytes as f64 / written as f64
    );
    let fill = |key: &str| document["fill"][key].as_u64().unwrap();
    // Half of 64 GiB and what the run wrote besides, in pages of 4 KiB.
    let pages = 8 << 20;
    assert!((pages..pages + 100_000).contains(&fill("mapped_pages")));
    assert_eq!(fill("overwritten_pages"), pages / 4);
    let text = stdout(line);
    for said in [
        format!("writes: {programmed} pages for the host"),
        format!(
            "{} of {} pages",
            fill("mapped_pages"),
            fill("capacity_pages")
        ),
        format!(
            "25.0 % of that was overwritten at random before, {} pages",
            pages / 4
        ),
    ] {
        assert!(text.contains(&said), "{said}: {text}");
    }
    // What is preloaded was programmed, and padded, before the run.
    let reads = parsed(
        "run --profile melded-tlc-8x8 --bs 4k --size 20k --rw randread --read-pattern sequential --format json",
    );
    let flash = &reads["flash"];
    assert_eq!(
        (&flash["host_pages_read"], &flash["padded_pages"]),
        (&5.into(), &0.into())
    );
    assert_eq!(flash["write_amplification"], Value::Null);
    assert_eq!(reads["fill"]["mapped_pages"], 5);
    let xpoint = parsed("run --profile optane-900p --size 64k --format json");
    assert!(xpoint.get("flash").is_none() && xpoint.get("fill").is_none());
}

#[test]
fn profiles_are_listed_shown_and_read_back() {
    let list = stdout("profiles");
    assert!(
        list.contains("melded-tlc-8x8") && list.contains("melded-tlc-16x4"),
        "{list}"
    );
    let names = parsed("profiles --format json");
    assert_eq!(names["profiles"].as_array().unwrap().len(), 21);
    for name in ["melded-tlc-8x8", "melded-tlc-16x4"] {
        let shown = stdout(&format!("profiles show {name}"));
        let file = support::text_file("copy.toml", &shown);
        assert!(
            shown.contains("# [P]"),
            "the sources of the numbers are shown"
        );
        let normalised = stdout(&format!("profiles show {}", file.path));
        let again = support::text_file("again.toml", &normalised);
        assert_eq!(stdout(&format!("profiles show {}", again.path)), normalised);
        assert!(stdout(&format!("profiles check {}", file.path)).ends_with("good\n"));
    }
}

#[test]
fn bench_measures_and_says_so() {
    let document = parsed("bench --requests 20000 --quick --format json");
    assert_eq!(document["kind"], "measured");
    let measurements = document["measurements"].as_array().unwrap();
    assert!(measurements.len() >= 5);
    for figure in measurements {
        let number = |key: &str| figure[key].as_f64().unwrap();
        let (value, bar) = (number("value"), number("bar"));
        assert!(value > 0.0 && bar > 0.0, "{figure}");
        let passes = match figure["bar_is"].as_str().unwrap() {
            "at least" => value >= bar,
            _ => value <= bar,
        };
        assert_eq!(figure["passes"], passes, "{figure}");
    }
    let text = stdout("bench --requests 20000 --quick");
    assert!(text.contains("passes") || text.contains("FAILS"), "{text}");
}

#[test]
fn help_is_there_and_exits_0() {
    for line in [
        "--help",
        "run --help",
        "experiment melded-latency --help",
        "profiles --help",
        "bench --help",
    ] {
        let outcome = meldsim(line);
        assert_eq!(outcome.code, 0, "{line}");
        assert!(
            outcome.stdout.contains("Usage: meldsim"),
            "{line}: {}",
            outcome.stdout
        );
    }
    assert!(meldsim("--version").stdout.starts_with("meldsim 0."));
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let mut child = std::process::Command::new(BINARY)
        .args(["experiment", "melded-latency", "--request-size", "4KiB"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
