//! Every JSON output has the form that its published schema says.

use std::path::Path;

use crate::support::{release_binary, schema, stdout, text_file};
use serde_json::{Value, json};

#[test]
fn outputs_are_as_their_schemas_say() {
    let job = text_file(
        "all.fio",
        "[global]\nrw=randrw\nsize=1m\nnorandommap\ntime_based\nruntime=5ms\niodepth=8\n\
         [search]\nlatency_target=200us\nlatency_window=500us\nlatency_percentile=90\n\
         [steady]\nss=iops:90%\nss_dur=2ms\nss_interval=1ms\n[slow]\nlatency_target=1us\nlatency_window=1ms\n",
    );
    let workloads = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads");
    for line in [
        format!("run --job {} --interval 1ms --format json", job.path),
        "run --profile optane-900p --size 1m --format json".to_owned(),
        "run --size 1m --set job.iodepth=1,0 --set profile=pm9a3,none --quiet --format json"
            .to_owned(),
        "run --set host.path=io_uring --size 1m --format json".to_owned(),
        format!("run --trace {workloads}/two-scans.meld --format json"),
        format!("what-if {workloads}/two-scans.meld --profile melded-tlc-8x8 --format json"),
        format!(
            "advise --profile optane-900p --job {workloads}/optane/tiny-crowd.fio --format json"
        ),
        format!("trace describe {workloads}/traces/msr.csv --format json"),
        "profiles --format json".to_owned(),
        "experiment melded-latency --request-size 4k --format json".to_owned(),
        "validate --quiet --experiment melded-latency --format json".to_owned(),
        "validate --quiet --controls --experiment melded-latency --format json".to_owned(),
        "validate --quiet --sensitivity --quick --experiment qlc-melding --format json".to_owned(),
        "bench --quick --requests 1000 --format json".to_owned(),
        format!(
            "bench --against {} --pairs 1 --requests 1000 --format json",
            release_binary().display()
        ),
    ] {
        // The helper checks it.
        let output: Value = serde_json::from_str(&stdout(&line)).unwrap();
        assert_eq!(output["schema_version"], 3, "{line}");
    }
}

#[test]
fn the_schemas_are_schemas_and_can_say_no() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas"));
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = files
        .filter_map(|file| Some(file.strip_suffix(".schema.json")?.to_owned()))
        .collect();
    assert_eq!(names.len(), 13);
    for name in names {
        assert!(jsonschema::meta::is_valid(&schema::load(&name)), "{name}");
    }
    let line = "run --size 1m --format json";
    let mut output: Value = serde_json::from_str(&stdout(line)).unwrap();
    output["jobs"][0]["read"]["iops"] = json!("many");
    output["colour"] = json!("red");
    output.as_object_mut().unwrap().remove("device");
    let violations = schema::violations(line, &output.to_string());
    assert_eq!(violations.len(), 3, "{violations:?}");
}
