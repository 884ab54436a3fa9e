//! `melded-throughput`: one large read, by page size and bus.

use serde::Serialize;

use super::burst::{ExperimentError, Layout, burst_read};
use super::published::{
    CHANNELS, DIES_PER_CHANNEL, SOURCE, THROUGHPUT_REQUEST_BYTES, throughput_rows,
};
use super::setup::{BusSpeed, Setup};
use super::verdict::Verdict;
use crate::report::{Align, Table, bytes};
use meldsim::profile::Profile;

/// Largest deviation of a cell that holds.
const TOLERANCE: f64 = 0.0015;

/// A published cell pair: whole MiB/s, truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PublishedThroughput {
    /// Normal layout.
    pub normal_mib_s: u64,
    /// Melded layout.
    pub melded_mib_s: u64,
}

/// One device, in both layouts.
#[derive(Clone, Debug, Serialize)]
pub struct ThroughputCell {
    /// Channels.
    pub channels: u32,
    /// Dies that share a channel.
    pub dies_per_channel: u32,
    /// Data bytes of a page.
    pub page_bytes: u64,
    /// Bus, mega-transfers a second.
    pub bus_mts: u64,
    /// Bus, bits a transfer.
    pub bus_bits: u32,
    /// Simulated, normal layout.
    pub normal_mib_s: f64,
    /// Simulated, melded layout.
    pub melded_mib_s: f64,
    /// Simulated, melded over normal.
    pub gain: f64,
    /// Published, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedThroughput>,
}

/// All cells of a run of the experiment.
#[derive(Clone, Debug, Serialize)]
pub struct ThroughputReport {
    /// `melded-throughput`.
    pub experiment: &'static str,
    /// Where published values come from.
    pub source: &'static str,
    /// Bytes read in one burst.
    pub request_bytes: u64,
    /// The cells.
    pub cells: Vec<ThroughputCell>,
    /// Simulated against published.
    pub verdict: Verdict,
}

impl Setup {
    /// The devices of the published throughput cells.
    pub fn published_throughput() -> impl Iterator<Item = Setup> {
        throughput_rows().map(|[page_bytes, mts, bits, ..]| Setup {
            channels: CHANNELS,
            dies_per_channel: DIES_PER_CHANNEL,
            page_bytes,
            bus: BusSpeed {
                mts,
                bits: bits as u32,
            },
        })
    }
}

impl ThroughputReport {
    /// The report as text.
    pub fn to_text(&self) -> String {
        let columns = [
            ("channels x dies", Align::Left),
            ("page", Align::Right),
            ("bus", Align::Right),
            ("normal published", Align::Right),
            ("simulated", Align::Right),
            ("deviation", Align::Right),
            ("melded published", Align::Right),
            ("simulated", Align::Right),
            ("deviation", Align::Right),
            ("gain simulated", Align::Right),
        ];
        let mut table = Table::new(columns);
        for cell in &self.cells {
            let pair = |published: Option<u64>, simulated: f64| {
                let percent = published.map(|published| 100.0 * deviation(published, simulated));
                [
                    published.map_or("-".to_owned(), |rate| rate.to_string()),
                    format!("{simulated:.2}"),
                    percent.map_or("-".to_owned(), |percent| format!("{percent:+.3} %")),
                ]
            };
            let mut row = vec![
                format!("{} x {}", cell.channels, cell.dies_per_channel),
                bytes(cell.page_bytes),
                format!("{}x{}", cell.bus_mts, cell.bus_bits),
            ];
            row.extend(pair(
                cell.published.map(|p| p.normal_mib_s),
                cell.normal_mib_s,
            ));
            row.extend(pair(
                cell.published.map(|p| p.melded_mib_s),
                cell.melded_mib_s,
            ));
            row.push(format!("{:.3}", cell.gain));
            table.row(row);
        }
        format!(
            "melded-throughput: {} read as one burst, MiB/s.\n\
             published (truncated): {}\n\n{table}\n{}\n",
            bytes(self.request_bytes),
            self.source,
            self.verdict
        )
    }
}

/// Reads 128 MiB on each setup in both layouts. `progress` is told which share of the work is done, 0 to 1.
pub fn melded_throughput(
    base: &Profile,
    setups: &[Setup],
    mut progress: impl FnMut(f64),
) -> Result<ThroughputReport, ExperimentError> {
    let mut cells = Vec::new();
    for setup in setups {
        let profile = setup.profile(base);
        let rate_mib_s = |layout| {
            burst_read(&profile, THROUGHPUT_REQUEST_BYTES, layout)
                .map(|time| (THROUGHPUT_REQUEST_BYTES >> 20) as f64 / time.as_secs_f64())
        };
        let (normal_mib_s, melded_mib_s) =
            (rate_mib_s(Layout::Normal)?, rate_mib_s(Layout::Melded)?);
        cells.push(ThroughputCell {
            channels: setup.channels,
            dies_per_channel: setup.dies_per_channel,
            page_bytes: setup.page_bytes,
            bus_mts: setup.bus.mts,
            bus_bits: setup.bus.bits,
            normal_mib_s,
            melded_mib_s,
            gain: melded_mib_s / normal_mib_s,
            published: published(setup),
        });
        progress(cells.len() as f64 / setups.len() as f64);
    }
    let comparisons = cells.iter().filter_map(|cell| {
        let published = cell.published?;
        Some([
            deviation(published.normal_mib_s, cell.normal_mib_s).abs() <= TOLERANCE,
            deviation(published.melded_mib_s, cell.melded_mib_s).abs() <= TOLERANCE,
        ])
    });
    Ok(ThroughputReport {
        experiment: "melded-throughput",
        source: SOURCE,
        request_bytes: THROUGHPUT_REQUEST_BYTES,
        verdict: Verdict::new("off: deviates by more than 0.15 %", comparisons.flatten()),
        cells,
    })
}

fn deviation(published: u64, simulated: f64) -> f64 {
    simulated / published as f64 - 1.0
}

fn published(setup: &Setup) -> Option<PublishedThroughput> {
    let devices = Setup::published_throughput().zip(throughput_rows());
    let (_, row) = devices.into_iter().find(|(device, _)| device == setup)?;
    Some(PublishedThroughput {
        normal_mib_s: row[3],
        melded_mib_s: row[4],
    })
}
