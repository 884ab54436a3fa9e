//! MQSim's files become profiles and jobs that run. The output names each key without a counterpart.

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
    // It is melded-tlc-8x8 in MQSim's words: what MQSim can say is the same.
    let shown = |profile: &str| {
        let text = stdout(&format!("profiles show {profile}"));
        let keys = [
            "channels",
            "dies_per_channel",
            "blocks_per_plane",
            "wordlines_per_block",
            "width_bits",
            "bytes_per_4kib",
            "page_allocation",
        ];
        let lines = text
            .lines()
            .map(|line| line.split('#').next().unwrap().trim().to_owned());
        let lines =
            lines.filter(|line| keys.iter().any(|key| line.starts_with(&format!("{key} ="))));
        lines.collect::<Vec<String>>()
    };
    let profile = format!("{out}/device.toml");
    assert_eq!(shown(&profile), shown("melded-tlc-8x8"));
    let line = format!("run --profile {profile} {out}/scenario-2.fio --runtime 5ms --format json");
    let result: Value = serde_json::from_str(&stdout(&line)).unwrap();
    let options = &result["jobs"][0]["job options"];
    assert_eq!(
        (&options["rw"], &options["iodepth"]),
        (&Value::from("randread"), &Value::from("16"))
    );
    assert!(result["jobs"][0]["read"]["total_ios"].as_u64() > Some(100));
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
