//! Rule 1: the mean latency of random requests by their size and depth, of both devices.

use super::super::burst::ExperimentError;
use super::published::{self, PublishedCell};
use super::subject::Subject;
use crate::load::Loop;
use meldsim::device::Device;
use meldsim::engine::Random;
use meldsim::nvme::{Command, Directive, NamespaceId};

pub(super) const SIZES: [u64; 7] = [
    4 << 10,
    8 << 10,
    16 << 10,
    32 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
];
pub(super) const DEPTHS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Below this a published difference is too small for its size to be held against ours.
const LEAST_T: f64 = 0.2;
/// How far the difference may be from the published one.
const TOLERANCE: f64 = 0.3;

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
        let near = |t: f64| (self.t() - t).abs() <= TOLERANCE * t.abs();
        self.comparable().map(near)
    }
}

/// The cells of reads, by size and then depth: means over so many placements of the data.
pub(super) fn reads(
    optane: &Subject,
    flash: &Subject,
    placements: u64,
    requests: u64,
    progress: &mut dyn FnMut(f64),
) -> Result<Vec<Cell>, ExperimentError> {
    // Reads leave a device as it was.
    let mut devices = [optane.used(placements)?, flash.used(placements)?];
    cells(progress, |request_bytes, depth| {
        let published = published::cells()
            .find(|cell| cell.request_bytes == request_bytes && cell.depth == depth);
        let mut sums = [0.0; 2];
        for placement in 0..placements {
            for (sum, (device, nsid)) in sums.iter_mut().zip(&mut devices) {
                let load = Load {
                    request_bytes,
                    depth,
                    is_write: false,
                    placement,
                };
                *sum += load.latency_us(device, *nsid, requests)?;
            }
        }
        let [optane_us, flash_us] = sums.map(|sum| sum / placements as f64);
        Ok(Cell {
            request_bytes,
            depth,
            optane_us,
            flash_us,
            published,
        })
    })
}

/// The cells of writes, by size and then depth, each on devices of its own.
pub(super) fn writes(
    optane: &Subject,
    flash: &Subject,
    requests: u64,
    progress: &mut dyn FnMut(f64),
) -> Result<Vec<Cell>, ExperimentError> {
    cells(progress, |request_bytes, depth| {
        let latency_us = |subject: &Subject| {
            let (mut device, nsid) = subject.used(1)?;
            let load = Load {
                request_bytes,
                depth,
                is_write: true,
                placement: 0,
            };
            load.latency_us(&mut device, nsid, requests)
        };
        Ok(Cell {
            request_bytes,
            depth,
            optane_us: latency_us(optane)?,
            flash_us: latency_us(flash)?,
            published: None,
        })
    })
}

fn cells(
    progress: &mut dyn FnMut(f64),
    mut measure: impl FnMut(u64, u64) -> Result<Cell, ExperimentError>,
) -> Result<Vec<Cell>, ExperimentError> {
    let mut cells = Vec::new();
    for request_bytes in SIZES {
        for depth in DEPTHS {
            cells.push(measure(request_bytes, depth)?);
            progress(cells.len() as f64 / (SIZES.len() * DEPTHS.len()) as f64);
        }
    }
    Ok(cells)
}

/// Random requests of one size at one depth.
#[derive(Clone, Copy, Debug)]
struct Load {
    request_bytes: u64,
    depth: u64,
    is_write: bool,
    /// Which [`Subject::SPAN_BYTES`] of the namespace they go to.
    placement: u64,
}

impl Load {
    /// The mean latency. Large requests vary less, for they are many pages: fewer do.
    fn latency_us(
        &self,
        device: &mut Device,
        nsid: NamespaceId,
        requests: u64,
    ) -> Result<f64, ExperimentError> {
        let &Load {
            request_bytes,
            depth,
            is_write,
            placement,
        } = self;
        let lbas = request_bytes / device.profile().controller.lba_size.0;
        let places = Subject::SPAN_BYTES / request_bytes;
        let mut random = Random::new(depth ^ request_bytes ^ placement << 32);
        // Means of small requests must be sharp enough to be held against a published digit.
        let requests = (2 * requests * (4 << 10) / request_bytes).max(requests / 16);
        let commands = std::iter::repeat_with(|| {
            let slba = (placement * places + random.below(places)) * lbas;
            match is_write {
                true => Command::write(nsid, slba, lbas as u32, Directive::NONE, 0),
                false => Command::read(nsid, slba, lbas as u32, 0),
            }
        });
        let tally = Loop::new(depth, commands).measure_warm(device, requests.max(4 * depth))?;
        Ok(tally.mean_us())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::profile::Profile;

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
        let subject = |name: &str| Subject {
            profile: Profile::builtin(name).unwrap(),
        };
        let (optane, mut flash) = (subject("optane-900p"), subject("flash-970pro"));
        flash.profile.controller.halved_read_depth = halved_read_depth;
        let mut devices = [optane, flash].map(|subject| subject.used(PLACEMENTS).unwrap());
        let is_missed = |&depth: &u64| {
            let [optane_us, flash_us] = devices.each_mut().map(|(device, nsid)| {
                let latency_us = |placement| {
                    let load = Load {
                        request_bytes: BYTES,
                        depth,
                        is_write: false,
                        placement,
                    };
                    load.latency_us(device, *nsid, 4000).unwrap()
                };
                (0..PLACEMENTS).map(latency_us).sum::<f64>() / PLACEMENTS as f64
            });
            let published =
                published::cells().find(|cell| cell.request_bytes == BYTES && cell.depth == depth);
            let cell = Cell {
                request_bytes: BYTES,
                depth,
                optane_us,
                flash_us,
                published,
            };
            cell.magnitude_holds() == Some(false)
        };
        DEPTHS.into_iter().filter(is_missed).collect()
    }

    /// Halves have no other evidence than two cells; so it stays visible that these are missed
    /// without them, and that under load nothing is to be halved.
    #[test]
    fn two_cells_are_met_by_halved_reads_alone() {
        assert_eq!(missed(6), [0; 0]);
        assert_eq!(missed(0), [2, 4]);
        assert_eq!(missed(8), [8]);
    }
}
