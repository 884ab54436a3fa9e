//! Which blocks random requests prefer, in fio's words for `random_distribution`.

use super::quantity::parse_decimal;
use meldsim_drive::{Distribution, Zone};

/// One, in the unit of a distribution's parameters.
const MILLION: u64 = 1_000_000;

/// The distribution in fio's syntax: `random`, `zipf:1.2`, `pareto:0.2`, `normal:10`, `zoned:60/10:40/90`.
pub(super) fn parse_distribution(text: &str) -> Result<Distribution, String> {
    let (name, parameter) = match text.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (text, None),
    };
    // Defaults and ranges are fio's.
    let (default, most, range) = match name {
        "random" if parameter.is_none() => return Ok(Distribution::Once),
        "zipf" => (Some(1_200_000), 20 * MILLION, "20, such as zipf:1.2"),
        "pareto" => (Some(200_000), MILLION / 2, "0.5, such as pareto:0.2"),
        "normal" => (None, 100 * MILLION, "100, such as normal:10"),
        "zoned" => return parse_zones(parameter.unwrap_or("")),
        _ => {
            return Err(format!(
                "is \"{text}\", which is unknown; use random, zipf:THETA, pareto:POWER, normal:DEVIATION or zoned:ACCESS/SIZE:..."
            ));
        }
    };
    let value = match parameter {
        None | Some("") => default,
        Some(text) => parse_decimal(text, MILLION),
    };
    let value = value.filter(|value| (1..=most).contains(value));
    let value = value.ok_or_else(|| {
        format!("is \"{text}\", which is not {name} with a number; write {name}:N with N above 0 and up to {range}")
    })?;
    Ok(match name {
        "zipf" => Distribution::Zipf { theta: value },
        "pareto" => Distribution::Pareto { power: value },
        _ => Distribution::Normal { deviation: value },
    })
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
        zones.push((percentage(access), percentage(size)));
    }
    let zones = zones.into_iter().map(|(access, size)| access.zip(size));
    let zones: Vec<(Option<u32>, Option<u32>)> = zones.collect::<Option<_>>().ok_or_else(wrong)?;
    // As in fio, what is left out shares the rest.
    let accesses = shares(zones.iter().map(|zone| zone.0));
    let sizes = shares(zones.iter().map(|zone| zone.1));
    let zones = accesses.into_iter().zip(sizes);
    let zones: Vec<Zone> = zones
        .map(|(access_percent, size_percent)| Zone {
            access_percent,
            size_percent,
        })
        .collect();
    let sum = |part: fn(&Zone) -> u32| zones.iter().map(part).sum::<u32>();
    let whole = sum(|zone| zone.access_percent) == 100 && sum(|zone| zone.size_percent) == 100;
    if !whole || zones.iter().any(|zone| zone.size_percent == 0) {
        return Err(wrong());
    }
    Ok(Distribution::Zoned(zones))
}

/// A percentage, or nothing where it is left out; `None` if it is neither.
fn percentage(text: &str) -> Option<Option<u32>> {
    match text {
        "" => Some(None),
        text => text.parse::<u8>().ok().map(|percent| Some(percent.into())),
    }
}

/// Percentages, of which those that are left out share what the others leave of a hundred.
pub(super) fn shares(given: impl Iterator<Item = Option<u32>> + Clone) -> Vec<u32> {
    let left = 100u32.saturating_sub(given.clone().flatten().sum());
    let open = given.clone().filter(Option::is_none).count() as u32;
    let mut nth = 0;
    let share = |share: Option<u32>| {
        share.unwrap_or_else(|| {
            // What does not divide goes to the first.
            nth += 1;
            left / open + u32::from(nth <= left % open)
        })
    };
    given.map(share).collect()
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
