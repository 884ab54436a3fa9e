//! Experiments by name and their validation: forms of output, pages, verdicts, exit codes.

use crate::support::{self, meldsim, stdout};
use serde_json::Value;

fn parsed(line: &str) -> Value {
    serde_json::from_str(&stdout(line)).unwrap()
}

#[test]
fn short_experiments_are_golden() {
    insta::assert_snapshot!("melding_window", stdout("experiment melding-window"));
    insta::assert_snapshot!("qlc_melding", stdout("experiment qlc-melding"));
    insta::assert_snapshot!("programming", stdout("experiment programming"));
    insta::assert_snapshot!("latency_windows", stdout("experiment latency-windows"));
    insta::assert_snapshot!("end_to_end", stdout("experiment end-to-end"));
}

#[test]
fn measured_runs_are_shown_beside_the_curve() {
    let scan = |dilation, share, rate| {
        format!(
            "{{\"dilation\": {dilation}, \"readerWaitShare\": {share}, \"wallMibPerSecond\": {rate}}}"
        )
    };
    let run = format!(
        "{{\"result\": {{\"normal\": {}, \"melded\": {}, \"undilated\": {{\"normal\": {}, \"melded\": {}}}}}}}",
        scan(170.0, 0.96, 32.0),
        scan(170.0, 0.94, 44.8),
        scan(1.0, 0.03, 500.0),
        scan(1.0, 0.02, 510.0),
    );
    let file = support::text_file("demo.json", &run);
    let folder = tempfile::tempdir().unwrap();
    let csv = stdout(&format!(
        "experiment end-to-end --format csv --measured {} --figures {}",
        file.path,
        folder.path().display()
    ));
    for row in [
        "\"HDFS, dilation 1, measured\",3,1.02\n",
        "\"HDFS, dilation 170, measured\",96,1.4\n",
    ] {
        assert!(csv.contains(row), "{row} is missing: {csv}");
    }
    let figure = std::fs::read_to_string(folder.path().join("end-to-end-1.svg")).unwrap();
    assert!(figure.contains("HDFS, dilation 170, measured: 96, 1.4"));

    let other = support::text_file("other.json", "{\"result\": {}}");
    let refused = meldsim(&format!("experiment end-to-end --measured {}", other.path));
    assert_eq!(refused.code, 2);
    for part in ["other.json", "demo wrote with --json"] {
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
}

#[test]
fn every_claim_names_its_kind_and_the_command_that_shows_it() {
    let document = parsed(
        "validate --quiet --experiment melded-latency --experiment melded-throughput \
         --experiment qlc-melding --experiment programming --format json",
    );
    let claims = document["claims"].as_array().unwrap();
    assert!(claims.len() >= 10);
    assert_eq!(document["claims_held"], claims.len());
    assert_eq!(document["holds"], true);
    let by_kind = document["by_kind"].as_array().unwrap();
    let counted = by_kind.iter().map(|count| count["held"].as_u64().unwrap());
    assert_eq!(counted.sum::<u64>(), claims.len() as u64);
    for claim in claims {
        assert_eq!(
            claim["paper"],
            "\"A Case for Melded Pages\" (HotStorage'20)"
        );
        let kind = claim["kind"].as_str().unwrap();
        assert!(["input", "construction", "fitted", "predicted"].contains(&kind));
        let needs_change = ["fitted", "predicted"].contains(&kind);
        assert_eq!(claim.get("fails_with").is_some(), needs_change, "{claim}");
        assert_ne!(claim["rests_on"], "");
        let command = claim["command"].as_str().unwrap();
        assert!(command.starts_with("meldsim experiment "), "{command}");
        let experiment = claim["id"].as_str().unwrap().split('.').next().unwrap();
        assert!(command.contains(experiment), "{claim}");
    }
}

#[test]
fn the_experiments_that_are_validated_can_be_chosen() {
    let text = stdout("validate --quiet --experiment latency-windows --experiment qlc-melding");
    let headings: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("shown by"))
        .collect();
    assert_eq!(
        headings,
        [
            "\"A Case for Melded Pages\" (HotStorage'20), shown by meldsim experiment qlc-melding",
            "NVM Express Base Specification 1.4, predictable latency mode, shown by meldsim experiment latency-windows",
        ]
    );
    assert!(text.contains("5 of 5 claims hold"), "{text}");
    assert!(
        text.contains("construction: 4 of 4 hold; input: 1 of 1 holds"),
        "{text}"
    );
}

#[test]
fn claims_fail_on_the_device_that_they_name() {
    let document = parsed(
        "validate --quiet --controls --experiment melded-latency --experiment melded-throughput \
         --experiment melding-window --format json",
    );
    assert_eq!(document["all_fail"], true, "{document}");
    let controls = document["controls"].as_array().unwrap();
    assert_eq!(controls.len(), 8);
    for control in controls {
        assert_ne!(control["measured"], control["measured_then"], "{control}");
    }
}

#[test]
fn constants_are_varied_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let line = "validate --quiet --sensitivity --experiment melded-throughput --format json";
    let document = parsed(&format!("{line} --report {}", path.display()));
    let effects = document["effects"].as_array().unwrap();
    let of = |change: &str| {
        let found = effects.iter().find(|effect| effect["change"] == change);
        let claims = &found.unwrap()["claims"];
        let held_back = claims.as_array().unwrap().iter();
        held_back
            .clone()
            .find(|claim| claim[0] == "melded-throughput.held-back")
            .unwrap()[1]
            .clone()
    };
    assert_eq!(of("melded-tlc-8x8: bus.bytes_per_4kib +20 %"), "turns");
    assert_eq!(of("melded-tlc-8x8: timing.program +20 %"), "same");
    // What is published is not varied.
    assert!(
        effects
            .iter()
            .all(|effect| effect["constant"] != "timing.read")
    );
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("<svg") && page.contains("bus.bytes_per_4kib"));
}

#[test]
fn an_unknown_experiment_is_refused() {
    let outcome = meldsim("validate --experiment optane");
    assert_eq!(outcome.code, 2);
    for part in ["'optane' for '--experiment <NAME>'", "optane-contract"] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
}

#[test]
fn sheets_come_as_csv_and_pages_with_charts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let csv = stdout(&format!(
        "experiment qlc-melding --format csv --report {}",
        path.display()
    ));
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("request_bytes,normal_us,melded_us,gain"));
    assert_eq!(lines.count(), 12);
    let page = std::fs::read_to_string(&path).unwrap();
    for part in ["<svg", "Extrapolated", "[A]", "holds", "melded-qlc-8x8"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<link") && !page.contains("http"));
    let csv = stdout("experiment melded-latency --channels 4 --request-size 4KiB --format csv");
    assert_eq!(csv.lines().nth(1).unwrap().split(',').next(), Some("4"));
}

#[test]
fn a_page_that_cannot_be_written_is_named() {
    let outcome = meldsim("experiment qlc-melding --report /nowhere/page.html");
    assert_ne!(outcome.code, 0);
    assert!(
        outcome.stderr.contains("/nowhere/page.html"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_claim_of_another_device_may_fail_and_is_shown_as_failing() {
    let profile = stdout("profiles show melded-tlc-8x8").replace("\"166us\"", "\"240us\"");
    let file = support::text_file("slow-melding.toml", &profile);
    let text = stdout(&format!(
        "experiment melding-window --profile {}",
        file.path
    ));
    assert!(
        text.contains("DOES NOT HOLD: [fitted] the gain on a whole"),
        "{text}"
    );
}

#[test]
fn each_chart_is_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    stdout(&format!("experiment melding-window --figures {path}"));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    for name in ["melding-window-1.svg", "melding-window-2.svg"] {
        let svg = read(name);
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(svg.contains("--paper") && svg.ends_with("</svg>\n"));
    }
    assert!(read("melding-window-1.svg").contains("Gain of melding"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_folder_that_is_not_there_is_made_and_one_that_cannot_be_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("figures/of");
    stdout(&format!(
        "experiment programming --figures {}",
        path.display()
    ));
    assert!(path.join("programming-1.svg").exists());
    let file = path.join("programming-1.svg/x");
    let output = meldsim(&format!(
        "experiment programming --figures {}",
        file.display()
    ));
    assert_eq!(output.code, 2);
    assert!(
        output.stderr.contains("--figures: cannot "),
        "{}",
        output.stderr
    );
}
