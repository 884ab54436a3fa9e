//! Numbers as people read them.

use meldsim::engine::Time;

/// `4 KiB`, `1.5 GiB`: three to four significant digits, whole when exact.
pub fn bytes(bytes: u64) -> String {
    let units = [
        (1u64 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
    ];
    match units.iter().find(|(factor, _)| bytes >= *factor) {
        Some((factor, unit)) if bytes % factor == 0 => format!("{} {unit}", bytes / factor),
        Some((factor, unit)) => format!("{} {unit}", short(bytes as f64 / *factor as f64)),
        None => format!("{bytes} B"),
    }
}

/// `63.0 us`, `44.5 ms`.
pub fn duration(time: Time) -> String {
    let ps = time.as_ps() as f64;
    let units = [(1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")];
    match units.iter().find(|(factor, _)| ps >= *factor) {
        Some((factor, unit)) => format!("{} {unit}", short(ps / factor)),
        None => format!("{} ps", time.as_ps()),
    }
}

/// `2879.9 MiB/s`.
pub fn rate_mib_s(rate_mib_s: f64) -> String {
    format!("{rate_mib_s:.1} MiB/s")
}

/// `65536`, `316.2 k`, `1.25 M`.
pub fn count(count: f64) -> String {
    match count {
        c if c >= 1e9 => format!("{} G", short(c / 1e9)),
        c if c >= 1e6 => format!("{} M", short(c / 1e6)),
        c if c >= 1e4 => format!("{} k", short(c / 1e3)),
        c if c.fract() == 0.0 => format!("{c}"),
        c => short(c),
    }
}

/// `43.1 %` of `part` in `whole`, `-` of nothing.
pub fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 {
        format!("{:.1} %", 100.0 * part / whole)
    } else {
        "-".to_owned()
    }
}

/// `part` in percent of `whole`, 0 of nothing.
pub fn percent_of(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => 100.0 * part as f64 / whole as f64,
    }
}

fn short(value: f64) -> String {
    match value {
        v if v >= 1000.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_well() {
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(4096), "4 KiB");
        assert_eq!(bytes(3 << 29), "1.50 GiB");
        assert_eq!(duration(Time::from_ps(63_024_313)), "63.0 us");
        assert_eq!(duration(Time::from_ps(7)), "7 ps");
        assert_eq!(count(65_536.0), "65.5 k");
        assert_eq!(count(99.0), "99");
        assert_eq!(percent(1.0, 0.0), "-");
        assert_eq!(percent(1.0, 3.0), "33.3 %");
    }
}
