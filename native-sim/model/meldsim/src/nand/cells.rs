//! What the model of cells is asked and told, where the profile has one.

use super::context::{ChannelContext, Shared};
use super::geometry::Unit;
use super::operation::{Command, Kind, Op};
use crate::engine::{Duration, Instant, NIL};
use crate::policy::cells::{Cells, Place};

impl Shared {
    /// The model of cells, and the place of an operation.
    fn cells_at(&mut self, unit: Unit, op: &Op) -> Option<(&mut (dyn Cells + 'static), Place)> {
        let place = Place::new(unit.0, op.row, self.wordlines_per_block);
        Some((self.cells.as_deref_mut()?, place))
    }

    /// Whether a read that has arrived has failed.
    #[inline]
    pub(super) fn take_failed(&mut self, read: u32) -> bool {
        if self.failing.is_empty() {
            return false;
        }
        let failed = self.failing.iter().position(|&failing| failing == read);
        failed.map(|at| self.failing.swap_remove(at)).is_some()
    }
}

impl<const SINGLE: bool, const PLAIN: bool> ChannelContext<'_, SINGLE, PLAIN> {
    /// How long the reads of a command are sensed, from now on.
    #[inline]
    pub(super) fn sense_time(&mut self, way: u32, command: &Command, now: Instant) -> Duration {
        match SINGLE || self.shared.cells.is_none() {
            true => command.sense,
            false => self.ask_cells(way, command, now),
        }
    }

    fn ask_cells(&mut self, way: u32, command: &Command, now: Instant) -> Duration {
        let (mut next, mut longest) = (command.first, Duration::ZERO);
        let mut asked = None;
        while next != NIL {
            let op = self.shared.ops[next];
            let unit = self.unit(way, op.plane());
            let page = match op.is_melded() {
                true => None,
                false => Some(self.shared.timing.flash_page(op.pages.trailing_zeros()) as u8),
            };
            // Reads of one plane share its sense.
            let sensed = match asked {
                Some((plane, sensed)) if plane == op.plane() => sensed,
                _ => match self.shared.cells_at(unit, &op) {
                    Some((cells, at)) => cells.sense(at, page, command.sense, now),
                    None => return command.sense,
                },
            };
            asked = Some((op.plane(), sensed));
            longest = longest.max(sensed.time);
            if sensed.fails {
                self.shared.failing.push(next);
            }
            next = op.next;
        }
        longest
    }

    /// A program, an erase or a copyback has ended.
    #[inline]
    pub(super) fn tell_cells(&mut self, way: u32, op: &Op, now: Instant) {
        if SINGLE || self.shared.cells.is_none() {
            return;
        }
        let unit = self.unit(way, op.plane());
        let begins = op.pages & 1 != 0;
        if let Some((cells, at)) = self.shared.cells_at(unit, op) {
            match op.kind {
                Kind::Erase => cells.erased(at, now),
                _ if begins => cells.programmed(at, now),
                _ => {}
            }
        }
    }
}
