//! Files of JSON lines.

use std::collections::HashMap;
use std::fs::File;
use std::hash::Hash;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::JoinError;

/// The version of the files that are read, of DataNodes and of Spark.
const VERSION: u32 = 1;
/// The longest line that is read.
const LINE_MAX: u64 = 1 << 20;

/// A line: the first one says what the file is.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Line<H, O> {
    Header(H),
    Other(O),
}

/// Refuses a header of another version.
pub(super) fn check(version: u32) -> Result<(), String> {
    match version {
        VERSION => Ok(()),
        _ => Err(format!("version {version} is not known, only {VERSION}")),
    }
}

/// Refuses a file in which no header was found: its version is 0 then.
pub(super) fn check_found(path: &Path, version: u32) -> Result<(), JoinError> {
    match version {
        VERSION => Ok(()),
        _ => Err(JoinError::Line(
            path.into(),
            1,
            "there is no header".to_owned(),
        )),
    }
}

/// Refuses a name that leads out of the folder when a path is made of it.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    // Either separator, and the mark of a drive, so that every system refuses the same names.
    match name.contains(['/', '\\', ':']) {
        false => Ok(()),
        true => Err(format!("\"{name}\" is not the name of a file")),
    }
}

/// Where each key is, in their order.
pub(super) fn places<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> HashMap<K, Vec<usize>> {
    let mut places: HashMap<K, Vec<usize>> = HashMap::new();
    for (at, key) in keys.enumerate() {
        places.entry(key).or_default().push(at);
    }
    places
}

/// Tells each line of a file; its name says whether it is compressed.
pub(super) fn each<T: DeserializeOwned>(
    path: &Path,
    mut tell: impl FnMut(T) -> Result<(), String>,
) -> Result<(), JoinError> {
    let unreadable = |error| JoinError::Io(path.into(), error);
    let file = File::open(path).map_err(unreadable)?;
    let is_compressed = path.extension().is_some_and(|extension| extension == "gz");
    let mut input: Box<dyn BufRead> = if is_compressed {
        Box::new(BufReader::new(MultiGzDecoder::new(file)))
    } else {
        Box::new(BufReader::new(file))
    };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let length = (&mut input).take(LINE_MAX).read_until(b'\n', &mut line);
        if length.map_err(unreadable)? == 0 {
            break;
        }
        let told = serde_json::from_slice(&line).map_err(|error| error.to_string());
        told.and_then(&mut tell)
            .map_err(|problem| JoinError::Line(path.into(), number, problem))?;
    }
    Ok(())
}
