//! Which blocks random requests prefer: fio's `random_distribution`.

use super::quantity::parse_decimal;

/// How often each block is touched by random requests. Fractions are in millionths, so that a job can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// Each block once, in random order, then each once again in another order: fio's default, with its random map.
    #[default]
    Once,
    /// Any block at any time: fio's `norandommap`.
    Uniform,
    /// The k-th most popular block is touched in proportion to `1 / k^theta`. Popular blocks are scattered.
    Zipf {
        /// The exponent, in millionths.
        theta: u64,
    },
    /// A share `power` of the blocks gets a share `1 - power` of the requests, and so again within it. Scattered.
    Pareto {
        /// The share, in millionths.
        power: u64,
    },
    /// Around the middle of the region.
    Normal {
        /// Standard deviation in percent of the region, in millionths.
        deviation: u64,
    },
    /// Zones from the region's start, each with its share of the requests.
    Zoned(Vec<Zone>),
}

/// A part of the region, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Share of the requests.
    pub access_percent: u32,
    /// Share of the region.
    pub size_percent: u32,
}

/// One, in the unit of a distribution's parameters.
const MILLION: u64 = 1_000_000;

/// The distribution in fio's syntax: `random`, `zipf:1.2`, `pareto:0.2`, `normal:10`, `zoned:60/10:40/90`.
pub(super) fn parse_distribution(text: &str) -> Result<Distribution, String> {
    let (name, parameter) = match text.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (text, None),
    };
    let number = |default: Option<u64>, within: std::ops::RangeInclusive<u64>, range: &str| {
        let value = match parameter {
            None | Some("") => default,
            Some(text) => parse_decimal(text, MILLION),
        };
        value.filter(|value| within.contains(value)).ok_or_else(|| {
            format!(
                "is \"{text}\", which is not {name} with a number; write {name}:N with N {range}"
            )
        })
    };
    // Defaults and ranges are fio's.
    match name {
        "random" if parameter.is_none() => Ok(Distribution::Once),
        "zipf" => number(
            Some(1_200_000),
            1..=20 * MILLION,
            "above 0 and up to 20, such as zipf:1.2",
        )
        .map(|theta| Distribution::Zipf { theta }),
        "pareto" => number(
            Some(200_000),
            1..=MILLION / 2,
            "above 0 and up to 0.5, such as pareto:0.2",
        )
        .map(|power| Distribution::Pareto { power }),
        "normal" => number(
            None,
            1..=100 * MILLION,
            "above 0 and up to 100, such as normal:10",
        )
        .map(|deviation| Distribution::Normal { deviation }),
        "zoned" => parse_zones(parameter.unwrap_or("")),
        _ => Err(format!(
            "is \"{text}\", which is unknown; use random, zipf:THETA, pareto:POWER, normal:DEVIATION or zoned:ACCESS/SIZE:..."
        )),
    }
}

fn parse_zones(text: &str) -> Result<Distribution, String> {
    let wrong = || {
        format!(
            "has zones \"{text}\" that are not percentages which add up to 100; write zoned:ACCESS/SIZE:..., such as zoned:60/10:40/90"
        )
    };
    let mut zones = Vec::new();
    for zone in text.split(':') {
        let (access, size) = zone.split_once('/').ok_or_else(wrong)?;
        let (access, size) = (access.parse::<u8>(), size.parse::<u8>());
        let (access, size) = access.ok().zip(size.ok()).ok_or_else(wrong)?;
        zones.push(Zone {
            access_percent: u32::from(access),
            size_percent: u32::from(size),
        });
    }
    let sum = |part: fn(&Zone) -> u32| zones.iter().map(part).sum::<u32>();
    let whole = sum(|zone| zone.access_percent) == 100 && sum(|zone| zone.size_percent) == 100;
    if !whole || zones.iter().any(|zone| zone.size_percent == 0) {
        return Err(wrong());
    }
    Ok(Distribution::Zoned(zones))
}

impl std::fmt::Display for Distribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = |millionths: u64| millionths as f64 / MILLION as f64;
        match self {
            Distribution::Once => f.write_str("random"),
            Distribution::Uniform => f.write_str("random, norandommap"),
            Distribution::Zipf { theta } => write!(f, "zipf:{}", number(*theta)),
            Distribution::Pareto { power } => write!(f, "pareto:{}", number(*power)),
            Distribution::Normal { deviation } => write!(f, "normal:{}", number(*deviation)),
            Distribution::Zoned(zones) => {
                f.write_str("zoned")?;
                for zone in zones {
                    write!(f, ":{}/{}", zone.access_percent, zone.size_percent)?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_fio_reads() {
        for (text, expected) in [
            ("random", Distribution::Once),
            ("zipf", Distribution::Zipf { theta: 1_200_000 }),
            ("zipf:0.9", Distribution::Zipf { theta: 900_000 }),
            ("pareto:0.2", Distribution::Pareto { power: 200_000 }),
            (
                "normal:12.5",
                Distribution::Normal {
                    deviation: 12_500_000,
                },
            ),
        ] {
            assert_eq!(parse_distribution(text).as_ref(), Ok(&expected));
            let written = expected.to_string();
            assert_eq!(parse_distribution(&written), Ok(expected), "{written}");
        }
        let zones = parse_distribution("zoned:60/10:30/20:10/70").unwrap();
        assert_eq!(zones.to_string(), "zoned:60/10:30/20:10/70");
    }

    #[test]
    fn refuses_the_rest_with_a_remedy() {
        for text in [
            "",
            "zipf:0",
            "zipf:x",
            "zipf:21",
            "pareto:0.6",
            "normal",
            "normal:101",
            "zoned",
            "zoned:50/50",
            "zoned:50/50:50/49",
            "zoned:100/0:0/100",
            "gauss:1",
            "random:1",
        ] {
            let error = parse_distribution(text).unwrap_err();
            assert!(error.contains("; "), "{text}: {error}");
        }
    }
}
