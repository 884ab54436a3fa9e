//! A look at a channel: what it has to do with, and how its dies become busy and idle.

use super::channel::Channel;
use super::counts::Counts;
use super::die::Die;
use super::flash::Rules;
use super::geometry::Unit;
use super::op::{ReadOp, WorkOp};
use super::packages::Packages;
use super::suspend::Suspensions;
use super::timing::Timing;
use super::transactions::Transactions;
use crate::engine::{Slab, Time};

/// What the channels have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) timing: Timing,
    pub(super) rules: Rules,
    pub(super) planes: u32,
    pub(super) reads: Slab<ReadOp>,
    pub(super) works: Slab<WorkOp>,
    /// When each die's program or erase ends; apart from the dies, to be scanned quickly.
    pub(super) ends_at: Vec<Time>,
    /// Where operations wait for a turn of their die, if not on the die.
    pub(super) transactions: Option<Box<Transactions>>,
    pub(super) suspensions: Option<Suspensions>,
    pub(super) packages: Packages,
    pub(super) counts: Counts,
}

/// A channel and its dies, found once for everything that a look at it does. A die is known here by
/// its number on the channel, its way.
#[derive(Debug)]
pub(super) struct Look<'a> {
    pub(super) shared: &'a mut Shared,
    pub(super) channel: u32,
    /// The number of the first die.
    pub(super) first_die: u32,
    pub(super) bus: &'a mut Channel,
    pub(super) dies: &'a mut [Die],
}

impl Look<'_> {
    /// The number of a die.
    #[inline]
    pub(super) fn index(&self, way: u32) -> usize {
        (self.first_die + way) as usize
    }

    #[inline]
    pub(super) fn unit(&self, way: u32, plane: u8) -> Unit {
        Unit((self.first_die + way) * self.shared.planes + u32::from(plane))
    }

    /// A die that was idle is given something to do.
    #[inline]
    pub(super) fn begin(&mut self, way: u32, now: Time) {
        let die = &mut self.dies[way as usize];
        if !die.is_idle() {
            return;
        }
        die.busy_since = now;
        die.planes_used = 0;
        if self.shared.packages.are_shared() {
            self.shared.packages.begin(self.index(way), now);
        }
    }

    /// A die has nothing to do any more; it may take what is queued.
    #[inline(always)]
    pub(super) fn end(&mut self, way: u32, now: Time) {
        let die = &mut self.dies[way as usize];
        debug_assert!(die.is_idle());
        die.busy += now - die.busy_since;
        if self.shared.planes > 1 {
            let planes = u64::from(die.planes_used.count_ones());
            die.counts.plane_busy += (now - die.busy_since) * planes;
        }
        if self.shared.packages.are_shared() {
            self.shared.packages.end(self.index(way), now);
        }
        if let Some(transactions) = &mut self.shared.transactions {
            let die = &self.dies[way as usize];
            if !die.has_queued() {
                transactions.die_done(die.channel, die.way);
            }
        }
        self.enter_arbitration(way, now);
    }
}
