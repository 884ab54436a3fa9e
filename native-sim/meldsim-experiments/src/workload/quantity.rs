//! What people write for the value of an option: sizes, times and numbers with units, as fio takes them (`4k`, `4KiB`,
//! `100ms`, `10`), and names of choices. Errors say what was found and, after a semicolon, the remedy.

use meldsim::engine::Duration;

/// Bytes. As in fio, `k`, `m`, `g` and `t` are powers of 1024, with or without `iB`; a bare number is bytes.
///
/// # Errors
///
/// What `text` is, and how a size is written.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let units = [
        ("", 1),
        ("b", 1),
        ("k", 1 << 10),
        ("kib", 1 << 10),
        ("m", 1 << 20),
        ("mib", 1 << 20),
        ("g", 1 << 30),
        ("gib", 1 << 30),
        ("t", 1 << 40),
        ("tib", 1 << 40),
    ];
    parse(&text.to_ascii_lowercase(), &units).ok_or_else(|| {
        format!("is \"{text}\", which is not a size; write a number and B, KiB, MiB, GiB or TiB, such as 4KiB or 4k")
    })
}

/// A number of requests: `k` and `m` are powers of 1000 here.
pub(super) fn parse_count(text: &str) -> Result<u64, String> {
    parse(text, &[("", 1), ("k", 1_000), ("m", 1_000_000)]).ok_or_else(|| {
        format!("is \"{text}\", which is not a whole number; write one such as 20000 or 20k")
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

/// Simulated time; a bare number is in `unit`.
pub(super) fn parse_time_in(text: &str, default_unit: &str) -> Result<Duration, String> {
    let units = [
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
        ("m", 60_000_000_000_000),
        ("h", 3_600_000_000_000_000),
    ];
    let number = text.trim_end();
    let bare = number.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    let unit = if bare { default_unit } else { "" };
    let ps = parse(&format!("{number}{unit}"), &units);
    ps.map(Duration::from_ps).ok_or_else(|| {
        format!("is \"{text}\", which is not a time; write a number and ns, us, ms, s or m, such as 100ms")
    })
}

/// A decimal number in parts of one `scale`-th: `1.2` is 1200000 at a scale of a million.
pub fn parse_decimal(text: &str, scale: u64) -> Option<u64> {
    parse(text, &[("", scale)])
}

/// A decimal number times its unit's factor, when that is whole and fits.
fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let scaled = digits.checked_mul(u128::from(*factor))?;
    if scaled % scale != 0 {
        return None;
    }
    u64::try_from(scaled / scale).ok()
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
    let (last, others) = first.split_last().unwrap_or((&"", &[]));
    let others = others.join(", ");
    Err(format!(
        "is \"{text}\", which is unknown; use {others} or {last}"
    ))
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
            ("1.5m", 3 << 19),
            ("512", 512),
            ("2g", 2 << 30),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        assert_eq!(parse_time("10"), Ok(Duration::from_ms(10_000)));
        assert_eq!(parse_time("1.5ms"), Ok(Duration::from_us(1_500)));
        assert_eq!(parse_time("2m"), Ok(Duration::from_ms(120_000)));
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
            "١k",
        ] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        for text in ["", "ms", "4k", "-1s", "99999999999h"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
