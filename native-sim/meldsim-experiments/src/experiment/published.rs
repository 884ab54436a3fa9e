//! The published cells. The only copy is in `data`, as CSV with its source in the first lines.

use super::setup::{BusSpeed, Setup};

/// Where the numbers come from.
pub const SOURCE: &str = "Arpith K, K. Gopinath: \"A Case for Melded Pages\" (HotStorage'20)";

const LATENCY: &str = include_str!("../../data/melded_latency_8x8.csv");
const THROUGHPUT: &str = include_str!("../../data/melded_throughput_8x8.csv");

/// Channels of the published device.
pub(super) const CHANNELS: u32 = 8;
/// Dies per channel of the published device.
pub(super) const DIES_PER_CHANNEL: u32 = 8;
/// Bytes read in the throughput experiment.
pub(super) const THROUGHPUT_REQUEST_BYTES: u64 = 128 << 20;

/// The device of the latency cells.
pub(super) const LATENCY_SETUP: Setup = Setup {
    channels: CHANNELS,
    dies_per_channel: DIES_PER_CHANNEL,
    page_bytes: 4096,
    bus: BusSpeed { mts: 800, bits: 8 },
};

/// Rows of the latency table: request bytes, normal and melded latency in truncated microseconds.
pub(super) fn latency_rows() -> impl Iterator<Item = [u64; 3]> {
    rows(LATENCY)
}

/// Rows of the throughput table: page bytes, bus mega-transfers and bits, normal and melded truncated MiB/s.
pub(super) fn throughput_rows() -> impl Iterator<Item = [u64; 5]> {
    rows(THROUGHPUT)
}

/// The numbers of a CSV; comments and the header are not numbers and fall out.
fn rows<const N: usize>(csv: &'static str) -> impl Iterator<Item = [u64; N]> {
    csv.lines().filter_map(|line| {
        let mut fields = line.split(',').map(|field| field.trim().parse().ok());
        let mut row = [0; N];
        for value in &mut row {
            *value = fields.next()??;
        }
        Some(row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_cell_is_read() {
        assert_eq!(latency_rows().count(), 16);
        assert_eq!(throughput_rows().count(), 8);
        assert_eq!(latency_rows().next(), Some([4096, 63, 183]));
        assert_eq!(throughput_rows().last(), Some([4096, 1600, 16, 3033, 4391]));
    }
}
