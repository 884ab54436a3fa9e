//! Lines of any reader, one at a time, in bounded memory.

use std::io::{self, BufRead, ErrorKind};

/// A longer line is no line of a trace.
pub(super) const LINE_BYTES_MAX: usize = 4096;

/// Reads lines into one buffer.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
}

/// Why there is no next line.
#[derive(Debug)]
pub(super) enum LineError {
    TooLong,
    NotText,
    Read(io::Error),
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Lines<R> {
        Lines {
            input,
            line: Vec::new(),
            number: 0,
        }
    }

    /// The number of the line read last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its end; false after the last.
    pub(super) fn read(&mut self) -> Result<bool, LineError> {
        self.line.clear();
        self.number += 1;
        loop {
            let bytes = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(LineError::Read(error)),
            };
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + part.len() > LINE_BYTES_MAX {
                return Err(LineError::TooLong);
            }
            let at_end = bytes.is_empty();
            self.line.extend_from_slice(part);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() || at_end {
                return Ok(end.is_some() || !self.line.is_empty());
            }
        }
    }

    /// The line read last.
    pub(super) fn text(&self) -> Result<&str, LineError> {
        std::str::from_utf8(&self.line).map_err(|_| LineError::NotText)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_come_one_by_one_whatever_the_buffer() {
        let text = "one\r\n\ntwo and more\nlast";
        for capacity in [1, 2, 5, 100] {
            let mut lines = Lines::new(BufReader::with_capacity(capacity, text.as_bytes()));
            let mut read = Vec::new();
            while lines.read().unwrap() {
                read.push((lines.number(), lines.text().unwrap().to_owned()));
            }
            let expected = [(1, "one\r"), (2, ""), (3, "two and more"), (4, "last")];
            assert!(
                read.iter().map(|(n, t)| (*n, t.as_str())).eq(expected),
                "{read:?}"
            );
        }
    }

    #[test]
    fn a_file_without_line_ends_is_not_swallowed() {
        let mut lines = Lines::new(BufReader::new(io::repeat(b'x')));
        assert!(matches!(lines.read(), Err(LineError::TooLong)));
        let mut lines = Lines::new(&b"\xFF\xFE\n"[..]);
        assert!(lines.read().unwrap());
        assert!(matches!(lines.text(), Err(LineError::NotText)));
    }
}
