//! Files of JSON lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::de::DeserializeOwned;

use super::JoinError;

/// The longest line that is read.
const LINE_MAX: u64 = 1 << 20;

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
