//! Pacing: how garbage collection shares the flash with the host's writes, as the policy of `gc.pacing` says.
//!
//! In come how much room a log has and how far its collection is; out goes whether the host may program its next
//! wordline, and whether the collector goes on.

use super::address::Addressing;
use super::blocks::LOW;
use crate::engine::{Duration, Instant};
use crate::policy::pacing::{Bounds, Logs, PAGE, Pacing, Standing};
use crate::profile::limits::GC_RESERVE;
use crate::profile::{Profile, ProfileError};

/// Superblocks at the floor and with the least room at which both go on. What the host can be given at the worst of times is the
/// room but for the superblock it fills, one that the collector has begun and one that it has nearly emptied.
const FLOOR: u64 = 2;
const LEAST: u64 = 3;
/// Where data is laid out anew the collector fills two superblocks.
const LEAST_RELAYOUT: u64 = 4;
/// What a victim still needs is counted with so many times the pages that the collector can hold: a power
/// cut costs it the positions that it has given these.
const SPARE_SLOTS: u32 = 4;

/// The pacing of an NVM set.
#[derive(Debug)]
pub(crate) struct Pacer {
    policy: Box<dyn Pacing>,
    takes_turns: bool,
    /// The policy says when writes enter the buffer.
    pub(crate) holds_writes: bool,
    bounds: Bounds,
    pages_per_superblock: u64,
    pages_per_stripe: u64,
    /// The collector fills more than one superblock.
    fills_several: bool,
    /// Pages that the collector may need besides the victim's.
    margin: u32,
    /// An event is scheduled for when a write may enter.
    is_timed: bool,
}

/// How the host and the collector of a log stand to each other.
#[derive(Debug)]
pub(crate) struct Pace {
    /// As of the last look at the room.
    standing: Standing,
    /// Collection is on.
    is_on: bool,
    /// Nothing can be collected: the host goes on alone.
    is_alone: bool,
    /// A stream of the host's has no superblock to go on in, whatever room others have.
    is_short: bool,
    /// What a position of a victim frees, in fractions of a page: the mean of this victim's and what it was
    /// before. One that is chosen for its wear frees nothing, and the host must not stop for it.
    freed: u64,
    /// Positions of the victim that have been counted.
    counted: u32,
}

impl Pacer {
    /// Collection has so many slots of the write buffer, and several streams or one.
    pub(crate) fn new(
        profile: &Profile,
        addressing: &Addressing,
        (slots, has_several): (u32, bool),
    ) -> Result<Pacer, ProfileError> {
        let superblock = u64::from(addressing.pages_per_superblock);
        let relays = profile.gc.relayout;
        // Translation pages may have one more than is kept for them.
        let of_map = u64::from(profile.has_map_pages());
        let least = of_map + if relays { LEAST_RELAYOUT } else { LEAST };
        let (sets, page_bytes) = (profile.sets.count, profile.mapping_unit().0);
        let count = addressing.logs * sets;
        // The sets share the rate, which is of writes of 4 KiB.
        let rate = u64::from(profile.gc.throttle_iops) * (4 << 10) / u64::from(sets);
        let interval = u128::from(page_bytes) * 1_000_000_000_000 / u128::from(rate);
        let logs = Logs {
            count,
            sets,
            superblock,
            stripe: u64::from(addressing.pages_per_stripe),
            floor: (FLOOR + of_map) * superblock,
            least: least * superblock,
            page_interval: Duration::from_ps(interval as u64),
            burst: (profile.gc.burst_size.0 / page_bytes / u64::from(count)).max(1),
        };
        let policy = profile.make(profile.gc.pacing, &logs)?;
        Ok(Pacer {
            takes_turns: policy.takes_turns(),
            holds_writes: policy.holds_writes(),
            bounds: policy.bounds(),
            policy,
            pages_per_superblock: superblock,
            pages_per_stripe: u64::from(addressing.pages_per_stripe),
            fills_several: relays || has_several,
            margin: SPARE_SLOTS * slots,
            is_timed: false,
        })
    }

    /// Whether the host waits for whole superblocks instead.
    #[inline]
    pub(crate) fn is_off(&self) -> bool {
        !self.takes_turns
    }

    /// Free superblocks with which a log is in its steady state, none being open.
    pub(crate) fn steady_superblocks(&self) -> u32 {
        if self.is_off() {
            return LOW + 1;
        }
        let room = self.policy.steady_room().unwrap_or(self.bounds.begin);
        (room / self.pages_per_superblock) as u32
    }

    /// Whether a log would have to collect a superblock by now, if that took no time. The last one freed so many
    /// pages: around its mean the room goes up and down by that.
    pub(crate) fn is_due(&self, room: u64, is_on: bool, freed: u64) -> bool {
        let mean = match self.policy.steady_room() {
            // While a superblock is collected the host fills what is free but for its reserve, and waits.
            _ if self.is_off() => u64::from(LOW) * self.pages_per_superblock,
            Some(mean) => mean,
            None if is_on => return room < self.bounds.end,
            None => return room < self.bounds.begin,
        };
        room + freed / 2 < mean
    }

    /// Superblocks that the host leaves to the collector: none when what is left of the victim fits into the superblock
    /// that the collector fills, which is `left` pages short of full.
    pub(crate) fn host_reserve(&self, victim_valid: Option<u32>, left: u32) -> u32 {
        if self.is_off() || self.fills_several {
            return GC_RESERVE;
        }
        let fits = victim_valid.is_some_and(|valid| valid + self.margin <= left);
        u32::from(!fits)
    }

    /// Whether a write of so many pages has to wait before the buffer. Each wait is reported once, with the time when it is over.
    pub(crate) fn holds<'a>(
        &mut self,
        logs: impl Iterator<Item = &'a Pace> + Clone,
        pages: u64,
        now: Instant,
        report: impl FnOnce(Instant),
    ) -> bool {
        let room = logs.clone().map(|pace| pace.standing.room).min();
        let is_collected = logs.clone().any(|pace| pace.is_on);
        let until = self
            .policy
            .enters(room.unwrap_or(u64::MAX), is_collected, pages, now);
        let Some(time) = until else {
            return false;
        };
        if !std::mem::replace(&mut self.is_timed, true) {
            report(time);
        }
        true
    }

    /// The time that was reported has come.
    pub(crate) fn end_hold(&mut self) {
        self.is_timed = false;
    }
}

impl Pace {
    /// That of a log, before anybody looked at its room.
    pub(crate) fn new(log_id: u32) -> Pace {
        Pace {
            standing: Standing::new(log_id),
            is_on: false,
            is_alone: false,
            is_short: false,
            freed: 0,
            counted: 0,
        }
    }

    /// The host programs so many pages.
    #[inline]
    pub(crate) fn spend(&mut self, pages: u32) {
        if self.is_on && !self.is_alone {
            self.standing.credit -= (u64::from(pages) * PAGE) as i64;
        }
    }

    /// Looks at the room of the log.
    pub(crate) fn look(&mut self, pacer: &Pacer, room: u64) {
        self.standing.room = room;
        let bound = match self.is_on {
            true => pacer.bounds.end,
            false => pacer.bounds.begin,
        };
        self.is_on = room < bound || self.is_short;
        if !self.is_on {
            // When it begins again, the host need not wait for the first stripe.
            let most = pacer.policy.most_credit();
            self.standing.credit = most.min(pacer.pages_per_stripe * PAGE) as i64;
            self.is_alone = false;
        }
    }

    /// Whether a stream of the host's lacks a superblock.
    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    #[inline]
    pub(crate) fn set_short(&mut self, is_short: bool) {
        self.is_short = is_short;
    }

    /// Nothing may be collected now.
    pub(crate) fn suspend(&mut self) {
        self.is_on = false;
    }

    /// Whether superblocks have to be collected.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// The next victim is known, or that there is none. Collecting it frees so many of its pages.
    pub(crate) fn begin(&mut self, pacer: &Pacer, freed: Option<u64>) {
        self.is_alone = freed.is_none();
        self.counted = 0;
        let freed = freed.unwrap_or(0) * PAGE / pacer.pages_per_superblock;
        self.freed = match self.freed {
            0 => freed.max(1),
            before => (before + freed).div_ceil(2),
        };
    }

    /// The next victim holds translation pages. What it frees is theirs; the host goes on meanwhile as if it held data.
    pub(crate) fn begin_map(&mut self) {
        self.is_alone = false;
        self.counted = 0;
        self.freed = self.freed.max(1);
    }

    /// So many positions of the victim have been emptied in all.
    #[inline]
    pub(crate) fn emptied(&mut self, pacer: &mut Pacer, emptied: u32) {
        if emptied == self.counted {
            return;
        }
        let positions = u64::from(emptied - self.counted);
        self.counted = emptied;
        let policy = &mut pacer.policy;
        let earned = policy.earned(&self.standing, positions * self.freed);
        let most = policy.most_credit() as i64;
        self.standing.credit = (self.standing.credit + earned as i64).min(most);
    }

    /// Whether the collector goes on, or has to wait for the host.
    pub(crate) fn collects(&self, pacer: &Pacer) -> bool {
        self.is_on && (self.is_short || pacer.policy.collects(&self.standing))
    }

    /// Whether the host may program.
    #[inline]
    pub(crate) fn admits(&self, pacer: &Pacer) -> bool {
        !self.is_on || self.is_alone || pacer.policy.admits(&self.standing)
    }
}
