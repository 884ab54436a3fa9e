//! The published JSON Schemas, and whether an output has the form of its own.

use serde_json::{Value, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas");

/// The schema of a command line's JSON.
fn name_of(line: &str) -> &'static str {
    match line.split_whitespace().find(|word| !word.starts_with('-')) {
        Some("run") if is_sweep(line) => "sweep",
        Some("run") => "run",
        Some("experiment") => "experiment",
        Some("validate") if line.contains("--controls") => "validate-controls",
        Some("validate") if line.contains("--sensitivity") => "validate-sensitivity",
        Some("validate") => "validate",
        Some("what-if") => "what-if",
        Some("calibrate") => "calibrate",
        Some("advise") => "advise",
        Some("trace") => "trace-describe",
        Some("profiles") => "profiles",
        Some("bench") if line.contains("--against") => "bench-against",
        Some("bench") => "bench",
        other => panic!("no schema for {other:?}"),
    }
}

/// Whether a key has several values.
fn is_sweep(line: &str) -> bool {
    let words = || line.split_whitespace();
    let values = words().zip(words().skip(1));
    let mut values = values.filter(|(flag, _)| *flag == "--set");
    values.any(|(_, value)| value.contains(',') && !value.contains(['[', '"']))
        || words().any(|word| ["--grid", "--out"].contains(&word))
}

/// The schema as it is published.
pub(crate) fn load(name: &str) -> Value {
    let text = std::fs::read_to_string(format!("{FOLDER}/{name}.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Readers may meet keys that they do not know; we know all of ours.
fn closed(schema: &mut Value) {
    if let Value::Object(map) = schema {
        map.values_mut().for_each(closed);
        if map.contains_key("properties") && !map.contains_key("additionalProperties") {
            // Not an object of properties that has one called so.
            if map.get("type") == Some(&json!("object")) {
                map.insert("additionalProperties".to_owned(), json!(false));
            }
        }
    } else if let Value::Array(list) = schema {
        list.iter_mut().for_each(closed);
    }
}

/// What in `output` of the command `line` is not as its schema says, by place.
pub(crate) fn violations(line: &str, output: &str) -> Vec<String> {
    let mut schema = load(name_of(line));
    closed(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let output: Value = serde_json::from_str(output).unwrap();
    let errors = validator.iter_errors(&output);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// Checks that `output` of the command `line` is as its schema says.
pub(crate) fn check(line: &str, output: &str) {
    let violations = violations(line, output);
    assert!(violations.is_empty(), "{line}: {violations:#?}");
}
