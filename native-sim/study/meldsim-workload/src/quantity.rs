//! What people write for the value of an option: sizes, times and numbers with units, as fio takes them (`4k`, `4KiB`,
//! `100ms`, `10`, `0x1000`, `(2*1g)`), and names of choices. Errors say what was found and, after a semicolon, the remedy.

use std::str::FromStr;

use crate::expression::evaluate;
use meldsim::engine::Duration;
use meldsim::profile::{ByteSize, is_fraction, is_too_large, nearest, parse_quantity};

/// Bytes. As in fio, `k`, `m`, `g` and `t` are powers of 1024, with or without `B` or `iB`; a bare number is bytes.
///
/// # Errors
///
/// What is wrong with the text, and the remedy.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let size = |text: &str| text.parse().ok().map(|ByteSize(bytes)| bytes);
    let size = |text: &str| hexadecimal(text).or_else(|| size(text));
    size(text).or_else(|| evaluate(text, &size)).ok_or_else(|| {
        match is_too_large(text, ByteSize::unit) {
            true => format!("is \"{text}\", which is too large; use less than 16777216 TiB, 2^64 B"),
            false if is_fraction(text, ByteSize::unit) => format!("is \"{text}\", no whole number of bytes; units are powers of 1024: 1.92 TB are 1788g"),
            false => format!("is \"{text}\", which is not a size; write a number and B, KiB, MiB, GiB or TiB, such as 4KiB or 4k"),
        }
    })
}

/// Bytes, or a part of a file or a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many bytes.
    Bytes(u64),
    /// Percent of what there is, 0 to 100.
    Percent(u64),
}

impl Amount {
    /// In bytes, of a file or a device of `whole` bytes.
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Amount::Bytes(bytes) => bytes,
            Amount::Percent(percent) => (u128::from(whole) * u128::from(percent) / 100) as u64,
        }
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Amount, String> {
        match text.strip_suffix('%') {
            None => parse_bytes(text).map(Amount::Bytes),
            Some(percent) => match parse_number(percent) {
                Ok(percent @ 0..=100) => Ok(Amount::Percent(percent)),
                _ => Err(format!("is \"{text}\"; use a percentage from 0% to 100%")),
            },
        }
    }
}

/// `0x1000`.
fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))?;
    let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hexadecimal.then(|| u64::from_str_radix(digits, 16).ok())?
}

/// A whole number; as in fio with the units of a size: `1k` is 1024.
pub(super) fn parse_number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let size = |text: &str| text.parse().ok().map(|ByteSize(number)| number);
    let number = |text: &str| hexadecimal(text).or_else(|| size(text));
    let value = number(text).or_else(|| evaluate(text, &number));
    value
        .and_then(|value| T::try_from(value).ok())
        .ok_or_else(|| {
            format!("is \"{text}\", which is not a whole number in range; write one such as 32")
        })
}

/// Simulated time. As in fio, a bare number is seconds.
///
/// # Errors
///
/// What `text` is, and how a time is written.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    parse_time_in(text, "s")
}

/// Simulated time; a bare number is in `unit`, and in an expression in microseconds. Units may be in capitals.
pub(super) fn parse_time_in(text: &str, default_unit: &str) -> Result<Duration, String> {
    let ps = |unit: &str, default_unit: &str| {
        let unit = unit.to_ascii_lowercase();
        Some(match if unit.is_empty() { default_unit } else { &unit } {
            "ps" => 1,
            "ns" | "nsec" => 1_000,
            "us" | "usec" => 1_000_000,
            "ms" | "msec" => 1_000_000_000,
            "s" | "sec" => 1_000_000_000_000,
            "m" => 60_000_000_000_000,
            "h" => 3_600_000_000_000_000u64,
            "d" => 86_400_000_000_000_000,
            _ => return None,
        })
    };
    let time = |text: &str, default_unit: &str| parse_quantity(text, |unit| ps(unit, default_unit));
    // An expression's numbers are of microseconds: `(2s/4)` is a fourth of two million of them.
    let us = |text: &str| time(text, "us").map(|ps| ps / 1_000_000);
    let expression = || evaluate(text, &us)?.checked_mul(1_000_000);
    let value = time(text, default_unit).or_else(expression);
    value.map(Duration::from_ps).ok_or_else(|| {
        match is_too_large(text, |unit| ps(unit, default_unit)) {
            true => format!("is \"{text}\", which is more than can be simulated; use at most 213d"),
            false => format!("is \"{text}\", which is not a time; write a number and ns, us, ms, s or m, such as 100ms"),
        }
    })
}

/// A decimal number in parts of one `scale`-th: `1.2` is 1200000 at a scale of a million.
pub fn parse_decimal(text: &str, scale: u64) -> Option<u64> {
    parse_quantity(text, |unit| unit.is_empty().then_some(scale))
}

/// The choice of that name. Second names for the same choice stand last and are not mentioned.
pub(super) fn parse_name<T: Copy + PartialEq>(
    text: &str,
    names: &[(&str, T)],
) -> Result<T, String> {
    if let Some((_, value)) = names.iter().find(|(name, _)| *name == text) {
        return Ok(*value);
    }
    let first = names
        .iter()
        .filter(|(name, value)| name_of(value, names) == *name);
    let first: Vec<&str> = first.map(|(name, _)| *name).collect();
    if let Some(meant) = nearest(text, first.iter().copied()) {
        return Err(format!(
            "is \"{text}\", which is unknown; did you mean {meant}?"
        ));
    }
    let (last, others) = first.split_last().unwrap_or((&"", &[]));
    let others = others.join(", ");
    Err(format!(
        "is \"{text}\", which is unknown; use {others} or {last}"
    ))
}

/// The same; an error has only the remedy.
pub(super) fn choice<T: Copy + PartialEq>(text: &str, names: &[(&str, T)]) -> Result<T, String> {
    parse_name(text, names).map_err(|error| match error.rsplit_once("; ") {
        Some((_, remedy)) => remedy.to_owned(),
        None => error,
    })
}

/// The name of a choice.
pub(super) fn name_of<T: PartialEq>(value: &T, names: &[(&str, T)]) -> String {
    let name = names.iter().find(|(_, other)| other == value);
    name.map_or("", |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_fio_and_people_write() {
        for (text, bytes) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4 KiB", 4096),
            ("4Ki", 4096),
            ("4kb", 4096),
            ("4KB", 4096),
            ("1.5m", 3 << 19),
            ("512", 512),
            ("2g", 2 << 30),
            ("0x1000", 4096),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        assert_eq!(parse_time("10"), Ok(Duration::from_ms(10_000)));
        assert_eq!(parse_time("1.5ms"), Ok(Duration::from_us(1_500)));
        assert_eq!(parse_time("2m"), Ok(Duration::from_ms(120_000)));
        assert_eq!(parse_time("20MSEC"), Ok(Duration::from_ms(20)));
        assert_eq!(parse_time("1d"), parse_time("24h"));
        assert_eq!(parse_number("0x20"), Ok(32));
        assert_eq!(parse_number("(4*8)"), Ok(32));
        assert_eq!(parse_number("2k"), Ok(2048));
    }

    #[test]
    fn what_is_too_large_is_told_its_limit() {
        for (text, unit) in [("365d", "s"), ("300d", "us"), ("18446745", "s")] {
            let error = parse_time_in(text, unit).unwrap_err();
            let expected =
                format!("is \"{text}\", which is more than can be simulated; use at most 213d");
            assert_eq!(error, expected);
        }
        assert!(parse_time("213d").is_ok());
        let error = parse_bytes("16777216T").unwrap_err();
        assert!(
            error.contains("too large; use less than 16777216 TiB"),
            "{error}"
        );
        assert_eq!(
            parse_bytes("1.92T"),
            Err("is \"1.92T\", no whole number of bytes; units are powers of 1024: 1.92 TB are 1788g".to_owned())
        );
    }

    #[test]
    fn refuses_the_rest() {
        for text in [
            "",
            "k",
            "-4k",
            "4kb5",
            "4 lightyears",
            "1..5k",
            "0.3",
            "99999999999t",
            "4kB/s",
            "0x",
            "0x+1",
            "١k",
        ] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        for text in ["", "ms", "4k", "-1s", "99999999999h"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
