//! `melded-latency` and `melded-throughput`: one request as one burst on an idle device, by its size, and by the page size
//! and the bus, in the normal and in the melded layout. After "A Case for Melded Pages" (HotStorage'20).
//!
//! The published cells are in `data`, as CSV with their source in the first lines.

use super::burst::{burst_read, burst_read_at, traced_burst_read};
use super::setup::{BusSpeed, Setup, bus_bytes, bus_us, us};
use crate::prelude::*;
use meldsim::profile::{MeldedPartialRead, Profile};
use meldsim_measured::distinct;
use meldsim_timeline::Timelines;

/// The paper on melded pages.
pub const PAPER: &str = "\"A Case for Melded Pages\" (HotStorage'20)";

pub(super) const LATENCY: Experiment = Experiment {
    name: "melded-latency",
    about: "Time to the last byte of one request, by its size: normal and melded layout",
    paper: PAPER,
    profile: "melded-tlc-8x8",
    request_unit: None,
    options: Options::SetupsAndSizes(
        || vec![LATENCY_SETUP],
        || latency_cells().map(|row| row[0]).collect(),
    ),
    plan: plan_latency,
    timeline: Some(timeline_of_reads),
    ..Experiment::DEFAULT
};

pub(super) const THROUGHPUT: Experiment = Experiment {
    name: "melded-throughput",
    about: "Throughput of one 128 MiB read, by dies, page size and bus: normal and melded layout",
    paper: PAPER,
    profile: "melded-tlc-8x8",
    request_unit: None,
    options: Options::Setups(|| throughput_cells().map(|cell| cell.setup).collect()),
    plan: plan_throughput,
    timeline: Some(timeline_of_reads),
    ..Experiment::DEFAULT
};

pub(super) const DEVICE: &str = "melded-tlc-8x8";

/// The device of the published latencies.
const LATENCY_SETUP: Setup = Setup {
    channels: 8,
    dies_per_channel: 8,
    page_bytes: 4096,
    bus: BusSpeed { mts: 800, bits: 8 },
};
/// Bytes of the request whose throughput is published.
const THROUGHPUT_BYTES: u64 = 128 << 20;
/// Bytes of the read that timelines show: the smallest published one that melding wins.
const TIMELINE_BYTES: u64 = 2 << 20;
/// Largest deviation of a throughput that holds. A unit in the last published place is up to 0.07 %.
const THROUGHPUT_TOLERANCE: f64 = 0.001;
/// Largest deviation of a gain that holds, in points: that of two throughputs.
const GAIN_TOLERANCE: f64 = 0.2;
/// The constants that both tables were met with.
const FITTED: &str = "bus.bytes_per_4kib, bus.command_bytes, bus.arbitration and ftl.page_allocation, fitted to the 32 latencies and to the 16 throughputs of pages of 2 and 4 KiB on 8 x 8 dies";
const NOT_SEEN: &str =
    "constants fixed by 2026-11-21, cells seen on 2026-11-25; none of them was used";
/// Sensing LSB, CSB and MSB alone, published.
const SENSE_US: [f64; 3] = [58.0, 78.0, 107.0];
/// Sensing all three at once, published.
const MELDED_SENSE_US: f64 = 166.0;
/// Reference voltages that each of the four reads applies.
const SENSES: [f64; 4] = [1.0, 2.0, 4.0, 7.0];
/// The published latencies: request bytes, then normal and melded in truncated microseconds.
pub(super) fn latency_cells() -> impl Iterator<Item = [u64; 3]> {
    numbers(include_str!("../data/melded_latency_8x8.csv"))
}

/// A device whose throughput is published.
struct Throughput {
    setup: Setup,
    /// Normal and melded, in truncated MiB/s.
    mib_s: [u64; 2],
    /// How much more melded pages give, in percent; none where the source has a dash.
    gain_percent: Option<f64>,
    /// The bus was fitted with it in sight.
    is_fitted: bool,
}

fn throughput_cells() -> impl Iterator<Item = Throughput> {
    let csv = include_str!("../data/melded_throughput.csv");
    csv.lines().filter_map(|line| {
        let (numbers, rest) = line.rsplit_once(',')?;
        let (numbers, gain) = numbers.rsplit_once(',')?;
        let mut numbers = numbers.split(',').map(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next()?;
        Some(Throughput {
            setup: Setup {
                channels: next()? as u32,
                dies_per_channel: next()? as u32,
                page_bytes: next()?,
                bus: BusSpeed {
                    mts: next()?,
                    bits: next()? as u32,
                },
            },
            mib_s: [next()?, next()?],
            gain_percent: gain.parse().ok(),
            is_fitted: rest == "yes",
        })
    })
}

/// The rows of a CSV; comments and the header are not numbers and fall out.
fn numbers<const N: usize>(csv: &'static str) -> impl Iterator<Item = [u64; N]> {
    csv.lines().filter_map(|line| {
        let mut fields = line.split(',').map(|field| field.trim().parse().ok());
        let mut row = [0; N];
        for value in &mut row {
            *value = fields.next()??;
        }
        Some(row)
    })
}

/// One request on one device, in both layouts: microseconds, or MiB/s.
struct ReadRow {
    setup: Setup,
    request_bytes: u64,
    normal: f64,
    melded: f64,
    /// Normal and melded, where known.
    published: Option<[u64; 2]>,
}

impl ReadRow {
    /// How much more throughput melded pages give, in percent.
    fn more_percent(&self) -> f64 {
        100.0 * (self.melded / self.normal - 1.0)
    }

    /// The simulated and the published value of both layouts.
    fn pairs(&self) -> Option<[(f64, u64); 2]> {
        let [normal, melded] = self.published?;
        Some([(self.normal, normal), (self.melded, melded)])
    }
}

/// How many of the published cells are off, and by how much at worst; none when no published device was simulated.
fn table_claim<'a>(
    claim: Claim,
    rows: impl Iterator<Item = &'a ReadRow>,
    (bound, criterion): (Bound, &str),
    holds: fn(f64, u64) -> bool,
) -> Option<Claim> {
    let pairs: Vec<(f64, u64)> = rows.filter_map(ReadRow::pairs).flatten().collect();
    let is_off = |&&(simulated, published): &&(f64, u64)| !holds(simulated, published);
    let (cells, off) = (pairs.len(), pairs.iter().filter(is_off).count());
    let claim = claim
        .measured(format!("{off} of {cells} off"))
        .when(bound, criterion)
        .holds(off == 0);
    (cells > 0).then_some(claim)
}

fn outcome(run: &Run, about: &str) -> Outcome {
    run.report(about)
        .published(format!("Arpith K, K. Gopinath: {PAPER}: read times of single pages and of a melded read, 32 latencies, 64 throughputs with their gains, dies, buses"))
        .fitted("four rules of the bus (bytes for a page, time of a read command, commands go before data, a die is busy until its last byte has left), to the 32 latencies and to 16 of the throughputs: pages of 2 and 4 KiB on 8 x 8 dies")
        .assumed("blocks, wordlines and program times. Reads of a fresh device do not depend on them")
}

/// The published value of a layout.
fn published(layout: usize) -> impl Fn(&ReadRow) -> Option<u64> {
    move |row| row.published.map(|published| published[layout])
}

/// The published throughput of its device.
fn published_throughput(row: &ReadRow) -> Option<Throughput> {
    throughput_cells().find(|cell| cell.setup == row.setup)
}

/// A sheet that begins with the device.
fn cells<'a>(rows: &'a [ReadRow]) -> Columns<'a, ReadRow> {
    Sheet::of("cells", rows)
        .count("channels", "channels", |row| u64::from(row.setup.channels))
        .count("dies_per_channel", "x dies", |row| {
            u64::from(row.setup.dies_per_channel)
        })
        .bytes("page_bytes", "page", |row| row.setup.page_bytes)
        .cell("bus", "bus", |row| row.setup.bus.to_string())
}

fn plan_latency<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let published = |setup: Setup, size: u64| {
        let row = latency_cells().find(|[bytes, ..]| *bytes == size)?;
        (setup == LATENCY_SETUP).then_some([row[1], row[2]])
    };
    let each: Vec<(Setup, u64)> = run
        .setups
        .iter()
        .flat_map(|setup| run.request_sizes.iter().map(|size| (*setup, *size)))
        .collect();
    // The claims are about the published device.
    let is_published = each
        .iter()
        .any(|(setup, size)| published(*setup, *size).is_some());
    let rows = cells.each(each, move |&(setup, request_bytes)| {
        let profile = setup.profile(&run.profile);
        let time_us = |layout| burst_read(&profile, request_bytes, layout).map(us);
        Ok(ReadRow {
            setup,
            request_bytes,
            normal: time_us(Layout::Normal)?,
            melded: time_us(Layout::Melded)?,
            published: published(setup, request_bytes),
        })
    });
    let device = LATENCY_SETUP.profile(&run.profile);
    let reads = cells.each(is_published.then_some(()), move |()| {
        Ok((read_claims(&device)?, never_lose(&device)?))
    });
    Ok(Box::new(move || {
        let rows = rows.take()?;
        let mut outcome = latency_outcome(run, &rows);
        for (reads, never_lose) in reads.take()? {
            let claim = Claim::fitted("melded-latency.table", FITTED)
                .statement("latency of one burst of 4 KiB to 128 MiB, both layouts, 8 x 8 dies")
                .expected("32 cells in whole us");
            let bound = (Bound::Digits, "every cell is equal after truncation");
            let is_equal = |simulated: f64, published| simulated.trunc() == published as f64;
            let table = table_claim(claim, rows.iter(), bound, is_equal)?
                .fails_with(Change::percent(DEVICE, "bus.bytes_per_4kib", 1));
            outcome = outcome
                .claims(reads)
                .claims([table, crossover(&rows), never_lose]);
        }
        Some(outcome)
    }))
}

fn latency_outcome(run: &Run, rows: &[ReadRow]) -> Outcome {
    let sheet = cells(rows)
        .bytes("request_bytes", "request", |row| row.request_bytes)
        .count("normal_published_us", "normal published us", published(0))
        .number("normal_us", "simulated", 3, |row| row.normal)
        .count("melded_published_us", "melded published us", published(1))
        .number("melded_us", "simulated", 3, |row| row.melded)
        .number("gain", "gain", 3, |row| row.normal / row.melded);
    let line = |name: &str, value: &dyn Fn(&ReadRow) -> Option<f64>| {
        Line::over(name, rows, |row| {
            Some((row.request_bytes as f64, value(row)?))
        })
    };
    let chart = LineChart {
        title: "Latency of one burst".to_owned(),
        x: size_axis("request", rows.iter().map(|row| row.request_bytes)),
        y: Axis::log("us"),
        lines: vec![
            line("normal", &|row| Some(row.normal)),
            line("melded", &|row| Some(row.melded)),
            line("normal, published", &|row| Some(row.published?[0] as f64)).dashed(),
            line("melded, published", &|row| Some(row.published?[1] as f64)).dashed(),
        ],
    };
    let about = "One request as one burst on an idle device, time to its last byte, by its size.";
    outcome(run, about).sheet(sheet).figure(
        chart,
        "With melding a small request takes longer, and a large one is done sooner.",
    )
}

/// X and Y of X + nY by least squares over the published read times, and the largest relative deviation.
pub(super) fn fit() -> (f64, f64, f64) {
    let times = [SENSE_US[0], SENSE_US[1], SENSE_US[2], MELDED_SENSE_US];
    let mean = |values: [f64; 4]| values.iter().sum::<f64>() / 4.0;
    let (n, t) = (mean(SENSES), mean(times));
    let pairs = || SENSES.into_iter().zip(times);
    let covariance: f64 = pairs()
        .map(|(senses, time)| (senses - n) * (time - t))
        .sum();
    let variance: f64 = SENSES
        .into_iter()
        .map(|senses| libm::pow(senses - n, 2.0))
        .sum();
    let y = covariance / variance;
    let x = t - n * y;
    let off = pairs().map(|(senses, time)| ((x + senses * y) / time - 1.0).abs());
    (x, y, off.fold(0.0, f64::max))
}

/// What a read of some pages of one wordline takes beyond the bus: the senses.
fn senses_us(profile: &Profile, first_page: u64, pages: u64, layout: Layout) -> Result<f64> {
    let page_bytes = profile.geometry.page_size.0;
    let (offset, size) = (first_page * page_bytes, pages * page_bytes);
    let time = burst_read_at(profile, offset, size, layout)?;
    let on_bus = f64::from(profile.bus.command_bytes) + pages as f64 * bus_bytes(profile);
    Ok(us(time) - on_bus * bus_us(profile))
}

/// The normal layout places one page on every die before the next of a wordline.
fn dies(profile: &Profile) -> u64 {
    u64::from(profile.geometry.channels * profile.geometry.dies_per_channel)
}

/// What so many pages of a wordline take to sense: one by one, each on the first die, and all at once.
pub(super) fn wordline_us(profile: &Profile, pages: u64) -> Result<(Vec<f64>, f64)> {
    let alone = (0..pages).map(|page| senses_us(profile, page * dies(profile), 1, Layout::Normal));
    let melded = senses_us(profile, 0, pages, Layout::Melded);
    Ok((alone.collect::<Result<_, _>>()?, melded?))
}

fn read_claims(profile: &Profile) -> Result<[Claim; 2]> {
    let (alone, melded) = wordline_us(profile, SENSE_US.len() as u64)?;
    let apart: f64 = alone.iter().sum();
    let close = |left: f64, right: f64| (left - right).abs() < 0.05;
    let listed: Vec<String> = alone.iter().map(|us| format!("{us:.1}")).collect();
    let equal = "they are equal to 0.05 us";
    Ok([
        Claim::input("melded-latency.senses", "timing.read is put in")
            .statement("LSB, CSB and MSB read alone, without the bus")
            .expected("58 / 78 / 107 us")
            .measured(format!("{} us", listed.join(" / ")))
            .when(Bound::Digits, equal)
            .holds(
                alone
                    .iter()
                    .zip(SENSE_US)
                    .all(|(&alone, us)| close(alone, us)),
            ),
        Claim::input(
            "melded-latency.melded-sense",
            "timing.read and timing.melded_read are put in",
        )
        .statement("the three pages in one melded read instead of one by one")
        .expected("166 instead of 243 us")
        .measured(format!("{melded:.1} instead of {apart:.1} us"))
        .when(Bound::Digits, equal)
        .holds(close(melded, MELDED_SENSE_US) && close(apart, SENSE_US.iter().sum())),
    ])
}

fn crossover(rows: &[ReadRow]) -> Claim {
    let gain = |size: u64| {
        let row = rows.iter().find(|row| row.request_bytes == size);
        row.map_or(f64::NAN, |row| row.normal / row.melded)
    };
    let sizes = |wins: bool| {
        let of = rows
            .iter()
            .filter(move |row| (row.melded < row.normal) == wins);
        of.map(|row| row.request_bytes)
    };
    let (last_loss, first_win) = (sizes(false).max(), sizes(true).min());
    Claim::fitted("melded-latency.crossover", FITTED)
        .statement("melding loses at 1 MiB and below, wins at 2 MiB and above")
        .expected("between 1 and 2 MiB")
        .measured(format!(
            "x{:.2} at 1 MiB, x{:.2} at 2 MiB",
            gain(1 << 20),
            gain(2 << 20)
        ))
        .when(Bound::Published, "every size is on its side")
        .holds(last_loss == Some(1 << 20) && first_win == Some(2 << 20))
        .fails_with(Change::percent(DEVICE, "timing.melded_read", 25))
}

/// By default a partial read of a melded wordline is no dearer than the cheaper of its two ways.
fn never_lose(published: &Profile) -> Result<Claim> {
    let mut profile = published.clone();
    profile.ftl.melded_partial_read = MeldedPartialRead::Cheapest;
    let page_bytes = profile.geometry.page_size.0;
    let read = |profile, first_page: u64, pages: u64, layout| {
        burst_read_at(profile, first_page * page_bytes, pages * page_bytes, layout).map(us)
    };
    let (mut worst_page, mut worst_part) = (0f64, 0f64);
    for page in 0..SENSE_US.len() as u64 {
        let alone = read(&profile, page * dies(&profile), 1, Layout::Normal)?;
        let in_melded = read(&profile, page, 1, Layout::Melded)?;
        worst_page = worst_page.max(in_melded / alone);
        for pages in 1..=SENSE_US.len() as u64 - page {
            let by_default = read(&profile, page, pages, Layout::Melded)?;
            let whole = read(published, page, pages, Layout::Melded)?;
            worst_part = worst_part.max(by_default / whole);
        }
    }
    Ok(Claim::construction("melded-latency.never-lose", "ftl.melded_partial_read = \"cheapest\" takes the cheaper of the two ways")
        .statement("by default a page of a melded wordline alone costs what it does unmelded, a part of the wordline no more than the whole")
        .expected("never lose")
        .measured(format!("x{worst_page:.3} for a page, x{worst_part:.3} for a part, at worst"))
        .when(Bound::Own, "both are at most x1").holds(worst_page <= 1.0 && worst_part <= 1.0))
}

/// The normal and the melded read of the same data, one after the other: each with a timeline.
pub(super) fn timeline_of_reads(run: &Run, timelines: &Timelines) -> Result<()> {
    let setups = &run.setups;
    let setup = setups.iter().find(|setup| **setup == LATENCY_SETUP);
    let profile = match setup.or(setups.first()) {
        Some(setup) => setup.profile(&run.profile),
        None => run.profile.clone(),
    };
    for (layout, name) in [(Layout::Normal, "normal"), (Layout::Melded, "melded")] {
        let name = format!("{} of {}, {name}", bytes(TIMELINE_BYTES), profile.name);
        let timeline = timelines.begin(&profile, &name)?;
        traced_burst_read(&profile, 0, TIMELINE_BYTES, layout, Some(timeline))?;
    }
    Ok(())
}

fn plan_throughput<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let rows = cells.each(run.setups.iter().copied(), |setup| {
        let profile = setup.profile(&run.profile);
        let rate_mib_s = |layout| {
            burst_read(&profile, THROUGHPUT_BYTES, layout)
                .map(|time| (THROUGHPUT_BYTES >> 20) as f64 / time.as_secs_f64())
        };
        let published = throughput_cells().find(|cell| cell.setup == *setup);
        Ok(ReadRow {
            setup: *setup,
            request_bytes: THROUGHPUT_BYTES,
            normal: rate_mib_s(Layout::Normal)?,
            melded: rate_mib_s(Layout::Melded)?,
            published: published.map(|cell| cell.mib_s),
        })
    });
    rows.then(|rows| Some(throughput_outcome(run, &rows).claims(throughput_claims(&rows))))
}

fn throughput_claims(rows: &[ReadRow]) -> impl Iterator<Item = Claim> {
    let of = |is_fitted| {
        let is = move |row: &&ReadRow| {
            published_throughput(row).is_some_and(|cell| cell.is_fitted == is_fitted)
        };
        rows.iter().filter(is)
    };
    let bound = (Bound::Own, "every cell is within 0.1 %");
    let is_near = |simulated: f64, published| {
        (simulated / published as f64 - 1.0).abs() <= THROUGHPUT_TOLERANCE
    };
    let change = || Change::percent(DEVICE, "bus.bytes_per_4kib", 5);
    let fitted = Claim::fitted("melded-throughput.table", FITTED)
        .statement("throughput of one 128 MiB burst, both layouts, pages of 2 and 4 KiB on 8 x 8 dies, four buses")
        .expected("16 cells in MiB/s")
        .fails_with(change());
    let held_back = Claim::predicted("melded-throughput.held-back", NOT_SEEN)
        .statement("throughput of one 128 MiB burst, both layouts, pages of 8 and 16 KiB on 8 x 8 dies and of 2 to 16 KiB on 16 x 4 dies, four buses")
        .expected("48 cells in MiB/s")
        .fails_with(change());
    let pairs = of(false)
        .filter_map(|row| Some((row.more_percent(), published_throughput(row)?.gain_percent)));
    let pairs: Vec<(f64, Option<f64>)> = pairs.collect();
    let is_off = |&&(simulated, published): &&(f64, Option<f64>)| match published {
        Some(published) => (simulated - published).abs() > GAIN_TOLERANCE,
        None => simulated > 0.0,
    };
    let (off, all) = (pairs.iter().filter(is_off).count(), pairs.len());
    let gains = Claim::predicted("melded-throughput.gains", NOT_SEEN)
        .statement(
            "how much more melded pages give, on the devices of those 48 cells; a dash is no gain",
        )
        .expected("24 percentages to one digit, four of them a dash")
        .measured(format!("{off} of {all} off"))
        .when(
            Bound::Own,
            format!("each is within {GAIN_TOLERANCE} points, and at most 0 for a dash"),
        )
        .holds(off == 0)
        .fails_with(Change::percent(DEVICE, "timing.melded_read", 5));
    let tables = [
        table_claim(fitted, of(true), bound, is_near),
        table_claim(held_back, of(false), bound, is_near),
        (all > 0).then_some(gains),
    ];
    tables.into_iter().flatten()
}

fn throughput_outcome(run: &Run, rows: &[ReadRow]) -> Outcome {
    let sheet = cells(rows)
        .count(
            "normal_published_mib_s",
            "normal published MiB/s",
            published(0),
        )
        .number("normal_mib_s", "simulated", 2, |row| row.normal)
        .count(
            "melded_published_mib_s",
            "melded published MiB/s",
            published(1),
        )
        .number("melded_mib_s", "simulated", 2, |row| row.melded)
        .number("gain_published_percent", "gain published %", 1, |row| {
            published_throughput(row)?.gain_percent
        })
        .number("gain_percent", "simulated", 2, ReadRow::more_percent)
        .number("gain", "gain", 3, |row| row.melded / row.normal)
        .cell("cells", "cells", |row| {
            Some(match published_throughput(row)?.is_fitted {
                true => "fitted",
                false => "predicted",
            })
        });
    outcome(
        run,
        "128 MiB read as one burst, by dies, page size and bus.",
    )
    .sheet(sheet)
    .figure(
        gain_map(rows),
        "On a slow bus there is no gain: the dies sense while they wait for the bus.",
    )
}

/// How much more melded pages give: a row for each geometry, a column for each bus.
fn gain_map(rows: &[ReadRow]) -> HeatMap {
    let geometry = |row: &ReadRow| {
        let Setup {
            channels,
            dies_per_channel,
            page_bytes,
            ..
        } = row.setup;
        (channels, dies_per_channel, page_bytes)
    };
    let mut geometries: Vec<_> = rows.iter().map(geometry).collect();
    geometries.sort_unstable();
    geometries.dedup();
    let buses = distinct(rows.iter().map(|row| row.setup.bus));
    let gains = |of| {
        let gain = |bus: &BusSpeed| {
            let row = rows
                .iter()
                .find(|row| geometry(row) == of && row.setup.bus == *bus);
            row.map(ReadRow::more_percent)
        };
        buses.iter().map(gain).collect()
    };
    let label = |(channels, dies, page): (u32, u32, u64)| {
        format!("{channels} x {dies} dies, {}", bytes(page))
    };
    HeatMap {
        title: "How much more throughput melded pages give, %".to_owned(),
        x: "bus, MT/s x bits".to_owned(),
        y: "channels x dies, page".to_owned(),
        columns: buses.iter().map(BusSpeed::to_string).collect(),
        rows: geometries
            .iter()
            .map(|of| (label(*of), gains(*of)))
            .collect(),
        scale: HeatScale::Sequential(50.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_cell_is_read() {
        assert_eq!(latency_cells().count(), 16);
        assert_eq!(latency_cells().next(), Some([4096, 63, 183]));
        let cells: Vec<Throughput> = throughput_cells().collect();
        assert_eq!(cells.len(), 32);
        assert_eq!(cells.iter().filter(|cell| cell.is_fitted).count(), 8);
        let dashes = cells.iter().filter(|cell| cell.gain_percent.is_none());
        assert_eq!(dashes.count(), 4);
        let last = &cells[31];
        assert_eq!(last.setup.channels, 16);
        assert_eq!(
            (last.setup.page_bytes, last.setup.bus.to_string()),
            (16384, "1600x16".to_owned())
        );
        assert_eq!(
            (last.mib_s, last.gain_percent),
            ([11531, 16166], Some(40.1))
        );
    }
}
