//! Which blocks random requests prefer, in fio's words for `random_distribution`.

use std::fmt::{self, Display};

use super::direction::by_direction;
use super::quantity::{parse_bytes, parse_decimal};

/// Most zones with shares that a job may list, as in fio.
const ZONES_MAX: usize = 256;

/// How often each block is touched by random requests. Fractions are in millionths, so that a job can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// Each block once in every pass: fio's default, with its random map.
    #[default]
    Once,
    /// Any block at any time: fio's `norandommap`.
    Uniform,
    /// By Zipf's law with this exponent. Popular blocks are scattered.
    Zipf(Preference),
    /// This share of the blocks gets the rest of the requests, and so again within it. Scattered.
    Pareto(Preference),
    /// Sums of uniform numbers, with this deviation in percent of the region. Scattered.
    Normal(Preference),
    /// Zones from the region's start in percent of it, each with its share of the requests; of reads, writes and trims.
    Zoned([Zones; 3]),
    /// The same, with zones in bytes.
    ZonedAbsolute([Zones; 3]),
}

/// The number of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preference {
    /// In millionths.
    pub value: u64,
    /// How far on blocks are moved, as a share of the region in millionths; at random when not given.
    pub center: Option<u64>,
}

/// The zones of one direction; all blocks alike when there are none.
pub type Zones = Vec<Zone>;

/// A part of the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Share of the requests.
    pub access_percent: u32,
    /// Share of the region in percent, or bytes.
    pub size: u64,
}

/// One, in the unit of a distribution's parameters.
const MILLION: u64 = 1_000_000;

impl Distribution {
    /// Zipf's law with an exponent in millionths.
    pub const fn zipf(theta: u64) -> Distribution {
        Distribution::Zipf(Preference {
            value: theta,
            center: None,
        })
    }

    /// The zones of each direction, and whether they are in bytes.
    pub(super) fn zones(&self) -> Option<(&[Zones; 3], bool)> {
        match self {
            Distribution::Zoned(zones) => Some((zones, false)),
            Distribution::ZonedAbsolute(zones) => Some((zones, true)),
            _ => None,
        }
    }
}

impl Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |millionths: u64| millionths as f64 / MILLION as f64;
        let preferred = |f: &mut fmt::Formatter<'_>, name: &str, of: &Preference| {
            write!(f, "{name}:{}", number(of.value))?;
            of.center
                .map_or(Ok(()), |center| write!(f, ":{}", number(center)))
        };
        match self {
            Distribution::Once => f.write_str("random"),
            Distribution::Uniform => f.write_str("random, norandommap"),
            Distribution::Zipf(of) => preferred(f, "zipf", of),
            Distribution::Pareto(of) => preferred(f, "pareto", of),
            Distribution::Normal(of) => preferred(f, "normal", of),
            Distribution::Zoned(zones) => write!(f, "zoned:{}", texts(zones)),
            Distribution::ZonedAbsolute(zones) => write!(f, "zoned_abs:{}", texts(zones)),
        }
    }
}

/// The zones of all directions; once where they are the same.
fn texts(zones: &[Zones; 3]) -> String {
    let text = |zones: &Zones| {
        let zones = zones.iter();
        let zones = zones.map(|zone| format!("{}/{}", zone.access_percent, zone.size));
        zones.collect::<Vec<_>>().join(":")
    };
    match zones.iter().all(|other| *other == zones[0]) {
        true => text(&zones[0]),
        false => zones.each_ref().map(text).join(","),
    }
}

/// The distribution in fio's syntax: `random`, `zipf:1.2:0.5`, `pareto:0.2`, `normal:10`, `zoned:60/10:40/90`,
/// `zoned_abs:60/20g:40/100g`.
pub(super) fn parse_distribution(text: &str) -> Result<Distribution, String> {
    let (name, parameter) = text.split_once(':').unwrap_or((text, ""));
    // Defaults and ranges are fio's, but that one needs a bound.
    let (default, most, range) = match name {
        "random" if name == text => return Ok(Distribution::Once),
        "zipf" => (Some(1_100_000), 20 * MILLION, "20 but 1, such as zipf:1.2"),
        "pareto" => (Some(200_000), MILLION - 1, "1, such as pareto:0.2"),
        "normal" => (None, 100 * MILLION - 1, "100, such as normal:10"),
        "zoned" => return parse_zones(parameter, false).map(Distribution::Zoned),
        "zoned_abs" => return parse_zones(parameter, true).map(Distribution::ZonedAbsolute),
        _ => {
            return Err(format!(
                "is \"{text}\", which is unknown; use random, zipf:THETA, pareto:POWER, normal:DEVIATION, zoned:ACCESS/SIZE:... or zoned_abs:ACCESS/SIZE:..."
            ));
        }
    };
    let (value, center) = match parameter.split_once(':') {
        Some((value, center)) => (value, Some(center)),
        None => (parameter, None),
    };
    let value = match value {
        "" => default,
        text => parse_decimal(text, MILLION),
    };
    let value = value.filter(|value| (1..=most).contains(value));
    let value = value.filter(|value| name != "zipf" || *value != MILLION);
    let value = value.ok_or_else(|| {
        format!("is \"{text}\", which is not {name} with a number; write {name}:N with N above 0 and up to {range}")
    })?;
    let center = center.map(|text| {
        let center = parse_decimal(text, MILLION).filter(|center| *center <= MILLION);
        center.ok_or_else(|| {
            format!("has the center \"{text}\"; write a share of the region from 0 to 1, such as {name}:0.5:0.5")
        })
    });
    let preference = Preference {
        value,
        center: center.transpose()?,
    };
    Ok(match name {
        "zipf" => Distribution::Zipf(preference),
        "pareto" => Distribution::Pareto(preference),
        _ => Distribution::Normal(preference),
    })
}

fn parse_zones(text: &str, in_bytes: bool) -> Result<[Zones; 3], String> {
    let zones = by_direction(text, |text| parse_zones_of(text, in_bytes))?;
    Ok(zones.map(Option::unwrap_or_default))
}

fn parse_zones_of(text: &str, in_bytes: bool) -> Result<Zones, String> {
    let wrong = || match in_bytes {
        true => format!(
            "has zones \"{text}\" whose accesses are not percentages which add up to 100, or that have no size; write zoned_abs:ACCESS/SIZE:..., such as zoned_abs:60/20g:40/100g"
        ),
        false => format!(
            "has zones \"{text}\" that are not percentages which add up to 100; write zoned:ACCESS/SIZE:..., such as zoned:60/10:40/90"
        ),
    };
    let (mut accesses, mut sizes) = (Vec::new(), Vec::new());
    for zone in text.split(':') {
        let (access, size) = zone.split_once('/').ok_or_else(wrong)?;
        accesses.push(percentage(access).ok_or_else(wrong)?);
        sizes.push(match in_bytes {
            true => Some(parse_bytes(size)?),
            false => percentage(size).ok_or_else(wrong)?.map(u64::from),
        });
    }
    at_most("zones", sizes.len(), ZONES_MAX)?;
    let accesses = shares(&accesses);
    let sizes: Vec<u64> = match in_bytes {
        true => sizes.into_iter().flatten().collect(),
        false => {
            let percent = sizes.iter().map(|size| size.map(|size| size as u32));
            let shares = shares(&percent.collect::<Vec<_>>());
            if shares.iter().sum::<u32>() > 100 {
                return Err(wrong());
            }
            shares.into_iter().map(u64::from).collect()
        }
    };
    if accesses.iter().sum::<u32>() != 100 || sizes.contains(&0) {
        return Err(wrong());
    }
    let zones = accesses.into_iter().zip(sizes);
    let zones = zones.map(|(access_percent, size)| Zone {
        access_percent,
        size,
    });
    Ok(zones.collect())
}

/// Refuses a list that is longer than fio's.
pub(super) fn at_most(what: &str, count: usize, most: usize) -> Result<(), String> {
    match count > most {
        true => Err(format!("has {count} {what}; use {most} at most")),
        false => Ok(()),
    }
}

/// A percentage, or nothing where it is left out; `None` if it is neither.
pub(super) fn percentage(text: &str) -> Option<Option<u32>> {
    match text {
        "" => Some(None),
        text => text.parse::<u8>().ok().map(|percent| Some(percent.into())),
    }
}

/// Percentages, of which those that are left out share what the others leave of a hundred. As in fio, what does not divide is
/// lost.
pub(super) fn shares(given: &[Option<u32>]) -> Vec<u32> {
    let left = 100u32.saturating_sub(given.iter().flatten().sum());
    let open = given.iter().filter(|share| share.is_none()).count() as u32;
    let share = |share: &Option<u32>| share.unwrap_or_else(|| left / open);
    given.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_fio_reads() {
        let preference = |value, center| Preference { value, center };
        for (text, expected) in [
            ("random", Distribution::Once),
            ("zipf", Distribution::zipf(1_100_000)),
            (
                "zipf:0.9:0.25",
                Distribution::Zipf(preference(900_000, Some(250_000))),
            ),
            (
                "pareto:0.2",
                Distribution::Pareto(preference(200_000, None)),
            ),
            (
                "normal:12.5",
                Distribution::Normal(preference(12_500_000, None)),
            ),
        ] {
            assert_eq!(parse_distribution(text).as_ref(), Ok(&expected));
            let written = expected.to_string();
            assert_eq!(parse_distribution(&written), Ok(expected), "{written}");
        }
        for (text, written) in [
            ("zoned:60/10:30/20:10/70", "zoned:60/10:30/20:10/70"),
            ("zoned:60/10:40/,100/30", "zoned:60/10:40/90,100/30,100/30"),
            ("zoned_abs:90/4k:10/1m", "zoned_abs:90/4096:10/1048576"),
        ] {
            let zones = parse_distribution(text).unwrap();
            assert_eq!(zones.to_string(), written);
            assert_eq!(parse_distribution(written), Ok(zones));
        }
    }

    #[test]
    fn refuses_the_rest_with_a_remedy() {
        for text in [
            "",
            "zipf:0",
            "zipf:1",
            "zipf:x",
            "zipf:21",
            "zipf:1.2:2",
            "pareto:1.0",
            "normal",
            "normal:101",
            "zoned",
            "zoned:50/50",
            "zoned:50/50:50/51",
            "zoned:100/0:0/100",
            "zoned_abs:50/4k",
            "zoned_abs:100/0",
            "gauss:1",
            "random:1",
        ] {
            let error = parse_distribution(text).unwrap_err();
            assert!(error.contains("; "), "{text}: {error}");
        }
    }
}
