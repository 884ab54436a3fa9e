//! A trace as text: decompressed, line by line in bounded memory, each line taken apart.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use crate::error::{Fault, TraceError};
use meldsim::profile::excerpt;

const BUFFER_BYTES: usize = 1 << 18;
/// What gzip begins with.
const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];

/// The plain text of `input`; what gzip compressed is known by its first bytes.
///
/// # Errors
///
/// The first bytes cannot be read.
pub fn decompressed<'a>(mut input: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    Ok(if input.fill_buf()?.starts_with(&GZIP_MAGIC) {
        // A trace that was rotated and joined is several of gzip's members.
        let plain = MultiGzDecoder::new(input);
        Box::new(BufReader::with_capacity(BUFFER_BYTES, plain))
    } else {
        Box::new(input)
    })
}

/// What a text in UTF-8 may begin with.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What to do about a line that makes no sense.
pub(super) const MEND: &str = "mend or remove the line";
/// A longer line is no line of a trace.
const LINE_BYTES_MAX: usize = 4096;

/// Reads lines into one buffer.
#[derive(Debug)]
pub(super) struct Lines<R> {
    /// Only named in errors.
    file: String,
    input: R,
    line: Vec<u8>,
    /// The number of the line read last, from 1.
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(file: &str, input: R) -> Lines<R> {
        Lines {
            file: file.to_owned(),
            input,
            line: Vec::new(),
            number: 0,
        }
    }

    /// Reads the next line; false after the last.
    pub(super) fn read(&mut self) -> Result<bool, TraceError> {
        self.line.clear();
        self.number += 1;
        let mut most = (&mut self.input).take(LINE_BYTES_MAX as u64 + 1);
        if let Err(error) = most.read_until(b'\n', &mut self.line) {
            return Err(TraceError::Read {
                file: self.file.clone(),
                line: self.number,
                error,
            });
        }
        if self.line.len() > LINE_BYTES_MAX && !self.line.ends_with(b"\n") {
            return Err(self.unreadable(format!("is longer than {LINE_BYTES_MAX} B")));
        }
        // A mark that says UTF-8, as some editors write it: no one sees it.
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(!self.line.is_empty())
    }

    /// The line read last, without blanks around it.
    pub(super) fn text(&self) -> Result<&str, TraceError> {
        let text = std::str::from_utf8(&self.line);
        text.map(str::trim)
            .map_err(|_| self.unreadable("is not text".to_owned()))
    }

    /// An error about the line read last.
    pub(super) fn fault(&self, fault: Fault) -> TraceError {
        fault.at(&self.file, self.number)
    }

    fn unreadable(&self, message: String) -> TraceError {
        let remedy = "give a trace in text, plain or compressed by gzip";
        self.fault(Fault::new("line", message, remedy))
    }
}

/// The fields of a line, in order.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    rest: Option<&'a str>,
    separator: Separator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    Blanks,
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a str, separator: Separator) -> Fields<'a> {
        Fields {
            rest: Some(line.trim()),
            separator,
        }
    }

    /// The next field, which must be there.
    pub(super) fn text(&mut self, field: &'static str) -> Result<&'a str, Fault> {
        let remedy = "the line may be cut off: mend or remove it";
        let missing = || Fault::new(field, "is missing", remedy);
        let rest = self.rest.take().filter(|rest| !rest.is_empty());
        let rest = rest.ok_or_else(missing)?;
        let (text, rest) = match self.separator {
            Separator::Comma => match rest.split_once(',') {
                Some((text, rest)) => (text.trim(), Some(rest)),
                None => (rest.trim(), None),
            },
            Separator::Blanks => match rest.split_once([' ', '\t']) {
                Some((text, rest)) => (text, Some(rest.trim_start())),
                None => (rest, None),
            },
        };
        self.rest = rest;
        Ok(text)
    }

    /// The next field as a number.
    pub(super) fn number(&mut self, field: &'static str) -> Result<u64, Fault> {
        let text = self.text(field)?;
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if digits { text.parse().ok() } else { None };
        number.ok_or_else(|| {
            let text = excerpt(text);
            let message = format!("is \"{text}\", which is not a whole number below 2^64");
            Fault::new(field, message, MEND)
        })
    }

    /// Nothing may follow.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        match self.rest.take().filter(|rest| !rest.is_empty()) {
            None => Ok(()),
            Some(rest) => Err(Fault::new(
                "line",
                format!("has more fields than the format: \"{}\"", excerpt(rest)),
                "remove them, or say the format with --trace-format",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one_whatever_the_buffer() {
        let text = "one\r\n\ntwo and more\nlast";
        for capacity in [1, 2, 5, 100] {
            let mut lines = Lines::new("t", BufReader::with_capacity(capacity, text.as_bytes()));
            let mut read = Vec::new();
            while lines.read().unwrap() {
                read.push((lines.number, lines.text().unwrap().to_owned()));
            }
            let expected = [(1, "one"), (2, ""), (3, "two and more"), (4, "last")];
            assert!(
                read.iter().map(|(n, t)| (*n, t.as_str())).eq(expected),
                "{read:?}"
            );
        }
    }

    #[test]
    fn a_file_without_line_ends_is_not_swallowed() {
        let mut lines = Lines::new("t", BufReader::new(io::repeat(b'x')));
        let error = lines.read().unwrap_err().to_string();
        assert!(error.contains("t:1: line: is longer than"), "{error}");
        let mut lines = Lines::new("t", &b"\xFF\xFE\n"[..]);
        assert!(lines.read().unwrap());
        let error = lines.text().unwrap_err().to_string();
        assert!(error.contains("t:1: line: is not text"), "{error}");
    }

    #[test]
    fn fields_in_either_form() {
        for (line, separator) in [
            ("1,x, 3", Separator::Comma),
            (" 1  x\t3\r", Separator::Blanks),
        ] {
            let mut fields = Fields::new(line, separator);
            assert_eq!(fields.number("a"), Ok(1));
            assert_eq!(fields.text("b"), Ok("x"));
            assert_eq!(fields.number("c"), Ok(3));
            assert!(fields.end().is_ok());
            assert_eq!(fields.number("d").unwrap_err().field, "d");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["x", "-1", "+1", "1.5", "18446744073709551616", "١"] {
            let fault = Fields::new(text, Separator::Blanks)
                .number("n")
                .unwrap_err();
            assert!(fault.message.contains(text), "{fault:?}");
        }
    }
}
