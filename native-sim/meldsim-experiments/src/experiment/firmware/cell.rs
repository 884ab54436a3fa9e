//! One cell: a profile under a closed loop.

use super::super::burst::ExperimentError;
use super::super::effort::Effort;
use super::DEPTH;
use crate::load::{Access, Loop, Tally, Until, WarmUp};
use meldsim::Duration;
use meldsim::device::{Device, Precondition, Stats};
use meldsim::nvme::Directive;
use meldsim::profile::Profile;

/// Bytes outstanding at most: large requests need no more to keep the flash busy.
const MOST_OUTSTANDING_BYTES: u64 = 4 << 20;
/// Bytes that the requests touch: every channel many times over.
const SPAN_BYTES: u64 = 4 << 30;
const SEED: u64 = 1;

/// For how long requests are not counted, and then are. Reads are steady when every thread has been busy for a while, writes
/// when their buffer is full.
fn times(access: Access, effort: Effort) -> (Duration, Duration) {
    let (warm_up, counted) = match (effort, access.writes()) {
        (Effort::Full, true) => (25, 25),
        (Effort::Full, false) => (3, 25),
        (Effort::Quick, true) => (8, 6),
        (Effort::Quick, false) => (2, 6),
    };
    (Duration::from_ms(warm_up), Duration::from_ms(counted))
}

/// What a loop asks of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) access: Access,
    pub(super) request_bytes: u64,
    /// The device is full and has been overwritten before.
    pub(super) is_worn: bool,
    /// How much longer than usual it takes.
    pub(super) times: u64,
}

impl Asked {
    /// Random reads of 4 KiB.
    pub(super) const READS: Asked = Asked {
        access: Access::RandomRead,
        request_bytes: 4 << 10,
        is_worn: false,
        times: 1,
    };
    /// Random writes of 4 KiB.
    pub(super) const WRITES: Asked = Asked {
        access: Access::RandomWrite,
        ..Asked::READS
    };
}

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) iops: f64,
    pub(super) mb_s: f64,
    pub(super) mean_us: f64,
    /// Cores at work on average, and of these at the work of each type of thread.
    pub(super) cores_busy: f64,
    pub(super) stats: Stats,
}

impl Cell {
    pub(super) fn measure(
        profile: &Profile,
        asked: Asked,
        effort: Effort,
    ) -> Result<Cell, ExperimentError> {
        let (stats, tally) = loop_of(profile, asked, effort)?;
        let busy = busy_ps(&stats).iter().sum::<u64>();
        // From the first completion that counts to the last: nothing waits to begin.
        let elapsed = (tally.elapsed - tally.first).as_secs_f64();
        let iops = tally.requests.saturating_sub(1) as f64 / elapsed;
        Ok(Cell {
            iops,
            mb_s: iops * asked.request_bytes as f64 / 1e6,
            mean_us: tally.mean_us(),
            cores_busy: busy as f64 / stats.now_ps as f64,
            stats,
        })
    }

    /// Cores at the work of each type of thread: NVMQ, ILOCK, CACHE, TRANS, FCMD, BGC, LOG.
    pub(super) fn busy_by_type(&self) -> [f64; 7] {
        busy_ps(&self.stats).map(|busy| busy as f64 / self.stats.now_ps as f64)
    }

    /// Energy of the cores for a request, in microjoules.
    pub(super) fn core_uj(&self) -> f64 {
        let watts = self.stats.firmware_energy_nj as f64 / 1e9 / (self.stats.now_ps as f64 / 1e12);
        watts / self.iops * 1e6
    }
}

fn busy_ps(stats: &Stats) -> [u64; 7] {
    [
        stats.firmware_nvmq_busy_ps,
        stats.firmware_ilock_busy_ps,
        stats.firmware_cache_busy_ps,
        stats.firmware_trans_busy_ps,
        stats.firmware_fcmd_busy_ps,
        stats.firmware_bgc_busy_ps,
        stats.firmware_log_busy_ps,
    ]
}

fn loop_of(
    profile: &Profile,
    asked: Asked,
    effort: Effort,
) -> Result<(Stats, Tally), ExperimentError> {
    let mut device = Device::new(profile)?;
    let capacity = device.stats().capacity_pages * profile.geometry.page_size.0;
    let span_bytes = match asked.is_worn {
        true => capacity,
        false => SPAN_BYTES.min(capacity),
    };
    let nsid = device.create_namespace(span_bytes)?;
    if asked.is_worn {
        device.precondition(&Precondition::default())?;
    } else if !asked.access.writes() {
        let lbas = span_bytes / profile.controller.lba_size.0;
        device.preload(nsid, 0, lbas, Directive::NONE)?;
    }
    let bytes = asked.request_bytes;
    let requests = asked.access.requests(&device, nsid, bytes, SEED);
    let depth = DEPTH.min((MOST_OUTSTANDING_BYTES / bytes) as u32);
    let (warm_up, counted) = times(asked.access, effort);
    let warm_up = WarmUp::Time(warm_up * asked.times);
    let until = Until::Time(counted * asked.times);
    let tally = Loop::new(depth, requests).measure(&mut device, warm_up, until)?;
    Ok((device.stats(), tally))
}
