//! Records of jobs, as they are in their files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Reads records, and those of folders, in which files that are none are passed over.
pub(super) fn read(inputs: &[PathBuf]) -> Result<Vec<Value>, String> {
    let mut records = Vec::new();
    for input in inputs {
        if input.is_dir() {
            let inside = json_files(input).map_err(|error| cannot_read(input, &error))?;
            for path in inside {
                records.extend(parse(&path)?.filter(is_record));
            }
        } else {
            let record = parse(input)?.filter(is_record);
            let none = || {
                format!(
                    "{}: is not the result of a job; give files of --json",
                    input.display()
                )
            };
            records.push(record.ok_or_else(none)?);
        }
    }
    match records.is_empty() {
        false => Ok(records),
        true => {
            let names: Vec<String> = inputs
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            Err(format!(
                "{}: no results of jobs there; give files of --json",
                names.join(", ")
            ))
        }
    }
}

fn json_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn parse(path: &Path) -> Result<Option<Value>, String> {
    let text = fs::read_to_string(path).map_err(|error| cannot_read(path, &error))?;
    let value = serde_json::from_str(&text);
    value.map_err(|error| format!("{}: is not JSON: {error}", path.display()))
}

fn cannot_read(path: &Path, error: &std::io::Error) -> String {
    format!("{}: cannot be read: {error}", path.display())
}

fn is_record(value: &Value) -> bool {
    value["command"].is_string() && value.get("result").is_some()
}

/// The text at this place; empty if there is none.
pub(super) fn text<'a>(value: &'a Value, place: &str) -> &'a str {
    value
        .pointer(place)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The number at this place. Jackson writes one that is none as a text.
pub(super) fn number(value: &Value, place: &str) -> Option<f64> {
    value.pointer(place).and_then(Value::as_f64)
}

/// The list at this place; empty if there is none.
pub(super) fn list<'a>(value: &'a Value, place: &str) -> &'a [Value] {
    let list = value.pointer(place).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}
