//! Every kind of page in a browser, wide and narrow, light and dark, in both views of its charts: nothing is cut, nothing
//! overlaps, text has contrast, series are told apart without colour. The screenshots are in `target/pages` of the project.

use crate::support::{BINARY, browser, release_binary};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const PROBE: &str = include_str!("../support/probe.js");
const WIDTHS: [u32; 2] = [1280, 390];
const SCHEMES: [&str; 2] = ["light", "dark"];

/// A name for each page, and the command that makes it: what is quick in a test build.
const PAGES: [(&str, &str); 8] = [
    ("run-jobs", "run --job ../workloads/mixed.fio"),
    ("run-trace", "run --trace ../workloads/tpcc-small.trace"),
    (
        "what-if",
        "what-if ../workloads/two-scans.meld --profile melded-tlc-8x8 --profile optane-900p",
    ),
    ("suite", "report tests/records/suite"),
    ("demo", "report tests/records/demo.json"),
    ("demo-control", "report tests/records/demo-control.json"),
    ("qlc-melding", "experiment qlc-melding"),
    ("melded-throughput", "experiment melded-throughput"),
];
const LONGER_PAGES: [(&str, &str); 15] = [
    (
        "run-collection",
        "run --rw randwrite --iodepth 16 --size 100g --precondition fill=100,random=75 --runtime 300ms",
    ),
    (
        "run-optane",
        "run --profile optane-900p --rw randrw --iodepth 16 --size 64m",
    ),
    (
        "what-if-closed",
        "what-if ../workloads/tpcc-small.trace --closed",
    ),
    ("melded-latency", "experiment melded-latency"),
    ("melding-window", "experiment melding-window"),
    ("end-to-end", "experiment end-to-end"),
    ("palloc", "experiment palloc --quick"),
    ("optane-contract", "experiment optane-contract --quick"),
    (
        "interleave-detection",
        "experiment interleave-detection --quick",
    ),
    ("noisy-neighbor", "experiment noisy-neighbor --quick"),
    ("firmware-scaling", "experiment firmware-scaling --quick"),
    ("firmware-threads", "experiment firmware-threads --quick"),
    (
        "firmware-steady-state",
        "experiment firmware-steady-state --quick",
    ),
    ("firmware-flash", "experiment firmware-flash --quick"),
    ("firmware-power", "experiment firmware-power --quick"),
];

/// The page that a command writes.
fn page(binary: &Path, folder: &Path, name: &str, command: &str) -> PathBuf {
    let page = folder.join(format!("{name}.html"));
    let output = Command::new(binary)
        .args(command.split_whitespace())
        .arg(if command.starts_with("report") {
            "--html"
        } else {
            "--report"
        })
        .arg(&page)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {errors}");
    page
}

fn problems(found: &Value) -> Vec<&str> {
    let problems = found["problems"].as_array().unwrap();
    problems
        .iter()
        .map(|problem| problem.as_str().unwrap())
        .collect()
}

#[test]
fn pages_are_readable() {
    are_readable(Path::new(BINARY), &PAGES);
}

/// Charts of a page: the file of each is as it is seen, and has its values.
#[test]
fn charts_are_saved() {
    let Some(mut browser) = browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let page = page(
        Path::new(BINARY),
        folder.path(),
        "page",
        "experiment qlc-melding",
    );
    browser.open(&page, 1280, "light");
    let saved = browser.evaluate(
        "(async () => {
            const saved = [];
            URL.createObjectURL = (blob) => { saved.push(blob); return '#'; };
            document.querySelectorAll('figure')[0].querySelectorAll('.files button').forEach((button) => button.click());
            return Promise.all(saved.map((blob) => blob.text()));
        })()",
    );
    let (svg, csv) = (saved[0].as_str().unwrap(), saved[1].as_str().unwrap());
    assert!(svg.contains("xmlns=\"http://www.w3.org/2000/svg\"") && svg.contains("--melded:"));
    assert!(
        csv.starts_with("series,") && csv.lines().count() > 2,
        "{csv}"
    );
}

#[test]
fn longer_pages_are_readable() {
    are_readable(release_binary(), &LONGER_PAGES);
}

fn are_readable(binary: &Path, pages: &[(&str, &str)]) {
    let Some(mut browser) = browser::start() else {
        return;
    };
    let (folder, screenshots) = (tempfile::tempdir().unwrap(), browser::screenshots());
    let mut found = Vec::new();
    for (name, command) in pages {
        let page = page(binary, folder.path(), name, command);
        for width in WIDTHS {
            for scheme in SCHEMES {
                browser.open(&page, width, scheme);
                browser.screenshot(&screenshots.join(format!("{name}-{width}-{scheme}.png")));
                let first = browser.evaluate(PROBE);
                // All that is folded, and the other view of the charts that have one.
                browser.evaluate(
                    "document.querySelectorAll('.toggle input').forEach((box) => box.click())",
                );
                browser.evaluate(
                    "document.querySelectorAll('details').forEach((part) => { part.open = true; })",
                );
                browser.fit(width);
                let other = browser.evaluate(PROBE);
                assert_eq!(first["width"], width);
                assert!(first["charts"].as_u64() > Some(0), "{name}");
                assert!(first["texts"].as_u64() > Some(50), "{name}");
                let all = problems(&first).into_iter().chain(problems(&other));
                let errors = browser.errors.iter().map(String::as_str);
                found.extend(
                    all.chain(errors)
                        .map(|problem| format!("{name} {width} {scheme}: {problem}")),
                );
            }
        }
    }
    found.dedup();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_button_copies_the_command() {
    let Some(mut browser) = browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let page = page(Path::new(BINARY), folder.path(), "page", "run --size 1m");
    browser.open(&page, 390, "light");
    // A headless page has no clipboard of its own: what is written to it is kept.
    browser.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
    browser.evaluate("document.querySelector('.command button').click()");
    let copied = browser.evaluate("window.copied");
    assert!(
        copied
            .as_str()
            .unwrap()
            .starts_with("meldsim run --size 1m --report"),
        "{copied}"
    );
    assert_eq!(
        browser.evaluate("document.querySelector('.command button').textContent"),
        "Copied"
    );
}

#[test]
fn a_broken_page_is_found_out() {
    let Some(mut browser) = browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("broken.html");
    let wide = "wide ".repeat(100);
    let broken = format!(
        "<!DOCTYPE html><main><section><p style=\"font-size:8px\">small</p>\
         <p style=\"color:#999\">pale</p>\
         <p style=\"margin-bottom:-40px\">one</p><p>on another</p>\
         <svg class=\"chart\" viewBox=\"0 0 90 20\" style=\"width:90px\"><text x=\"80\" y=\"12\">clipped</text></svg>\
         <svg class=\"chart\" viewBox=\"0 0 90 20\" style=\"width:90px\">\
         <g class=\"series\"><polyline class=\"line\" stroke=\"#0072b2\" points=\"0,5 40,5\"/></g>\
         <g class=\"series\"><polyline class=\"line\" stroke=\"#f0e442\" points=\"0,9 40,9\"/></g></svg>\
         <svg class=\"chart\" width=\"90\" height=\"9\" style=\"overflow:visible\">\
         <polyline points=\"0,0 900,400\"/></svg>\
         <div class=\"scroll\" style=\"overflow-x:auto\"><p style=\"width:900px\">table</p></div>\
         <p style=\"white-space:nowrap\">{wide}</p></section></main><script>console.error('oh'); nosuch();</script>"
    );
    std::fs::write(&page, broken).unwrap();
    browser.open(&page, 390, "light");
    let found = browser.evaluate(PROBE);
    let found = problems(&found);
    for expected in [
        "text of 8.0 px: small",
        "contrast of 2.8",
        "texts overlap: on another / one",
        "text is cut: clipped",
        "chart 1 has no marks",
        "chart 2: neighbours differ in colour only",
        "chart 2: a light colour has no outline",
        "chart 3 draws outside of its box",
        "text leaves its section: wide",
        "a table scrolls and does not say so",
        "the page does not say .verdict",
        "the page is wider than the window",
    ] {
        assert!(
            found.iter().any(|problem| problem.starts_with(expected)),
            "{expected}: {found:#?}"
        );
    }
    assert!(
        browser.errors.iter().any(|error| error.contains("oh")),
        "{:?}",
        browser.errors
    );
    assert!(
        browser.errors.iter().any(|error| error.contains("nosuch")),
        "{:?}",
        browser.errors
    );
}

#[test]
fn the_same_date_gives_the_same_page() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let run = |date: Option<&str>| {
        let mut command = Command::new(BINARY);
        command.args(["run", "--size", "1m", "--report"]).arg(&file);
        match date {
            Some(date) => command.env("SOURCE_DATE_EPOCH", date),
            None => command.env_remove("SOURCE_DATE_EPOCH"),
        };
        let output = command.output().unwrap();
        (output, std::fs::read_to_string(&file).unwrap_or_default())
    };
    let (_, page) = run(Some("1700000000"));
    assert!(
        page.contains("<dt>date</dt><dd>2023-11-14T22:13:20Z</dd>"),
        "{page}"
    );
    assert_eq!(run(Some("1700000000")).1, page);
    let (_, today) = run(None);
    let line = |page: &str| page.lines().position(|line| line.contains("<dt>date</dt>"));
    let rest = |page: &str| {
        let lines = page.lines().filter(|line| !line.contains("<dt>date</dt>"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(line(&page), line(&today));
    assert_eq!(rest(&page), rest(&today), "only the date differs");
    for bad in ["yesterday", "-1", "999999999999"] {
        let (output, _) = run(Some(bad));
        assert_eq!(output.status.code(), Some(2), "{bad}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("SOURCE_DATE_EPOCH"), "{message}");
    }
}
