//! Experiments by name and their validation: forms of output, pages, verdicts, exit codes.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod support;

use serde_json::Value;
use support::{meldsim, stdout};

fn parsed(line: &str) -> Value {
    serde_json::from_str(&stdout(line)).unwrap()
}

#[test]
fn short_experiments_are_golden() {
    insta::assert_snapshot!("melding_window", stdout("experiment melding-window"));
    insta::assert_snapshot!("qlc_melding", stdout("experiment qlc-melding"));
    insta::assert_snapshot!("programming", stdout("experiment programming"));
    insta::assert_snapshot!("latency_windows", stdout("experiment latency-windows"));
}

#[test]
fn every_claim_names_its_basis_and_the_command_that_shows_it() {
    let document = parsed(
        "validate --quiet --experiment melded-latency --experiment melded-throughput \
         --experiment qlc-melding --experiment programming --format json",
    );
    let claims = document["claims"].as_array().unwrap();
    assert!(claims.len() >= 10);
    assert_eq!(document["claims_held"], claims.len());
    assert_eq!(document["holds"], true);
    for claim in claims {
        assert_eq!(
            claim["paper"],
            "\"A Case for Melded Pages\" (HotStorage'20)"
        );
        assert!(["P", "F", "A"].contains(&claim["basis"].as_str().unwrap()));
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
            "Seagate and Facebook on I/O determinism (Flash Memory Summit 2017), shown by meldsim experiment latency-windows",
        ]
    );
    assert!(text.contains("5 of 5 claims hold"), "{text}");
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
        text.contains("DOES NOT HOLD: [P] the gain on a whole"),
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
fn a_folder_that_is_not_there_is_named() {
    let output = meldsim("experiment programming --figures no-such-folder");
    assert_eq!(output.code, 2);
    let message = "--figures: cannot write \"no-such-folder/programming-1.svg\"";
    assert!(output.stderr.contains(message), "{}", output.stderr);
}
