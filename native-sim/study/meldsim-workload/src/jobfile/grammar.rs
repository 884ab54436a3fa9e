//! Small grammars of options: flags, shares, rates, block sizes, percentiles.

use crate::direction::by_direction;
use crate::distribution::{at_most, percentage, shares};
use crate::job::{BlockShare, BlockSizes, Job, Rate};
use crate::options::{LatencyTarget, ZonedBlock};
use crate::quantity::{parse_bytes, parse_decimal, parse_number};

pub(super) fn flag(text: &str) -> Result<bool, String> {
    match text {
        "" | "true" => Ok(true),
        "false" => Ok(false),
        // As in fio, any other number is on.
        _ => parse_number(text)
            .map(|number: u64| number > 0)
            .map_err(|_| format!("is \"{text}\"; use 1 or 0")),
    }
}

pub(super) fn share(text: &str) -> Result<u64, String> {
    let number = parse_decimal(text, ZonedBlock::ALL);
    number
        .filter(|number| *number <= ZonedBlock::ALL)
        .ok_or_else(|| format!("is \"{text}\"; use a number from 0 to 1, such as 0.1"))
}

pub(super) fn percentile(text: &str) -> Result<u64, String> {
    let number = parse_decimal(text, LatencyTarget::ALL / 100);
    number
        .filter(|number| *number <= LatencyTarget::ALL)
        .ok_or_else(|| format!("is \"{text}\"; use a percentage such as 99.9"))
}

// As in fio, a rate of 0 is no limit.
pub(super) fn bytes_a_second(text: &str) -> Result<[Option<Rate>; 3], String> {
    let rates = by_direction(text, parse_bytes)?;
    Ok(rates.map(|rate| rate.filter(|rate| *rate > 0).map(Rate::Bytes)))
}

pub(super) fn requests_a_second(text: &str) -> Result<[Option<Rate>; 3], String> {
    let rates = by_direction(text, parse_number)?;
    Ok(rates.map(|rate| rate.filter(|rate| *rate > 0).map(Rate::Requests)))
}

/// fio's `smallest-largest`. As there, what follows a size is not looked at.
pub(super) fn parse_block_range(text: &str) -> Result<BlockSizes, String> {
    let wrong = || format!("is \"{text}\", which is not SIZE-SIZE; write one such as 4k-64k");
    let (first, last) = text
        .split_once('-')
        .or_else(|| text.split_once(':'))
        .ok_or_else(wrong)?;
    let size = |text: &str| {
        let end = text.find(['/', ':']).unwrap_or(text.len());
        parse_bytes(&text[..end]).map_err(|_| wrong())
    };
    let (first, last) = (size(first)?, size(last)?);
    Ok(BlockSizes {
        least: first.min(last),
        most: first.max(last),
        split: Vec::new(),
    })
}

/// fio's `size/percent:size/percent`; what is left of 100 percent is shared among the sizes without one, or goes to the size of
/// the most. As there, a range of sizes is its smallest, and percentages are whole: `5.` is 5.
pub(super) fn parse_block_split(text: &str) -> Result<BlockSizes, String> {
    let wrong =
        || format!("is \"{text}\", which is not SIZE/PERCENT:...; write one such as 4k/60:64k/40");
    let (mut sizes, mut percents) = (Vec::new(), Vec::new());
    for part in text.split(':').filter(|part| !part.is_empty()) {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let (size, _) = size.split_once('-').unwrap_or((size, ""));
        sizes.push(parse_bytes(size).map_err(|_| wrong())?);
        let percent = percent.trim().trim_end_matches('.');
        let percent = percentage(percent).ok_or_else(wrong)?;
        percents.push(percent.filter(|percent| *percent > 0));
    }
    at_most("sizes", sizes.len(), Job::SPLIT_MAX)?;
    if sizes.is_empty() {
        return Err(wrong());
    }
    let percents = shares(&percents);
    let given: u32 = percents.iter().sum();
    if given > 100 {
        return Err(format!(
            "has percentages that add up to {given}; let them add up to 100"
        ));
    }
    let shares = sizes.into_iter().zip(percents);
    let split = shares.map(|(bytes, percent)| BlockShare { bytes, percent });
    Ok(BlockSizes::split(split.collect()))
}

/// fio's `50:99:99.9`: percentiles of latencies, in millionths of a percent.
pub(super) fn parse_percentiles(text: &str) -> Result<Vec<u64>, String> {
    let mut all = text
        .split(':')
        .map(percentile)
        .collect::<Result<Vec<_>, _>>()?;
    at_most("percentiles", all.len(), Job::PERCENTILES_MAX)?;
    all.sort_unstable();
    all.dedup();
    Ok(all)
}
