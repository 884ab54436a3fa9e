//! What is claimed of melded pages (HotStorage'20), as outcomes of `melded-latency` and `melded-throughput`.

use super::burst::{ExperimentError, Layout, burst_read_at};
use super::claim::{Basis, Claim};
use super::latency::{LatencyReport, melded_latency};
use super::outcome::{Chart, Figure, Grounds, Outcome};
use super::published::SOURCE;
use super::setup::Setup;
use super::sheet::{Cell, Column, Sheet};
use super::throughput::{ThroughputReport, melded_throughput};
use super::verdict::Verdict;
use crate::report::bytes;
use crate::report::chart::{Axis, BarChart, Line, LineChart};
use meldsim::engine::Time;
use meldsim::profile::{MeldedPartialRead, Profile};

const SECTION: u32 = 1;
/// Sensing LSB, CSB and MSB alone, published.
const SENSE_US: [f64; 3] = [58.0, 78.0, 107.0];
/// Sensing all three at once, published.
const MELDED_SENSE_US: f64 = 166.0;
/// Reference voltages that each of the four reads applies.
const SENSES: [f64; 4] = [1.0, 2.0, 4.0, 7.0];
/// Largest deviation of a published read time from X + nY.
const FIT_TOLERANCE: f64 = 0.05;

fn us(time: Time) -> f64 {
    time.as_ps() as f64 / 1e6
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
    let variance: f64 = SENSES.into_iter().map(|senses| (senses - n).powi(2)).sum();
    let y = covariance / variance;
    let x = t - n * y;
    let off = pairs().map(|(senses, time)| ((x + senses * y) / time - 1.0).abs());
    (x, y, off.fold(0.0, f64::max))
}

/// What a read of some pages of one wordline takes beyond the bus: the senses.
fn senses_us(
    profile: &Profile,
    first_page: u64,
    pages: u64,
    layout: Layout,
) -> Result<f64, ExperimentError> {
    let page_bytes = profile.geometry.page_size.0;
    let (offset, size) = (first_page * page_bytes, pages * page_bytes);
    let time = burst_read_at(profile, offset, size, layout)?;
    let byte_us = 8.0 / (profile.bus.rate.0 as f64 * f64::from(profile.bus.width_bits));
    let per_page = f64::from(profile.bus.bytes_per_4kib) * page_bytes as f64 / 4096.0;
    let bus_bytes = f64::from(profile.bus.command_bytes) + pages as f64 * per_page;
    Ok(us(time) - bus_bytes * byte_us)
}

fn listed(values: &[f64]) -> String {
    let texts: Vec<String> = values.iter().map(|value| format!("{value:.1}")).collect();
    texts.join(" / ")
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 0.05
}

/// `melded-latency` on the published device, with what is claimed of single reads.
pub(super) fn latency(
    base: &Profile,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let sizes: Vec<u64> = LatencyReport::published_sizes().collect();
    melded_latency(base, &[Setup::PUBLISHED_LATENCY], &sizes, progress)?.to_outcome(base)
}

impl LatencyReport {
    /// The report with its claims; they are about the published device, and absent when it was not simulated.
    pub fn to_outcome(&self, base: &Profile) -> Result<Outcome, ExperimentError> {
        let mut claims = Vec::new();
        if self.verdict.holds.is_some() {
            let published = Setup::PUBLISHED_LATENCY.profile(base);
            claims = read_claims(&published)?;
            claims.push(verdict_claim(
                "melded-latency.table",
                "latency of one burst of 4 KiB to 128 MiB, both layouts, 8 x 8 dies",
                "32 cells in whole us",
                &self.verdict,
                "every cell is equal after truncation",
            ));
            claims.push(crossover(self));
            claims.push(never_lose(&published)?);
        }
        Ok(Outcome {
            experiment: self.experiment,
            profile: base.name.clone(),
            about:
                "One request as one burst on an idle device, time to its last byte, by its size."
                    .to_owned(),
            grounds: grounds(),
            sheets: vec![latency_sheet(self)],
            figures: vec![latency_figure(self)],
            claims,
        })
    }
}

fn grounds() -> Grounds {
    Grounds {
        published: vec![
            format!("{SOURCE}: read times of single pages and of a melded read, latency and throughput cells, 8 x 8 dies, buses"),
        ],
        fitted: vec![
            "bytes on the bus for a page, the read command's bus time, commands before data, a die busy until its last byte has left".to_owned(),
        ],
        assumed: vec!["blocks, wordlines and program times: reads of a fresh device do not depend on them".to_owned()],
    }
}

fn read_claims(profile: &Profile) -> Result<Vec<Claim>, ExperimentError> {
    let dies = u64::from(profile.geometry.channels * profile.geometry.dies_per_channel);
    let mut alone = Vec::new();
    for page in 0..SENSE_US.len() as u64 {
        // The normal layout places one page on every die before the next of a wordline.
        alone.push(senses_us(profile, page * dies, 1, Layout::Normal)?);
    }
    let melded = senses_us(profile, 0, SENSE_US.len() as u64, Layout::Melded)?;
    let apart: f64 = alone.iter().sum();
    let command = "meldsim experiment melded-latency".to_owned();
    let (x, y, off) = fit();
    Ok(vec![
        Claim {
            id: "melded-latency.senses",
            section: SECTION,
            basis: Basis::Published,
            statement: "LSB, CSB and MSB read alone, without the bus".to_owned(),
            published: "58 / 78 / 107 us".to_owned(),
            measured: format!("{} us", listed(&alone)),
            criterion: "they are equal to 0.05 us".to_owned(),
            holds: alone
                .iter()
                .zip(SENSE_US)
                .all(|(&alone, us)| close(alone, us)),
            command: command.clone(),
        },
        Claim {
            id: "melded-latency.melded-sense",
            section: SECTION,
            basis: Basis::Published,
            statement: "the three pages in one melded read instead of one by one".to_owned(),
            published: "166 instead of 243 us".to_owned(),
            measured: format!("{melded:.1} instead of {apart:.1} us"),
            criterion: "they are equal to 0.05 us".to_owned(),
            holds: close(melded, MELDED_SENSE_US) && close(apart, SENSE_US.iter().sum()),
            command: command.clone(),
        },
        Claim {
            id: "melded-latency.x-plus-ny",
            section: SECTION,
            basis: Basis::Published,
            statement: "a read of n senses takes X + nY (1, 2, 4 and 7 senses)".to_owned(),
            published: "X + nY".to_owned(),
            measured: format!(
                "X = {x:.1} us, Y = {y:.1} us, off by at most {:.1} %",
                100.0 * off
            ),
            criterion: format!("least squares come within {:.0} %", 100.0 * FIT_TOLERANCE),
            holds: off <= FIT_TOLERANCE,
            command,
        },
    ])
}

fn verdict_claim(
    id: &'static str,
    statement: &str,
    published: &str,
    verdict: &Verdict,
    criterion: &str,
) -> Claim {
    let experiment = id.split('.').next().unwrap_or(id);
    Claim {
        id,
        section: SECTION,
        basis: Basis::Published,
        statement: statement.to_owned(),
        published: published.to_owned(),
        measured: format!("{} of {} off", verdict.cells_off, verdict.cells_compared),
        criterion: criterion.to_owned(),
        holds: verdict.holds == Some(true),
        command: format!("meldsim experiment {experiment}"),
    }
}

fn crossover(report: &LatencyReport) -> Claim {
    let wins = |size: u64| {
        let cell = report.cells.iter().find(|cell| cell.request_bytes == size);
        cell.map_or(f64::NAN, |cell| cell.normal_us / cell.melded_us)
    };
    let loses_to = report
        .cells
        .iter()
        .filter(|cell| cell.melded_us >= cell.normal_us);
    let wins_from = report
        .cells
        .iter()
        .filter(|cell| cell.melded_us < cell.normal_us);
    let last_loss = loses_to.map(|cell| cell.request_bytes).max();
    let first_win = wins_from.map(|cell| cell.request_bytes).min();
    Claim {
        id: "melded-latency.crossover",
        section: SECTION,
        basis: Basis::Published,
        statement: "melding loses at 1 MiB and below, wins at 2 MiB and above".to_owned(),
        published: "between 1 and 2 MiB".to_owned(),
        measured: format!(
            "x{:.2} at 1 MiB, x{:.2} at 2 MiB",
            wins(1 << 20),
            wins(2 << 20)
        ),
        criterion: "every size is on its side".to_owned(),
        holds: last_loss == Some(1 << 20) && first_win == Some(2 << 20),
        command: "meldsim experiment melded-latency".to_owned(),
    }
}

/// By default a partial read of a melded wordline is no dearer than the cheaper of its two ways.
fn never_lose(published: &Profile) -> Result<Claim, ExperimentError> {
    let mut profile = published.clone();
    profile.ftl.melded_partial_read = MeldedPartialRead::Cheapest;
    let page_bytes = profile.geometry.page_size.0;
    let dies = u64::from(profile.geometry.channels * profile.geometry.dies_per_channel);
    let (mut worst_page, mut worst_part) = (0f64, 0f64);
    for page in 0..SENSE_US.len() as u64 {
        let alone = burst_read_at(
            &profile,
            page * dies * page_bytes,
            page_bytes,
            Layout::Normal,
        )?;
        let in_melded = burst_read_at(&profile, page * page_bytes, page_bytes, Layout::Melded)?;
        worst_page = worst_page.max(us(in_melded) / us(alone));
        for pages in 1..=SENSE_US.len() as u64 - page {
            let (offset, size) = (page * page_bytes, pages * page_bytes);
            let by_default = burst_read_at(&profile, offset, size, Layout::Melded)?;
            let whole = burst_read_at(published, offset, size, Layout::Melded)?;
            worst_part = worst_part.max(us(by_default) / us(whole));
        }
    }
    Ok(Claim {
        id: "melded-latency.never-lose",
        section: SECTION,
        basis: Basis::Assumption,
        statement: "by default a page of a melded wordline alone costs what it does unmelded, a part of the wordline no more than the whole".to_owned(),
        published: "never lose".to_owned(),
        measured: format!("x{worst_page:.3} for a page, x{worst_part:.3} for a part, at worst"),
        criterion: "both are at most x1".to_owned(),
        holds: worst_page <= 1.0 && worst_part <= 1.0,
        command: "meldsim experiment melded-latency".to_owned(),
    })
}

/// The columns that say which device it was.
const DEVICE: &[Column] = &[
    ("channels", "channels"),
    ("dies_per_channel", "x dies"),
    ("page_bytes", "page"),
    ("bus", "bus"),
];

/// Their cells.
fn device_cells(channels: u32, dies: u32, page_bytes: u64, mts: u64, bits: u32) -> [Cell; 4] {
    [
        Cell::Count(u64::from(channels)),
        Cell::Count(u64::from(dies)),
        Cell::Bytes(page_bytes),
        Cell::text(format!("{mts}x{bits}")),
    ]
}

fn latency_sheet(report: &LatencyReport) -> Sheet {
    let mut sheet = Sheet::new("cells", DEVICE).with(&[
        ("request_bytes", "request"),
        ("normal_published_us", "normal published us"),
        ("normal_us", "simulated"),
        ("melded_published_us", "melded published us"),
        ("melded_us", "simulated"),
        ("gain", "gain"),
    ]);
    for cell in &report.cells {
        let published = |us: Option<u64>| us.map_or(Cell::Missing, Cell::Count);
        let device = device_cells(
            cell.channels,
            cell.dies_per_channel,
            cell.page_bytes,
            cell.bus_mts,
            cell.bus_bits,
        );
        sheet.row(device.into_iter().chain([
            Cell::Bytes(cell.request_bytes),
            published(cell.published.map(|p| p.normal_us)),
            Cell::Number(cell.normal_us, 3),
            published(cell.published.map(|p| p.melded_us)),
            Cell::Number(cell.melded_us, 3),
            Cell::Number(cell.normal_us / cell.melded_us, 3),
        ]));
    }
    sheet
}

fn latency_figure(report: &LatencyReport) -> Figure {
    let line = |name: &str, value: &dyn Fn(&super::LatencyCell) -> Option<f64>, dashed| Line {
        name: name.to_owned(),
        points: report
            .cells
            .iter()
            .filter_map(|cell| Some((cell.request_bytes as f64, value(cell)?)))
            .collect(),
        dashed,
    };
    let chart = LineChart {
        title: "Latency of one burst".to_owned(),
        x: size_axis(
            "request",
            report.cells.iter().map(|cell| cell.request_bytes),
        ),
        y: Axis::log("us"),
        lines: vec![
            line("normal", &|cell| Some(cell.normal_us), false),
            line("melded", &|cell| Some(cell.melded_us), false),
            line(
                "normal, published",
                &|cell| Some(cell.published?.normal_us as f64),
                true,
            ),
            line(
                "melded, published",
                &|cell| Some(cell.published?.melded_us as f64),
                true,
            ),
        ],
    };
    Figure {
        chart: Chart::Line(chart),
        caption: "Melding waits longer for a small request and finishes a large one sooner."
            .to_owned(),
    }
}

/// A logarithmic axis of sizes, each named.
pub(super) fn size_axis(label: &str, sizes: impl Iterator<Item = u64>) -> Axis {
    Axis {
        ticks: sizes.map(|size| (size as f64, bytes(size))).collect(),
        ..Axis::log(label)
    }
}

/// `melded-throughput` on the published devices.
pub(super) fn throughput(
    base: &Profile,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let setups: Vec<Setup> = Setup::published_throughput().collect();
    Ok(melded_throughput(base, &setups, progress)?.to_outcome(base))
}

impl ThroughputReport {
    /// The report with its claim; it is absent when no published device was simulated.
    pub fn to_outcome(&self, base: &Profile) -> Outcome {
        let claim = self.verdict.holds.map(|_| {
            verdict_claim(
                "melded-throughput.table",
                "throughput of one 128 MiB burst, both layouts, by page size and bus",
                "16 cells in MiB/s",
                &self.verdict,
                "every cell is within 0.15 %",
            )
        });
        Outcome {
            experiment: self.experiment,
            profile: base.name.clone(),
            about: "128 MiB read as one burst, by page size and bus.".to_owned(),
            grounds: grounds(),
            sheets: vec![throughput_sheet(self)],
            figures: vec![throughput_figure(self)],
            claims: claim.into_iter().collect(),
        }
    }
}

fn throughput_sheet(report: &ThroughputReport) -> Sheet {
    let mut sheet = Sheet::new("cells", DEVICE).with(&[
        ("normal_published_mib_s", "normal published MiB/s"),
        ("normal_mib_s", "simulated"),
        ("melded_published_mib_s", "melded published MiB/s"),
        ("melded_mib_s", "simulated"),
        ("gain", "gain"),
    ]);
    for cell in &report.cells {
        let published = |rate: Option<u64>| rate.map_or(Cell::Missing, Cell::Count);
        let device = device_cells(
            cell.channels,
            cell.dies_per_channel,
            cell.page_bytes,
            cell.bus_mts,
            cell.bus_bits,
        );
        sheet.row(device.into_iter().chain([
            published(cell.published.map(|p| p.normal_mib_s)),
            Cell::Number(cell.normal_mib_s, 2),
            published(cell.published.map(|p| p.melded_mib_s)),
            Cell::Number(cell.melded_mib_s, 2),
            Cell::Number(cell.gain, 3),
        ]));
    }
    sheet
}

fn throughput_figure(report: &ThroughputReport) -> Figure {
    let groups = report.cells.iter().map(|cell| {
        let label = format!(
            "{}, {}x{}",
            bytes(cell.page_bytes),
            cell.bus_mts,
            cell.bus_bits
        );
        (
            label,
            vec![Some(cell.normal_mib_s), Some(cell.melded_mib_s)],
        )
    });
    Figure {
        chart: Chart::Bar(BarChart {
            title: "Throughput of one 128 MiB burst".to_owned(),
            axis: "MiB/s".to_owned(),
            series: vec!["normal".to_owned(), "melded".to_owned()],
            groups: groups.collect(),
        }),
        caption: "A slow bus takes the gain away: the senses hide behind it.".to_owned(),
    }
}
