//! What other devices would give: golden, in every form, in both loops, and with bad input.

use crate::support::{meldsim, stdout, text_file};
use serde_json::Value;

const TRACE: &str = "../workloads/two-scans.meld";
/// One of each kind.
const DEVICES: &str = "--profile melded-tlc-8x8 --profile melded-tlc-16x4 --profile melded-qlc-8x8 \
                       --profile flash-970pro --profile optane-900p";
const TPCC: &str = "../workloads/tpcc-small.trace";

fn parsed(line: &str) -> Value {
    serde_json::from_str(&stdout(&format!("what-if {line} --format json"))).unwrap()
}

fn outcomes(document: &Value) -> &Vec<Value> {
    document["outcomes"].as_array().unwrap()
}

#[test]
fn devices_of_each_kind_are_golden_and_repeat() {
    let text = stdout(&format!("what-if {TRACE} {DEVICES}"));
    assert_eq!(text, stdout(&format!("what-if {TRACE} {DEVICES}")));
    insta::assert_snapshot!("what_if", text);
}

#[test]
fn as_recorded_is_what_run_gives() {
    let document = parsed(&format!("{TPCC} --profile flash-970pro"));
    let [outcome] = &outcomes(&document)[..] else {
        panic!("this device cannot meld: {document}");
    };
    let line = format!("run --trace {TPCC} --profile flash-970pro --format json");
    let run: Value = serde_json::from_str(&stdout(&line)).unwrap();
    let read = &run["jobs"][0]["read"];
    assert_eq!(outcome["read"]["requests"], read["total_ios"]);
    assert_eq!(outcome["read"]["bytes"], read["io_bytes"]);
    let mean_us = outcome["read"]["latency"]["mean_us"].as_f64().unwrap();
    let mean_ns = read["lat_ns"]["mean"].as_f64().unwrap();
    assert!((mean_us * 1e3 - mean_ns).abs() < 1.0, "{mean_us} {mean_ns}");
}

#[test]
fn layouts_and_loops_change_the_result() {
    let open = parsed(&format!("{TRACE} --profile melded-tlc-8x8"));
    let mean = |document: &Value, index: usize| {
        let latency = &outcomes(document)[index]["read"]["latency"];
        latency["mean_us"].as_f64().unwrap()
    };
    let layouts: Vec<&str> = outcomes(&open)
        .iter()
        .map(|outcome| outcome["layout"].as_str().unwrap())
        .collect();
    assert_eq!(layouts, ["as-recorded", "all-melded", "none-melded"]);
    let distinct = [mean(&open, 0), mean(&open, 1), mean(&open, 2)];
    assert!(
        distinct[0] != distinct[1] && distinct[1] != distinct[2],
        "{distinct:?}"
    );

    let rate = |depth: u32| {
        let document = parsed(&format!(
            "{TRACE} --profile melded-tlc-8x8 --closed --iodepth {depth}"
        ));
        assert_eq!(document["replay"], "closed");
        let verdict = document["verdict"].as_str().unwrap().to_owned();
        assert!(
            verdict.contains("throughput") && verdict.contains("Simulated"),
            "{verdict}"
        );
        outcomes(&document)[0]["read"]["bandwidth_mib_s"]
            .as_f64()
            .unwrap()
    };
    let (one, many) = (rate(1), rate(32));
    assert!(many > one, "{one} {many}");
}

#[test]
fn the_best_outcome_is_the_one_that_is_named() {
    let document = parsed(&format!("{TPCC} {DEVICES}"));
    let mean = |outcome: &Value| outcome["read"]["latency"]["mean_us"].as_f64().unwrap();
    let least = outcomes(&document)
        .iter()
        .map(mean)
        .fold(f64::MAX, f64::min);
    let best = &outcomes(&document)[document["best"].as_u64().unwrap() as usize];
    assert_eq!(mean(best), least);
    let verdict = document["verdict"].as_str().unwrap();
    assert!(
        verdict.contains(best["profile"].as_str().unwrap()) && verdict.contains("Simulated"),
        "{verdict}"
    );
}

#[test]
fn every_form_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("p.html");
    let csv = stdout(&format!(
        "what-if {TRACE} {DEVICES} --format csv --report {}",
        page.display()
    ));
    let document = parsed(&format!("{TRACE} {DEVICES}"));
    assert_eq!(csv.lines().count(), 1 + outcomes(&document).len());
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(
        csv.lines().all(|line| line.split(',').count() == columns),
        "{csv}"
    );

    let html = std::fs::read_to_string(&page).unwrap();
    assert_eq!(html.matches("<figure>").count(), 8);
    let mut sentences = document["verdict"].as_str().unwrap().split(". ");
    assert!(sentences.all(|sentence| html.contains(sentence)), "{html}");
    for needless in ["<link", "http:", "https:", "src=", "NaN", "inf\""] {
        assert!(!html.contains(needless), "{needless}");
    }
}

#[test]
fn the_shipped_traces_say_when_melding_wins_and_why() {
    let say = |trace: &str| {
        let document = parsed(&format!(
            "../workloads/{trace}.meld.gz --profile melded-tlc-8x8"
        ));
        let melding = document["melding"][0].clone();
        let verdict = document["verdict"].as_str().unwrap().to_owned();
        assert!(
            verdict.starts_with(melding["verdict"].as_str().unwrap()),
            "{verdict}"
        );
        let number = |key: &str| melding[key].as_f64().unwrap();
        assert_eq!(number("crossover_bytes"), 1048576.0);
        assert!(verdict.contains("Melding pays from 1 MiB on."), "{verdict}");
        (verdict, number("gain"), number("random_percent"), document)
    };
    let (verdict, gain, random, _) = say("hdfs-scan");
    assert!(
        verdict.starts_with("Melding wins") && gain > 1.3,
        "{verdict}"
    );
    assert!(
        random < 10.0 && verdict.contains("one sense gives"),
        "{verdict}"
    );

    let (verdict, gain, random, document) = say("hdfs-lookup");
    assert!(
        verdict.starts_with("Melding loses") && gain < 0.9,
        "{verdict}"
    );
    assert!(
        random > 80.0 && verdict.contains("dies at a time when melded"),
        "{verdict}"
    );
    let groups = document["advice"][0]["groups"].as_array().unwrap();
    // The other directory was read 34 times.
    let hints: Vec<Option<&str>> = groups.iter().map(|group| group["hint"].as_str()).collect();
    assert_eq!(hints, [Some("random"), None]);
}

#[test]
fn a_cause_fits_its_numbers_few_reads_give_no_advice_and_names_differ() {
    let trace = "1000 0 223490 8 0\n2500000 0 4096 256 1\n3500000 0 8192 256 1\n";
    let trace = text_file("few.trace", trace);
    let twin = "base = \"melded-tlc-8x8\"\nname = \"melded-tlc-8x8\"\n";
    let twin = text_file("twin.toml", twin);
    let document = parsed(&format!(
        "{} --trace-format mqsim --profile melded-tlc-8x8 --profile {}",
        trace.path, twin.path
    ));
    let melding = &document["melding"][0];
    // One sense gives all of a wordline that is read, so it is not that they want few of its pages.
    assert!(melding["melded"]["pages_per_sensing"].as_f64().unwrap() > 2.5);
    let verdict = melding["verdict"].as_str().unwrap();
    assert!(
        verdict.contains("use fewer dies at a time when melded")
            && verdict.contains("2 reads: too few to rely on"),
        "{verdict}"
    );
    assert!(document["advice"][0]["groups"][0]["hint"].is_null());
    let names: Vec<&Value> = outcomes(&document)
        .iter()
        .map(|of| &of["profile"])
        .collect();
    assert_eq!(*names[0], "melded-tlc-8x8");
    assert_eq!(*names[3], format!("melded-tlc-8x8 ({})", twin.path));
}

/// Scans of one directory and lookups in another, melded as full blocks are.
fn two_directories(seed: u64, hints: [&str; 2]) -> String {
    let mut text =
        "# meld-trace 3\ntime_ns,volume,block,offset,length,op,pattern,client,directory\n"
            .to_owned();
    let (mut random, mut scanned) = (seed, 0u64);
    for step in 0..600u64 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (time, row) = (step * 2_000_000, (random >> 40) % 4096 * 16_384);
        // The scans are over before the next lookup.
        if step % 20 > 4 {
            text += &format!("{time},v,2,{row},32768,read,{},client,20\n", hints[1]);
        }
        if step % 20 == 0 {
            for _ in 0..16 {
                let at = scanned % (128 << 20);
                text += &format!("{time},v,1,{at},1048576,read,{},client,10\n", hints[0]);
                scanned += 1 << 20;
            }
        }
    }
    text
}

#[test]
fn advice_gives_what_it_says_on_another_part_of_the_workload() {
    let recorded = text_file("recorded.meld", &two_directories(1, ["sequential"; 2]));
    let document = parsed(&format!("{} --profile melded-tlc-8x8", recorded.path));
    let advice = &document["advice"][0];
    let hint = |at: usize| advice["groups"][at]["hint"].as_str().unwrap();
    // The trace names the scanned directory first.
    assert_eq!([hint(0), hint(1)], ["sequential", "random"]);

    let mean = |text: &str| {
        let file = text_file("other.meld", text);
        let document = parsed(&format!("{} --profile melded-tlc-8x8", file.path));
        let read = outcomes(&document)[0]["read"].clone();
        read["latency"]["mean_us"].as_f64().unwrap()
    };
    let gain = |seed| {
        mean(&two_directories(seed, ["sequential"; 2]))
            / mean(&two_directories(seed, [hint(0), hint(1)]))
    };
    let stated = advice["gain"].as_f64().unwrap();
    assert!(
        stated > 1.02 && (gain(1) / stated - 1.0).abs() < 1e-3,
        "{stated}"
    );
    let range = |at: usize| advice["gain_range"][at].as_f64().unwrap();
    for seed in [7, 8] {
        let gain = gain(seed);
        assert!((range(0)..=range(1)).contains(&gain), "{gain} {advice}");
    }
}

#[test]
fn bad_input_is_refused_with_a_remedy() {
    let bad = text_file("bad.meld", "# meld-trace 2\ntime_ns,volume\n");
    let broken = "# meld-trace 2\ntime_ns,volume,block,offset,length,op,pattern,client\n1,v,1,0,x,read,none,c\n";
    let broken = text_file("broken.meld", broken);
    for (line, words) in [
        ("/nowhere.meld".to_owned(), "TRACE: cannot read"),
        ("-".to_owned(), "TRACE: standard input"),
        (bad.path.clone(), "bad.meld:2: columns"),
        (broken.path.clone(), "broken.meld:3: length"),
        (format!("{TRACE} --profile nand"), "profile: \"nand\""),
        (format!("{TRACE} --closed --iodepth 0"), "--iodepth: is 0"),
        (format!("{TRACE} --iodepth 4"), "--closed"),
        (format!("{TRACE} --closed --speedup 2"), "--speedup"),
        (
            format!("{TRACE} --report /nowhere/x.html"),
            "--report: cannot write",
        ),
    ] {
        let outcome = meldsim(&format!("what-if {line}"));
        assert_eq!(outcome.code, 2, "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{line}: {}", outcome.stderr);
    }
}
