//! Rule 1: the mean latency of random requests by their size and depth, of both devices.
//!
//! The published heat map is in `data`, as CSV with its source in the first lines.

use super::super::burst::Result;
use super::rules::DeviceUnderTest;
use meldsim::device::Device;
use meldsim::engine::Random;
use meldsim::nvme::NamespaceId;
use meldsim_host::{Source, transfer};

pub(super) const SIZES_KIB: [u64; 9] = [2, 4, 8, 16, 32, 64, 128, 256, 512];
pub(super) const DEPTHS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Below this a published difference is too small for its size to be held against ours.
const LEAST_T: f64 = 0.2;
/// How far the difference may be from the published one.
const TOLERANCE: f64 = 0.3;

/// A cell of the published map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PublishedCell {
    pub(super) request_bytes: u64,
    pub(super) depth: u64,
    /// By which share the slower device's mean latency is above the faster one's; negative where
    /// Optane is the slower one.
    pub(super) t: f64,
    /// Value and position are read from the source. Of other cells one of them is inferred.
    pub(super) is_certain: bool,
}

fn published_cells() -> impl Iterator<Item = PublishedCell> {
    let csv = include_str!("../../data/optane_vs_flash_read_heatmap.csv");
    csv.lines().filter_map(|line| {
        let mut fields = line.split(',').map(str::trim);
        let kib: u64 = fields.next()?.parse().ok()?;
        Some(PublishedCell {
            request_bytes: kib << 10,
            depth: fields.next()?.parse().ok()?,
            t: fields.next()?.parse().ok()?,
            is_certain: fields.next()? == "certain",
        })
    })
}

/// The published cell of a size and depth.
pub(super) fn published((request_bytes, depth): (u64, u64)) -> Option<PublishedCell> {
    published_cells().find(|cell| (cell.request_bytes, cell.depth) == (request_bytes, depth))
}

/// The same when each label is of the row below it: each row is of twice the size.
pub(super) fn shifted((request_bytes, depth): (u64, u64)) -> Option<PublishedCell> {
    published((request_bytes / 2, depth))
}

/// Every size with every depth.
pub(super) fn grid() -> impl Iterator<Item = (u64, u64)> {
    let sizes = SIZES_KIB.into_iter();
    sizes.flat_map(|kib| DEPTHS.map(|depth| (kib << 10, depth)))
}

/// One size and depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) request_bytes: u64,
    pub(super) depth: u64,
    pub(super) optane_us: f64,
    pub(super) flash_us: f64,
    pub(super) published: Option<PublishedCell>,
}

impl Cell {
    /// By which share the slower device's latency is above the faster one's; negative where Optane
    /// is the slower one.
    pub(super) fn t(&self) -> f64 {
        let ratio = self.flash_us / self.optane_us;
        if ratio >= 1.0 {
            ratio - 1.0
        } else {
            1.0 - 1.0 / ratio
        }
    }

    /// The published difference, if it is certain and large enough to compare with.
    pub(super) fn comparable(&self) -> Option<f64> {
        let published = self.published.filter(|cell| cell.is_certain)?;
        (published.t.abs() >= LEAST_T).then_some(published.t)
    }

    pub(super) fn sign_holds(&self) -> Option<bool> {
        self.comparable().map(|t| self.t() * t > 0.0)
    }

    pub(super) fn magnitude_holds(&self) -> Option<bool> {
        self.comparable().map(|t| self.is_near(t))
    }

    /// Of a cell whose value or place is inferred: whether it would hold. These are counted, and not judged.
    pub(super) fn would_hold(&self) -> Option<bool> {
        let published = self.published.filter(|cell| !cell.is_certain)?;
        (published.t.abs() >= LEAST_T).then(|| self.is_near(published.t))
    }

    fn is_near(&self, t: f64) -> bool {
        (self.t() - t).abs() <= TOLERANCE * t.abs()
    }
}

/// The cells of [`grid`], of the latencies of both devices.
pub(super) fn cells(
    optane_us: &[f64],
    flash_us: &[f64],
    published: fn((u64, u64)) -> Option<PublishedCell>,
) -> Vec<Cell> {
    let latencies = optane_us.iter().zip(flash_us);
    let cell = |(at, (&optane_us, &flash_us))| {
        let (request_bytes, depth) = at;
        Cell {
            request_bytes,
            depth,
            optane_us,
            flash_us,
            published: published(at),
        }
    };
    grid().zip(latencies).map(cell).collect()
}

/// The latencies of reads, each the mean over so many placements of the data. One device for all: reads leave it as it was.
pub(super) fn reads(
    under_test: &DeviceUnderTest,
    placements: u64,
    requests: u64,
) -> Result<Vec<f64>> {
    let mut device = under_test.used(placements)?;
    let cell = |at| {
        let mut sum = 0.0;
        for placement in 0..placements {
            sum += latency_us(&mut device, at, false, placement, requests)?;
        }
        Ok(sum / placements as f64)
    };
    grid().map(cell).collect()
}

/// The latency of writes, on a device of their own.
pub(super) fn write(under_test: &DeviceUnderTest, at: (u64, u64), requests: u64) -> Result<f64> {
    latency_us(&mut under_test.used(1)?, at, true, 0, requests)
}

/// The mean latency of random requests of one size at one depth, in one [`DeviceUnderTest::SPAN_BYTES`] of the namespace. Large
/// requests vary less, for they are many pages: fewer do.
fn latency_us(
    (device, nsid): &mut (Device, NamespaceId),
    (request_bytes, depth): (u64, u64),
    is_write: bool,
    placement: u64,
    requests: u64,
) -> Result<f64> {
    let (nsid, lbas) = (
        *nsid,
        request_bytes / device.profile().controller.lba_size.0,
    );
    let slots = DeviceUnderTest::SPAN_BYTES / request_bytes;
    let mut random = Random::new(depth ^ request_bytes ^ placement << 32);
    // Means of small requests must be sharp enough to be held against a published digit.
    let requests = (2 * requests * (4 << 10) / request_bytes).max(requests / 16);
    let commands = std::iter::repeat_with(|| {
        let slba = (placement * slots + random.below(slots)) * lbas;
        transfer(is_write, nsid, slba, lbas)
    });
    let tally = Source::new(depth, commands).measure_warm(device, requests.max(4 * depth))?;
    Ok(tally.mean_us())
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::profile::Profile;

    #[test]
    fn every_published_cell_is_read() {
        assert_eq!(published_cells().count(), 56);
        assert_eq!(published_cells().filter(|cell| cell.is_certain).count(), 31);
        let first = PublishedCell {
            request_bytes: 256 << 10,
            depth: 1,
            t: 1.7,
            is_certain: true,
        };
        assert_eq!(published_cells().next(), Some(first));
    }

    fn cell(optane_us: f64, flash_us: f64, t: f64) -> Cell {
        Cell {
            request_bytes: 4096,
            depth: 1,
            optane_us,
            flash_us,
            published: Some(PublishedCell {
                request_bytes: 4096,
                depth: 1,
                t,
                is_certain: true,
            }),
        }
    }

    #[test]
    fn the_slower_device_is_held_against_the_faster() {
        assert_eq!(cell(10.0, 30.0, 2.0).t(), 2.0);
        assert_eq!(cell(30.0, 10.0, 2.0).t(), -2.0);
        assert_eq!(cell(10.0, 10.0, 2.0).t(), 0.0);
    }

    #[test]
    fn signs_and_magnitudes_are_judged_apart_and_small_ones_not_at_all() {
        let judged = |cell: Cell| (cell.sign_holds(), cell.magnitude_holds());
        assert_eq!(judged(cell(10.0, 35.9, 2.0)), (Some(true), Some(true)));
        assert_eq!(judged(cell(10.0, 36.1, 2.0)), (Some(true), Some(false)));
        assert_eq!(judged(cell(13.0, 10.0, 0.3)), (Some(false), Some(false)));
        assert_eq!(judged(cell(13.0, 10.0, 0.1)), (None, None));
    }

    /// The depths at which the cell of 128 KiB is missed when the flash halves reads up to a depth.
    fn missed(halved_read_depth: u32) -> Vec<u64> {
        const BYTES: u64 = 128 << 10;
        const PLACEMENTS: u64 = 2;
        let under_test = |name: &str| DeviceUnderTest {
            profile: Profile::builtin(name).unwrap(),
        };
        let (optane, mut flash) = (under_test("optane-900p"), under_test("flash-970pro"));
        flash.profile.controller.halved_read_depth = halved_read_depth;
        let mut devices = [optane, flash].map(|device| device.used(PLACEMENTS).unwrap());
        let is_missed = |&depth: &u64| {
            let [optane_us, flash_us] = devices.each_mut().map(|device| {
                let latency_us =
                    |placement| latency_us(device, (BYTES, depth), false, placement, 4000).unwrap();
                (0..PLACEMENTS).map(latency_us).sum::<f64>() / PLACEMENTS as f64
            });
            let cell = Cell {
                request_bytes: BYTES,
                depth,
                optane_us,
                flash_us,
                published: published((BYTES, depth)),
            };
            cell.magnitude_holds() == Some(false)
        };
        DEPTHS.into_iter().filter(is_missed).collect()
    }

    /// Halves have no other evidence than two cells, and no preset has them.
    #[test]
    fn two_cells_are_missed_and_only_halved_reads_meet_them() {
        assert_eq!(missed(0), [2, 4]);
        assert_eq!(missed(6), [0; 0]);
        assert_eq!(missed(8), [8]);
    }
}
