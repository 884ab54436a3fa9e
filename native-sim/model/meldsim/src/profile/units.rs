//! Quantities as profiles write them: a number and its unit in one string.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::engine::Duration;

/// A kind of quantity: its units, each with its factor, the largest first.
struct Kind {
    what: &'static str,
    example: &'static str,
    units: &'static [(&'static str, u64)],
    /// Whether the second is a way to write the unit with the name that is the first.
    is_named: fn(&str, &str) -> bool,
}

/// As it is, for `ms` is not `Ms`.
fn exactly(name: &str, unit: &str) -> bool {
    name == unit
}

/// Sizes are powers of 1024 however they are written: `KiB`, `KB` and `K`, large or small. A number
/// alone is of bytes.
fn as_size(name: &str, unit: &str) -> bool {
    let prefix = name.trim_end_matches("iB").trim_end_matches('B');
    let Some((start, rest)) = unit.split_at_checked(prefix.len()) else {
        return false;
    };
    let endings: &[&str] = match prefix {
        "" => &["", "b"],
        _ => &["", "b", "i", "ib"],
    };
    start.eq_ignore_ascii_case(prefix) && endings.iter().any(|end| rest.eq_ignore_ascii_case(end))
}

/// A decimal number times its unit's factor, when that is whole and fits: of `4 KiB` with 1024 for
/// `KiB`, 4096. `factor` gives none for a unit that it does not know.
pub fn parse_quantity(text: &str, factor: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let (scaled, scale) = scaled(text, factor)?;
    match scaled % scale {
        0 => u64::try_from(scaled / scale).ok(),
        _ => None,
    }
}

/// Whether [`parse_quantity`] gives none only because the number is beyond 64 bits.
pub fn is_too_large(text: &str, factor: impl Fn(&str) -> Option<u64>) -> bool {
    scaled(text, factor).is_some_and(|(scaled, scale)| scaled / scale > u64::MAX.into())
}

/// Whether [`parse_quantity`] gives none only because of a fraction that remains: of `1.92 TB`, as units are powers of 1024.
pub fn is_fraction(text: &str, factor: impl Fn(&str) -> Option<u64>) -> bool {
    scaled(text, factor).is_some_and(|(scaled, scale)| scaled % scale != 0)
}

/// A decimal number times its unit's factor, as the quotient of two whole numbers.
fn scaled(text: &str, factor: impl Fn(&str) -> Option<u64>) -> Option<(u128, u128)> {
    let text = text.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // No digit at all is no number; `.5` is one.
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    Some((digits.checked_mul(u128::from(factor(unit)?))?, scale))
}

const TIME: Kind = Kind {
    what: "time",
    example: "58us",
    units: &[
        ("s", 1_000_000_000_000),
        ("ms", 1_000_000_000),
        ("us", 1_000_000),
        ("ns", 1_000),
        ("ps", 1),
    ],
    is_named: exactly,
};

const SIZE: Kind = Kind {
    what: "size",
    example: "4KiB",
    units: &[
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("B", 1),
    ],
    is_named: as_size,
};

const TRANSFER_RATE: Kind = Kind {
    what: "transfer rate",
    example: "800MT/s",
    units: &[("GT/s", 1_000), ("MT/s", 1)],
    is_named: exactly,
};

const DATA_RATE: Kind = Kind {
    what: "data rate",
    example: "3.2GB/s",
    units: &[
        ("GB/s", 1_000_000_000),
        ("GiB/s", 1 << 30),
        ("MB/s", 1_000_000),
        ("MiB/s", 1 << 20),
        ("kB/s", 1_000),
        ("B/s", 1),
    ],
    is_named: exactly,
};

const ENERGY: Kind = Kind {
    what: "energy",
    example: "7uJ",
    units: &[
        ("J", 1_000_000_000_000),
        ("mJ", 1_000_000_000),
        ("uJ", 1_000_000),
        ("nJ", 1_000),
        ("pJ", 1),
    ],
    is_named: exactly,
};

impl Kind {
    /// Parses `text`, exactly: a value that is not a whole number of the smallest unit is refused.
    fn parse(&self, text: &str) -> Result<u64, String> {
        parse_quantity(text, |unit| self.factor(unit)).ok_or_else(|| self.refusal(text))
    }

    fn factor(&self, unit: &str) -> Option<u64> {
        let named = |(name, _): &&(&str, u64)| (self.is_named)(name, unit);
        self.units.iter().find(named).map(|&(_, factor)| factor)
    }

    fn refusal(&self, text: &str) -> String {
        if is_too_large(text, |unit| self.factor(unit)) {
            let unit = self.units.last().map_or("", |(name, _)| *name);
            return format!("is \"{text}\", which is too large; use less than 2^64 {unit}");
        }
        if is_fraction(text, |unit| self.factor(unit)) {
            let what = self.what;
            return format!(
                "is \"{text}\", no whole number of the smallest unit of a {what}; write it in a smaller unit (those of sizes are powers of 1024: 1.92 TB are 1788GiB)"
            );
        }
        let units: Vec<&str> = self.units.iter().rev().map(|(name, _)| *name).collect();
        format!(
            "is \"{text}\", which is not a {}; write a number and one of {}, such as \"{}\"",
            self.what,
            units.join(", "),
            self.example
        )
    }

    /// The largest unit that divides `value`.
    fn format(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |&&(_, factor): &&(&str, u64)| value != 0 && value % factor == 0;
        match self.units.iter().find(fits).or(self.units.last()) {
            Some((unit, factor)) => write!(f, "{}{unit}", value / factor),
            None => write!(f, "{value}"),
        }
    }
}

/// Serde of what is a text to people: where nobody reads it, a number.
macro_rules! as_text {
    ($type:ty, $make:expr, $number:expr) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                let read: Result<$type, String> = match from.is_human_readable() {
                    true => String::deserialize(from)?.parse(),
                    false => u64::deserialize(from).map($make)?,
                };
                read.map_err(serde::de::Error::custom)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match serializer.is_human_readable() {
                    true => serializer.collect_str(self),
                    false => serializer.serialize_u64($number(self)),
                }
            }
        }
    };
}
pub(super) use as_text;

/// `Display`, `FromStr` and serde in the one notation.
macro_rules! notation {
    ($type:ty, $kind:expr, $make:expr, $value:expr) => {
        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<$type, String> {
                $kind.parse(text).map($make)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $kind.format($value(self), f)
            }
        }

        as_text!($type, |number| Ok($make(number)), $value);
    };
}

/// A quantity that is a number of its smallest unit.
macro_rules! quantity {
    ($(#[$meta:meta])* $name:ident: $kind:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        notation!($name, $kind, $name, |quantity: &$name| quantity.0);
    };
}

quantity! {
    /// A size in bytes, written `"4KiB"`; `4 KiB`, `4KB`, `4k` and `4096` are read as well.
    ByteSize: SIZE
}
quantity! {
    /// A transfer rate of a bus in mega-transfers a second, written `"800MT/s"`.
    TransferRate: TRANSFER_RATE
}
quantity! {
    /// A rate of data in bytes a second, written `"3.2GB/s"`.
    DataRate: DATA_RATE
}
quantity! {
    /// An energy in picojoules, written `"7uJ"`.
    EnergyAmount: ENERGY
}
notation!(Duration, TIME, Duration::from_ps, |time: &Duration| time
    .as_ps());

impl ByteSize {
    /// Bytes of a unit: 1024 of `KiB`, `KB` and `k`, 1 without a name.
    pub fn unit(name: &str) -> Option<u64> {
        SIZE.factor(name)
    }
}

impl DataRate {
    /// Of a data path.
    pub(super) const RANGE: RangeInclusive<DataRate> =
        DataRate(1_000_000)..=DataRate(1_000_000_000_000);
}

impl EnergyAmount {
    /// From nanojoules (saturating).
    pub const fn from_nj(nj: u64) -> EnergyAmount {
        EnergyAmount(nj.saturating_mul(1_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        assert_eq!("58us".parse(), Ok(Duration::from_us(58)));
        assert_eq!("12.5 ns".parse(), Ok(Duration::from_ps(12_500)));
        assert_eq!("4KiB".parse(), Ok(ByteSize(4096)));
        assert_eq!("1.5MiB".parse(), Ok(ByteSize(1_572_864)));
        assert_eq!("1.6GT/s".parse(), Ok(TransferRate(1600)));
        assert_eq!("3.2GB/s".parse(), Ok(DataRate(3_200_000_000)));
    }

    #[test]
    fn what_is_too_large_is_told_from_what_is_no_quantity() {
        for (text, unit) in [("16777216TiB", "B"), ("18446744073709551616", "B")] {
            let error = text.parse::<ByteSize>().unwrap_err();
            let expected = format!("is \"{text}\", which is too large; use less than 2^64 {unit}");
            assert_eq!(error, expected);
        }
        let error = "18446745s".parse::<Duration>().unwrap_err();
        assert!(
            error.contains("too large; use less than 2^64 ps"),
            "{error}"
        );
        assert!("18446744s".parse::<Duration>().is_ok());
        for (text, said) in [
            ("12 parsecs", "which is not a size"),
            ("99999999999x", "which is not a size"),
            ("0.3B", "no whole number of the smallest unit of a size"),
            ("1.92TB", "1.92 TB are 1788GiB"),
        ] {
            let error = text.parse::<ByteSize>().unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_size_is_the_same_however_it_is_written() {
        for text in [
            "4KB", "4kb", "4K", "4k", "4KiB", "4 KiB", "4kib", "4kB", "4Ki", " 4096 ", "4096B",
            "4096 b",
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(4096)), "{text}");
        }
        for text in ["1.5GB", "1.5g", "1536MiB", "1536 mb"] {
            assert_eq!(text.parse(), Ok(ByteSize(3 << 29)), "{text}");
        }
        for bad in [
            "4kbb", "4kii", "4iB", "k", "4 K B", "4kµ", "KB4", "-4k", "4KB/s",
        ] {
            assert!(bad.parse::<ByteSize>().is_err(), "{bad}");
        }
    }

    #[test]
    fn refuses_and_says_how_to_write_it() {
        let error = "58 parsecs".parse::<Duration>().unwrap_err();
        assert!(
            error.contains("\"58 parsecs\"") && error.contains("\"58us\""),
            "{error}"
        );
        for bad in [
            "",
            "us",
            "58",
            "-1us",
            "0.5ps",
            "1..2us",
            ".us",
            "99999999999999s",
            "4KB",
        ] {
            assert!(bad.parse::<Duration>().is_err(), "{bad}");
        }
        assert!("58US".parse::<Duration>().is_err());
        assert_eq!(".5us".parse::<Duration>(), "500ns".parse());
        assert!("800".parse::<TransferRate>().is_err());
    }

    #[test]
    fn prints_what_it_reads() {
        for text in ["58us", "12500ps", "3s", "0ps"] {
            assert_eq!(text.parse::<Duration>().unwrap().to_string(), text);
        }
        assert_eq!(ByteSize(16 << 20).to_string(), "16MiB");
        assert_eq!(ByteSize(1000).to_string(), "1000B");
        assert_eq!(TransferRate(1600).to_string(), "1600MT/s");
        assert_eq!(DataRate(3_200_000_000).to_string(), "3200MB/s");
        assert_eq!(DataRate(0).to_string(), "0B/s");
        assert_eq!(EnergyAmount::from_nj(7_500).to_string(), "7500nJ");
        assert_eq!("7.5uJ".parse(), Ok(EnergyAmount::from_nj(7_500)));
    }
}
