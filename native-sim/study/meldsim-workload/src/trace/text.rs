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
/// A longer line is no line of a trace: some have a checksum for each block of a request.
const LINE_BYTES_MAX: usize = 1 << 16;

/// Reads lines into one buffer.
#[derive(Debug)]
pub(super) struct Lines<R> {
    /// Only named in errors.
    file: String,
    input: R,
    line: Vec<u8>,
    /// The number of the line read last, from 1.
    number: u64,
    /// Of whole records.
    whole_bytes: u64,
    /// What of a last record is there, if not all of it.
    cut: Option<(usize, usize)>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(file: &str, input: R) -> Lines<R> {
        Lines {
            file: file.to_owned(),
            input,
            line: Vec::new(),
            number: 0,
            whole_bytes: 0,
            cut: None,
        }
    }

    /// Reads the next line; false after the last.
    pub(super) fn read(&mut self) -> Result<bool, TraceError> {
        self.line.clear();
        self.number += 1;
        let mut most = (&mut self.input).take(LINE_BYTES_MAX as u64 + 1);
        if let Err(error) = most.read_until(b'\n', &mut self.line) {
            return Err(self.unread(error));
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

    /// The line read last, without blanks around it. A tab may stand for an empty first field.
    pub(super) fn text(&self) -> Result<&str, TraceError> {
        let text = std::str::from_utf8(&self.line);
        text.map(|text| text.trim_matches(AROUND))
            .map_err(|_| self.unreadable("is not text".to_owned()))
    }

    /// Reads the next record of so many bytes; false after the last. The first must be whole; of a later one that is not, what
    /// is there counts as cut off.
    pub(super) fn read_bytes(&mut self, record: &mut [u8]) -> Result<bool, TraceError> {
        self.number += 1;
        let (mut read, all) = (0, record.len());
        while read < all {
            match self.input.read(&mut record[read..]) {
                Ok(0) if read == 0 => return Ok(false),
                Ok(0) if self.number > 1 => {
                    self.cut = Some((read, all));
                    return Ok(false);
                }
                Ok(0) => {
                    let message = format!("has {read} of {all} B");
                    let remedy = "the trace is cut off in its first record: copy it again";
                    return Err(self.fault(Fault::new("record", message, remedy)));
                }
                Ok(bytes) => read += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unread(error)),
            }
        }
        self.whole_bytes += all as u64;
        Ok(true)
    }

    /// Passes over bytes behind a record.
    pub(super) fn skip(&mut self, bytes: u64) -> Result<(), TraceError> {
        let mut rest = (&mut self.input).take(bytes);
        let skipped = io::copy(&mut rest, &mut io::sink()).map_err(|error| self.unread(error))?;
        self.whole_bytes += skipped;
        if skipped < bytes {
            self.cut = Some((skipped as usize, bytes as usize));
        }
        Ok(())
    }

    /// Where a trace of records was cut off, if it was.
    pub(super) fn cut(&self) -> Option<String> {
        let (there, all) = self.cut?;
        let (number, whole) = (self.number, self.whole_bytes);
        Some(format!(
            "the trace is cut off: record {number} has {there} of {all} B, after {whole} B that are whole"
        ))
    }

    /// The bytes before the record read last.
    pub(super) fn before_record(&self, record_bytes: usize) -> u64 {
        self.whole_bytes - record_bytes as u64
    }

    fn unread(&self, error: io::Error) -> TraceError {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        // What decompresses says so.
        if matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) {
            let whole = match self.whole_bytes {
                0 => format!("-n {}", self.number - 1),
                bytes => format!("-c {bytes}"),
            };
            let remedy = format!(
                "it is cut off or damaged; what is whole: gzip -dc FILE | head {whole} | meldsim ... -"
            );
            return self.fault(Fault::new(
                "(file)",
                format!("cannot be read: {error}"),
                remedy,
            ));
        }
        TraceError::Read {
            file: self.file.clone(),
            line: self.number,
            error,
        }
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
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    rest: Option<&'a str>,
    separator: Separator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// Each ends a field, which may be empty or in quotes.
    Char(char),
    Blanks,
}

impl Separator {
    pub(super) const COMMA: Separator = Separator::Char(',');

    /// What separates the fields of a table's line.
    pub(super) fn of(line: &str) -> Separator {
        let known = [',', ';', '\t', '|'];
        let found = known.into_iter().find(|known| line.contains(*known));
        found.map_or(Separator::Blanks, Separator::Char)
    }
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a str, separator: Separator) -> Fields<'a> {
        let line = match separator {
            Separator::Char(_) => line.trim_matches(AROUND),
            Separator::Blanks => line.trim(),
        };
        Fields {
            rest: Some(line),
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
            Separator::Char(separator) => match quoted(rest) {
                Some((text, rest)) => (text, rest.split_once(separator).map(|(_, rest)| rest)),
                None => match rest.split_once(separator) {
                    Some((text, rest)) => (text.trim(), Some(rest)),
                    None => (rest.trim(), None),
                },
            },
            Separator::Blanks => match rest.split_once([' ', '\t']) {
                Some((text, rest)) => (text, Some(rest.trim_start())),
                None => (rest, None),
            },
        };
        self.rest = rest;
        Ok(text)
    }

    /// All that are left.
    pub(super) fn all(mut self) -> impl Iterator<Item = &'a str> {
        std::iter::from_fn(move || self.text("").ok())
    }

    /// What was not taken yet.
    pub(super) fn rest(&self) -> &'a str {
        self.rest.unwrap_or_default()
    }

    /// The next field, if there is one, and what comes after it.
    pub(super) fn peek(&self) -> Option<(&'a str, &'a str)> {
        let mut ahead = self.clone();
        Some((ahead.text("").ok()?, ahead.text("").unwrap_or_default()))
    }

    /// The next field as a number: decimal, hexadecimal, or with `.0` behind it, as a table's export has it.
    pub(super) fn number(&mut self, field: &'static str) -> Result<u64, Fault> {
        let text = self.text(field)?;
        number(text).ok_or_else(|| {
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

/// What stands around a line, but for tabs.
const AROUND: [char; 3] = [' ', '\r', '\n'];

/// What stands in quotes, and what is behind them.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let (text, rest) = text
        .trim_start_matches(' ')
        .strip_prefix('"')?
        .split_once('"')?;
    Some((text.trim(), rest))
}

/// Whether a text is decimal digits.
pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A whole number in the ways in which traces write them.
pub(super) fn number(text: &str) -> Option<u64> {
    if is_digits(text) {
        return text.parse().ok();
    }
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        // As a table's export has it: `4096.0`, `1.048576e+06`.
        None => {
            let scaled = decimal(text, 6)?;
            let whole = (scaled % 1_000_000 == 0).then_some(scaled / 1_000_000)?;
            u64::try_from(whole).ok()
        }
    }
}

/// A decimal number, perhaps with an exponent as in `1e-05`, in units of `10^-places`; what is less than one is cut off.
pub(super) fn decimal(text: &str, places: i32) -> Option<u128> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().ok().filter(|of| (-99..=99).contains(of))?;
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !is_digits(whole) || !(part.is_empty() || is_digits(part)) {
        return None;
    }
    let first = exponent + places + whole.len() as i32 - 1;
    let digits = whole.bytes().chain(part.bytes()).map(|byte| byte - b'0');
    digits.enumerate().try_fold(0u128, |sum, (at, digit)| {
        let power = u32::try_from(first - at as i32);
        match power {
            Ok(power) if digit > 0 => {
                let digit = 10u128.checked_pow(power)?.checked_mul(u128::from(digit))?;
                sum.checked_add(digit)
            }
            _ => Some(sum),
        }
    })
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
            ("1,x, 3", Separator::COMMA),
            (" 1  x\t3\r", Separator::Blanks),
            ("\"1\" ;\"x\";3.0e0", Separator::Char(';')),
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
