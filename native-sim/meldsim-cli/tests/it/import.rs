//! MQSim's files become profiles and jobs that run. The output names each key without a counterpart.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::{meldsim, stdout, text_file};
use serde_json::Value;

const MQSIM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads/mqsim");

#[test]
fn the_shipped_files_of_mqsim_are_imported_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mine").display().to_string();
    let said = stdout(&format!(
        "import mqsim {MQSIM}/ssdconfig.xml {MQSIM}/workload.xml --output {out}"
    ));
    for words in [
        format!("profile: {out}/device.toml\nscenario 1: {out}/scenario-1.fio\n"),
        format!("meldsim run --profile {out}/device.toml {out}/scenario-3.fio\n"),
        "--trace 'traces/tpcc-small.trace' --trace-format mqsim --time-unit ns --repeat 1"
            .to_owned(),
        "  Intensity = 32768: MQSim does not read it either\n".to_owned(),
    ] {
        assert!(said.contains(&words), "{words}: {said}");
    }
    let profile = format!("{out}/device.toml");
    let line = format!("run --profile {profile} {out}/scenario-2.fio --runtime 5ms --format json");
    let result: Value = serde_json::from_str(&stdout(&line)).unwrap();
    let options = &result["jobs"][0]["job options"];
    assert_eq!(
        (&options["rw"], &options["iodepth"]),
        (&Value::from("randread"), &Value::from("16"))
    );
    assert!(result["jobs"][0]["read"]["total_ios"].as_u64() > Some(100));
}

/// The settings of a profile that MQSim can say too.
fn settings(profile: &str) -> Vec<String> {
    let keys = [
        "channels",
        "dies_per_channel",
        "planes_per_die",
        "blocks_per_plane",
        "wordlines_per_block",
        "page_size",
        "width_bits",
        "bytes_per_4kib",
        "page_allocation",
    ];
    let text = stdout(&format!("profiles show {profile}"));
    let lines = text.lines().map(|line| line.split('#').next().unwrap());
    let lines = lines.filter(|line| keys.iter().any(|key| line.starts_with(&format!("{key} ="))));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// What stands in for either program keeps what it is given; the second ends the comparison.
#[test]
fn compare_gives_both_programs_the_same_device() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let given = at.display();
    let script = |name: &str, text: String| {
        let path = at.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
        path
    };
    let count = "echo '<Request_Count>1</Request_Count>' >workload_scenario_1.xml";
    let theirs = script("theirs", format!("cp $2 $4 {given}; {count}"));
    let ours = script("ours", format!("echo \"$@\" >{given}/line; exit 1"));
    let compare = format!("{MQSIM}/compare");
    let ran = Command::new(compare).args([theirs, ours]).output().unwrap();
    let line = std::fs::read_to_string(at.join("line")).unwrap_or_else(|_| panic!("{ran:?}"));
    let (_, named) = line.split_once("--profile ").unwrap();
    let device = named.split_whitespace().next().unwrap();
    stdout(&format!(
        "import mqsim {given}/ssdconfig.xml {given}/workload.xml --output {given}"
    ));
    let imported = settings(&format!("{given}/device.toml"));
    assert_eq!(imported.len(), 9);
    assert_eq!(imported, settings(device));
    let flow = std::fs::read_to_string(at.join("workload.xml")).unwrap();
    for (key, ids) in [("Channel", &imported[0]), ("Chip", &imported[1])] {
        let (_, count) = ids.split_once(" = ").unwrap();
        let ids: Vec<String> = (0..count.parse().unwrap())
            .map(|n: u32| n.to_string())
            .collect();
        let all = format!("<{key}_IDs>{}</{key}_IDs>", ids.join(","));
        assert!(flow.contains(&all), "{all}: {flow}");
    }
}

/// MQSim's cache of 2 MiB has entries of 8 bytes: twice 26 bits and 8 sectors. Here they have 5 and 4 for their tag.
#[test]
fn a_cached_mapping_has_as_many_entries() {
    let config = std::fs::read_to_string(format!("{MQSIM}/ssdconfig.xml")).unwrap();
    let cached = config.replace("<Ideal_Mapping_Table>true", "<Ideal_Mapping_Table>false");
    let file = text_file("c.xml", &cached);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display();
    stdout(&format!(
        "import mqsim {} {MQSIM}/workload.xml --output {out}",
        file.path
    ));
    let text = std::fs::read_to_string(folder.path().join("device.toml")).unwrap();
    let entries = (2 << 20) / 8;
    for line in [
        "map = \"cached\"\n".to_owned(),
        format!("map_cache = \"{}B\"\n", entries * 9),
        "map_line = 1\n".to_owned(),
        "map_entry = \"5B\"\n".to_owned(),
    ] {
        assert!(text.contains(&line), "{line}: {text}");
    }
}

#[test]
fn bad_files_of_mqsim_are_refused_with_place_and_remedy() {
    let config = std::fs::read_to_string(format!("{MQSIM}/ssdconfig.xml")).unwrap();
    let changed = |from: &str, to: &str| config.replacen(from, to, 1);
    for (text, words) in [
        ("nothing".to_owned(), "is no XML"),
        ("<a><b></a>".to_owned(), "is no XML"),
        (
            "<Other/>".to_owned(),
            "is <Other>, not <Execution_Parameter_Set>; give",
        ),
        (
            changed("<Flash_Channel_Count>8", "<Flash_Channel_Count>eight"),
            "c.xml:44: Flash_Channel_Count: is \"eight\"; use a number from 1",
        ),
        (
            changed("<Page_Capacity>4096", "<Page_Capacity>5000"),
            "geometry.page_size",
        ),
        (
            changed("<Flash_Technology>TLC", "<Flash_Technology>PLC"),
            "Flash_Technology: is \"PLC\"; use SLC, MLC, TLC",
        ),
        (
            changed(
                "<GC_Block_Selection_Policy>RGA",
                "<GC_Block_Selection_Policy>X",
            ),
            "use GREEDY, RGA",
        ),
    ] {
        let file = text_file("c.xml", &text);
        let folder = tempfile::tempdir().unwrap();
        let outcome = meldsim(&format!(
            "import mqsim {} --output {}",
            file.path,
            folder.path().display()
        ));
        assert_eq!(outcome.code, 2, "{words}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(words),
            "{words}: {}",
            outcome.stderr
        );
        assert!(!folder.path().join("device.toml").exists(), "{words}");
    }
    let workload = std::fs::read_to_string(format!("{MQSIM}/workload.xml")).unwrap();
    let workload = workload.replacen("QUEUE_DEPTH", "MAGIC", 1);
    let file = text_file("w.xml", &workload);
    let outcome = meldsim(&format!(
        "import mqsim {MQSIM}/ssdconfig.xml {} --output {}.d",
        file.path, file.path
    ));
    assert!(
        outcome.stderr.contains(
            "w.xml:13: Synthetic_Generator_Type: is \"MAGIC\"; use QUEUE_DEPTH, BANDWIDTH"
        ),
        "{}",
        outcome.stderr
    );
}

#[test]
fn the_page_names_every_key() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads/mqsim/README.md");
    let page = std::fs::read_to_string(page).unwrap();
    for file in ["ssdconfig.xml", "workload.xml"] {
        let text = std::fs::read_to_string(format!("{MQSIM}/{file}")).unwrap();
        let keys = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix('<')?.split_once(">"));
        for (key, _) in keys.filter(|(key, rest)| rest.ends_with(&format!("</{key}>"))) {
            assert!(page.contains(&format!("`{key}`")), "{key}");
        }
    }
}
