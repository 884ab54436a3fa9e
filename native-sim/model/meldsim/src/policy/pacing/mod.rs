//! How collection shares the flash with the host's writes: `gc.pacing`.
//!
//! ```text
//!   room of a log --admits, collects--> may the host program, does collection go on
//!   freed --earned--> credit of the host, which its programs spend
//! ```
//!
//! Room is what can be written before anything else must be emptied: free superblocks, the rest of those that are open,
//! and of the victim what has been emptied already. A log is collected when its room has come below [`Bounds::begin`],
//! until it is back at [`Bounds::end`].

mod entry;

use std::fmt::Debug;

use crate::engine::{Duration, Instant};

/// The name of a pacing policy.
pub type PacingPolicy = super::Name<dyn Pacing>;

super::shelf! { dyn Pacing, "gc.pacing", Logs:
    "credit" in credit, "host and collection take turns, as many pages as are freed";
    "off" in off, "collection begins when free blocks run out, and the host waits for whole blocks";
    "burst" in burst, "the host waits while `gc.burst_size` is freed, or its writes enter the buffer at a rate";
    "throttle" in throttle, "as `credit`, and writes enter the buffer no faster than `gc.throttle_iops`";
}

/// Credit of one page. It is counted in fractions of pages.
pub const PAGE: u64 = 1024;

/// What a policy is made for: the logs of an NVM set. Counts are of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Logs {
    /// Logs of all sets.
    pub count: u32,
    /// NVM sets of the device.
    pub sets: u32,
    /// Pages of a superblock.
    pub superblock: u64,
    /// Pages of a stripe: one wordline of each plane. Collection reads and frees them together.
    pub stripe: u64,
    /// Room with which the host has to wait: what it fills, and what the collector has begun and nearly emptied.
    pub floor: u64,
    /// The least room at which both can go on.
    pub least: u64,
    /// How long the host takes for a page, at `gc.throttle_iops` for each set.
    pub page_interval: Duration,
    /// `gc.burst_size` of a log.
    pub burst: u64,
}

impl Default for Logs {
    fn default() -> Logs {
        let superblock = 1024;
        Logs {
            count: 1,
            sets: 1,
            superblock,
            stripe: 64,
            floor: 2 * superblock,
            least: 3 * superblock,
            page_interval: Duration::from_us(10),
            burst: superblock,
        }
    }
}

/// Room between which a log is collected. Unit: pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Collection begins with less.
    pub begin: u64,
    /// It ends with as much, or more than `begin`.
    pub end: u64,
}

/// How a log stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standing {
    /// Its number in the set.
    pub log: u32,
    /// Its room. Unit: pages.
    pub room: u64,
    /// What the host may program, in fractions of pages: less than nothing by a program at most.
    pub credit: i64,
}

impl Standing {
    pub(crate) fn new(log: u32) -> Standing {
        Standing {
            log,
            room: u64::MAX,
            credit: 0,
        }
    }
}

/// A pacing policy. Each NVM set has its own, for all its logs.
///
/// Time is simulated, and the same must come out in every run: a policy asks no clock.
pub trait Pacing: Debug + Send {
    /// Whether host and collection take turns. Else collection begins when free superblocks run out, the host waits for
    /// whole ones, and nothing else here is asked.
    fn takes_turns(&self) -> bool {
        true
    }

    /// When a log is collected.
    fn bounds(&self) -> Bounds;

    /// Room that a log has on average when writes go on for long. None where it goes from one bound to the other.
    fn steady_room(&self) -> Option<u64>;

    /// Credit that the host may have at most.
    fn most_credit(&self) -> u64;

    /// Credit that the host gets as `freed`, in fractions of pages, has been freed for it.
    fn earned(&mut self, log: &Standing, freed: u64) -> u64;

    /// While a log is collected: whether the host may program.
    fn admits(&self, log: &Standing) -> bool {
        log.credit > 0
    }

    /// While a log is collected: whether the collector goes on, or waits for the host.
    fn collects(&self, log: &Standing) -> bool {
        log.credit < self.most_credit() as i64
    }

    /// Whether [`Pacing::enters`] is asked.
    fn holds_writes(&self) -> bool {
        false
    }

    /// When a write of so many pages may enter the write buffer, if that is not now. Else it has entered. `room`: of the log of
    /// the set that has least. `is_collected`: some log of the set is.
    fn enters(
        &mut self,
        _room: u64,
        _is_collected: bool,
        _pages: u64,
        _now: Instant,
    ) -> Option<Instant> {
        None
    }
}
