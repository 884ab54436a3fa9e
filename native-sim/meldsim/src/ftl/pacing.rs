//! Pacing: how garbage collection shares the flash with the host's writes.
//!
//! In come how much room a lane has and how far its collection is; out goes whether the host may program
//! its next wordline, and whether the collector goes on.
//!
//! Room is what can be written before anything else must be emptied: free groups, the rest of the groups
//! that are open, and of the victim what has been emptied already. Collection is on below `high`:
//!
//! ```text
//!   off      room --------------------------------------------- full: the host waits for a whole group
//!
//!   credit   room ---- high ~~~~~~~~~~~~ target ~~~~~~~~~~~~ floor
//!                      each row of a victim lets the host program what that frees,
//!                      times 1 and more        times 1        and less, down to nothing
//!
//!   burst    room ---- target | the host waits, until the room is back at high
//!
//!   throttle as credit, and at a fixed rate at most
//! ```
//!
//! With `credit` the host and the collector take turns by rows, and each waits for the other: the host
//! when it has used up its credit, the collector when it is some rows ahead. The ratio follows the
//! room, so that in steady state a page is freed for each that is written.

use super::address::Addressing;
use super::blocks::LOW;
use crate::engine::{Duration, Instant};
use crate::profile::limits::{GC_RESERVE, gc_slots};
use crate::profile::{GcPacing, Profile};

/// Credit is counted in pages with so many fractional bits.
const FRACTION: u32 = 10;
/// Groups at the floor and at the target. What the host can be given at the worst of times is the room but
/// for the group it fills, one that the collector has begun and one that it has nearly emptied.
const FLOOR: u32 = 2;
const TARGET: u32 = 3;
/// Where data is laid out anew the collector fills two groups.
const TARGET_RELAYOUT: u32 = 4;
/// What a victim still needs is counted with so many times the pages that the collector can hold: a power
/// cut costs it the positions that it has given these.
const SPARE_SLOTS: u32 = 4;
/// Rows of a victim that the collector may be ahead of the host: as many as it reads at a time, twice.
const ROWS_AHEAD: u32 = 4;
/// The most that a row lets the host program, in multiples of what it frees.
const MOST: u64 = 4;

/// The policy of an NVM set, in pages of a lane.
#[derive(Debug)]
pub(crate) struct Pacing {
    policy: GcPacing,
    /// The host waits here.
    floor: u64,
    target: u64,
    /// Nothing is collected with as much room.
    high: u64,
    pages_per_group: u64,
    /// Credit at most.
    most: i64,
    /// The collector fills more than one group.
    relays: bool,
    /// Pages that the collector may need besides the victim's.
    margin: u32,
    throttle: Option<Throttle>,
}

/// The fixed rate of a set, all lanes together.
#[derive(Debug)]
struct Throttle {
    /// Of a page.
    interval: Duration,
    /// When the host may program its next page.
    next: Instant,
    /// An event is scheduled for then.
    is_timed: bool,
}

/// How the host and the collector of a lane stand to each other.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Collection is on.
    is_on: bool,
    /// Collection is on, or would soon be.
    is_full: bool,
    /// Nothing can be collected: the host goes on alone.
    is_alone: bool,
    /// A stream of the host's has no group to go on in, whatever room others have.
    is_short: bool,
    /// Pages the host may program, in fractions; less than nothing by a wordline at most.
    credit: i64,
    /// What a position of a victim frees, in fractions of a page: the mean of this victim's and what it was
    /// before. One that is chosen for its wear frees nothing, and the host must not stop for it.
    freed: u64,
    /// Positions of the victim that have been counted.
    counted: u32,
}

impl Pacing {
    pub(crate) fn new(profile: &Profile, addressing: &Addressing) -> Pacing {
        let pages_per_group = u64::from(addressing.pages_per_group);
        let policy = profile.gc.pacing;
        let relays = profile.gc.relayout;
        let target = if relays { TARGET_RELAYOUT } else { TARGET };
        let target = u64::from(target) * pages_per_group;
        let (units, pages) = (addressing.units, addressing.pages_per_wordline);
        let flash_pages = addressing.flash_pages_per_wordline;
        let slots = gc_slots(units, pages, flash_pages, addressing.is_shadow());
        let range = match policy {
            GcPacing::Off | GcPacing::Credit | GcPacing::Throttle => pages_per_group / 4,
            GcPacing::Burst => {
                let lanes = u64::from(addressing.lanes) * u64::from(profile.sets.count);
                (profile.gc.burst_size.0 / profile.mapping_unit().0 / lanes).max(1)
            }
        };
        // The sets share the rate.
        let rate = u64::from(profile.gc.throttle_iops) * (4 << 10) / u64::from(profile.sets.count);
        let interval = Duration::from_ps(
            (u128::from(profile.mapping_unit().0) * 1_000_000_000_000 / u128::from(rate)) as u64,
        );
        let throttle = (policy == GcPacing::Throttle).then_some(Throttle {
            interval,
            next: Instant::START,
            is_timed: false,
        });
        Pacing {
            policy,
            throttle,
            floor: u64::from(FLOOR) * pages_per_group,
            target,
            high: target + range,
            pages_per_group,
            most: i64::from(ROWS_AHEAD * addressing.pages_per_row) << FRACTION,
            relays,
            margin: SPARE_SLOTS * slots,
        }
    }

    #[inline]
    pub(crate) fn is_off(&self) -> bool {
        self.policy == GcPacing::Off
    }

    /// Free groups with which a lane is in its steady state, none being open.
    pub(crate) fn steady_groups(&self) -> u32 {
        match self.is_off() {
            true => LOW + 1,
            false => (self.target / self.pages_per_group) as u32,
        }
    }

    /// Whether a lane would have to collect a group by now, if that took no time. The last one freed so many
    /// pages: around its mean the room goes up and down by that.
    pub(crate) fn is_due(&self, room: u64, is_on: bool, freed: u64) -> bool {
        let mean = match self.policy {
            GcPacing::Burst if is_on => return room < self.high,
            GcPacing::Burst => return room < self.target,
            // While a group is collected the host fills what is free but for its reserve, and waits.
            GcPacing::Off => u64::from(LOW) * self.pages_per_group,
            GcPacing::Credit | GcPacing::Throttle => self.target,
        };
        room + freed / 2 < mean
    }

    /// Groups that the host leaves to the collector: none when what is left of the victim fits into the group
    /// that the collector fills, which is `left` pages short of full.
    pub(crate) fn host_reserve(&self, victim_valid: Option<u32>, left: u32) -> u32 {
        if self.is_off() || self.relays {
            return GC_RESERVE;
        }
        let fits = victim_valid.is_some_and(|valid| valid + self.margin <= left);
        u32::from(!fits)
    }

    /// Whether the host has to wait for its rate. Each wait is reported once, with the time when it is over.
    #[inline]
    pub(crate) fn is_throttled(
        &mut self,
        pace: &Pace,
        now: Instant,
        report: impl FnOnce(Instant),
    ) -> bool {
        let Some(throttle) = &mut self.throttle else {
            return false;
        };
        if !pace.is_full || throttle.next <= now {
            return false;
        }
        if !std::mem::replace(&mut throttle.is_timed, true) {
            report(throttle.next);
        }
        true
    }

    /// The host programs so many pages of a lane.
    #[inline]
    pub(crate) fn spend(&mut self, pace: &mut Pace, pages: u32, now: Instant) {
        if pace.is_on && !pace.is_alone {
            pace.credit -= i64::from(pages) << FRACTION;
        }
        if let Some(throttle) = &mut self.throttle {
            throttle.next = throttle.next.max(now) + throttle.interval * u64::from(pages);
        }
    }

    /// The time that was reported has come.
    pub(crate) fn end_throttle(&mut self) {
        if let Some(throttle) = &mut self.throttle {
            throttle.is_timed = false;
        }
    }

    /// What the host may program for each page that is freed, in fractions.
    fn ratio(&self, room: u64) -> u64 {
        let above = room.saturating_sub(self.floor) << FRACTION;
        (above / (self.target - self.floor)).min(MOST << FRACTION)
    }
}

impl Pace {
    /// Looks at the room of the lane.
    pub(crate) fn look(&mut self, pacing: &Pacing, room: u64) {
        self.is_on = match (self.is_on, pacing.policy) {
            (false, GcPacing::Burst) => room < pacing.target,
            _ => room < pacing.high,
        };
        self.is_on |= self.is_short;
        self.is_full = room < pacing.high + pacing.pages_per_group;
        if !self.is_on {
            // When it begins again, the host need not wait for the first row.
            self.credit = pacing.most / i64::from(ROWS_AHEAD);
            self.is_alone = false;
        }
    }

    /// Whether a stream of the host's lacks a group.
    #[inline]
    pub(crate) fn set_short(&mut self, is_short: bool) {
        self.is_short = is_short;
    }

    /// Nothing may be collected now.
    pub(crate) fn suspend(&mut self) {
        self.is_on = false;
    }

    /// Whether groups have to be collected.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// The next victim is known, or that there is none. Collecting it frees so many of its pages.
    pub(crate) fn begin(&mut self, pacing: &Pacing, freed: Option<u64>) {
        self.is_alone = freed.is_none();
        self.counted = 0;
        let freed = (freed.unwrap_or(0) << FRACTION) / pacing.pages_per_group;
        self.freed = match self.freed {
            0 => freed.max(1),
            before => (before + freed).div_ceil(2),
        };
    }

    /// So many positions of the victim have been emptied in all.
    #[inline]
    pub(crate) fn emptied(&mut self, pacing: &Pacing, emptied: u32, room: u64) {
        if emptied == self.counted {
            return;
        }
        let positions = u64::from(emptied - self.counted);
        self.counted = emptied;
        let earned = (positions * self.freed * pacing.ratio(room)) >> FRACTION;
        self.credit = (self.credit + earned as i64).min(pacing.most);
    }

    /// Whether the collector goes on, or has to wait for the host.
    pub(crate) fn collects(&self, pacing: &Pacing) -> bool {
        let is_due = pacing.policy == GcPacing::Burst || self.credit < pacing.most;
        self.is_on && (is_due || self.is_short)
    }

    /// Whether the host may program.
    #[inline]
    pub(crate) fn admits(&self, pacing: &Pacing) -> bool {
        let may = match pacing.policy {
            GcPacing::Off | GcPacing::Credit | GcPacing::Throttle => self.credit > 0,
            GcPacing::Burst => false,
        };
        !self.is_on || may || self.is_alone
    }
}
