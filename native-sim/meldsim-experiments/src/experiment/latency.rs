//! `melded-latency`: time to the last byte of one request, by its size.

use serde::Serialize;

use super::burst::{ExperimentError, Layout, burst_read};
use super::published::{LATENCY_SETUP, SOURCE, latency_rows};
use super::setup::Setup;
use super::verdict::Verdict;
use crate::report::{Align, Table, bytes};
use meldsim::profile::Profile;

/// A published cell pair: whole microseconds, truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PublishedLatency {
    /// Normal layout.
    pub normal_us: u64,
    /// Melded layout.
    pub melded_us: u64,
}

/// One request size on one device, in both layouts.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyCell {
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
    /// Bytes of the request.
    pub request_bytes: u64,
    /// Simulated, normal layout.
    pub normal_us: f64,
    /// Simulated, melded layout.
    pub melded_us: f64,
    /// Published, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedLatency>,
}

/// All cells of a run of the experiment.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyReport {
    /// `melded-latency`.
    pub experiment: &'static str,
    /// Where published values come from.
    pub source: &'static str,
    /// The cells.
    pub cells: Vec<LatencyCell>,
    /// Simulated against published.
    pub verdict: Verdict,
}

impl Setup {
    /// The device of the published latency cells.
    pub const PUBLISHED_LATENCY: Setup = LATENCY_SETUP;
}

impl LatencyReport {
    /// Request sizes of the published cells.
    pub fn published_sizes() -> impl Iterator<Item = u64> {
        latency_rows().map(|[request_bytes, ..]| request_bytes)
    }

    /// The report as text.
    pub fn to_text(&self) -> String {
        let columns = [
            ("channels x dies", Align::Left),
            ("page", Align::Right),
            ("bus", Align::Right),
            ("request", Align::Right),
            ("normal published", Align::Right),
            ("simulated", Align::Right),
            ("off", Align::Right),
            ("melded published", Align::Right),
            ("simulated", Align::Right),
            ("off", Align::Right),
        ];
        let mut table = Table::new(columns);
        for cell in &self.cells {
            let published = cell.published;
            let pair = |published: Option<u64>, simulated: f64| {
                let off = published.map(|published| simulated.trunc() - published as f64);
                [
                    published.map_or("-".to_owned(), |us| us.to_string()),
                    format!("{simulated:.3}"),
                    off.map_or("-".to_owned(), |off| format!("{off:+}")),
                ]
            };
            let mut row = vec![
                format!("{} x {}", cell.channels, cell.dies_per_channel),
                bytes(cell.page_bytes),
                format!("{}x{}", cell.bus_mts, cell.bus_bits),
                bytes(cell.request_bytes),
            ];
            row.extend(pair(published.map(|p| p.normal_us), cell.normal_us));
            row.extend(pair(published.map(|p| p.melded_us), cell.melded_us));
            table.row(row);
        }
        format!(
            "melded-latency: one request as one burst, time to its last byte in us.\n\
             published (truncated): {}; off: simulated, truncated, less published\n\n{table}\n{}\n",
            self.source, self.verdict
        )
    }
}

/// Reads each size on each setup in both layouts. `progress` is told which share of the work is done, 0 to 1.
pub fn melded_latency(
    base: &Profile,
    setups: &[Setup],
    sizes: &[u64],
    mut progress: impl FnMut(f64),
) -> Result<LatencyReport, ExperimentError> {
    let mut cells = Vec::new();
    for setup in setups {
        let profile = setup.profile(base);
        for &request_bytes in sizes {
            let time_us = |layout| {
                burst_read(&profile, request_bytes, layout).map(|time| time.as_ps() as f64 / 1e6)
            };
            cells.push(LatencyCell {
                channels: setup.channels,
                dies_per_channel: setup.dies_per_channel,
                page_bytes: setup.page_bytes,
                bus_mts: setup.bus.mts,
                bus_bits: setup.bus.bits,
                request_bytes,
                normal_us: time_us(Layout::Normal)?,
                melded_us: time_us(Layout::Melded)?,
                published: published(setup, request_bytes),
            });
            progress(cells.len() as f64 / (setups.len() * sizes.len()) as f64);
        }
    }
    let comparisons = cells.iter().filter_map(|cell| {
        let published = cell.published?;
        Some([
            cell.normal_us.trunc() == published.normal_us as f64,
            cell.melded_us.trunc() == published.melded_us as f64,
        ])
    });
    Ok(LatencyReport {
        experiment: "melded-latency",
        source: SOURCE,
        verdict: Verdict::new(
            "off: differs after truncation to whole us",
            comparisons.flatten(),
        ),
        cells,
    })
}

fn published(setup: &Setup, request_bytes: u64) -> Option<PublishedLatency> {
    let row = latency_rows().find(|[size, ..]| *size == request_bytes)?;
    (*setup == LATENCY_SETUP).then_some(PublishedLatency {
        normal_us: row[1],
        melded_us: row[2],
    })
}
