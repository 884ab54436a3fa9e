//! The event at which a page has crossed the bus of a plain channel, in one go.
//!
//! Most events of a device that is read are these. What happens is what [`step`](ChannelContext::step) does: the read
//! ends, its die takes the next command, and the bus is granted ahead. Here it is known that one die has done one
//! operation, that nothing else ends on the channel, and that nothing waits that is not a page of a read.

use super::channel::{Grant, Transfer};
use super::context::ChannelContext;
use super::geometry::{PageSet, WordlineAddr};
use super::operation::{Op, Owner};
use crate::engine::{Instant, NIL};
use crate::profile::Arbitration;

/// A page that was sensed alone has arrived in the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRead {
    pub(crate) at: WordlineAddr,
    pub(crate) pages: PageSet,
    pub(crate) owner: Owner,
}

impl ChannelContext<'_, true> {
    /// What has ended, and when the next event is. Nothing if this event is not such a one, and nothing is changed then.
    /// All of it is one function for the compiler: nothing of the context is in memory.
    #[inline(always)]
    pub(super) fn step_page(mut self, now: Instant) -> Option<(PageRead, Instant)> {
        let Transfer::Out(way) = self.bus.transfer else {
            return None;
        };
        let die = &mut self.dies[way as usize];
        let bus = &mut *self.bus;
        let is_alone = bus.bus_free_at <= now && bus.next_pe_end > now && die.pes.is_empty();
        if !is_alone || bus.data_in != 0 || bus.has_ready() {
            return None;
        }
        // It may have been granted the bus before the end of its sense.
        let index = match die.output {
            NIL => die.sensing,
            output => output,
        };
        let next = die.reads.head;
        let ops = &mut self.shared.ops;
        let commands_first = self.shared.arbitration == Arbitration::CommandsFirst;
        if ops[index].is_melded() || next != NIL && !(commands_first && is_page(&ops[next])) {
            return None;
        }
        let Op {
            row, pages, tag, ..
        } = ops[index];
        ops.remove(index);
        bus.transfer = Transfer::None;
        die.counts.page_reads += 1;
        die.busy += now - die.busy_since;
        die.output = NIL;
        die.sensing = next;
        if next != NIL {
            let op = &mut ops[next];
            let sense = self.shared.timing.sense[op.pages.trailing_zeros() as usize];
            die.reads.head = std::mem::replace(&mut op.next, NIL);
            die.busy_since = now;
            die.planes_used = 1;
            die.reads_passed = 0;
            self.shared.counts.transaction(false, false, 1);
            // Not among what has been sensed by now.
            self.end_senses(now);
            self.bus.hold(now, self.shared.timing.command);
            self.bus.sense(way, self.bus.bus_free_at + sense);
            self.grant_early();
        } else {
            self.end_senses(now);
            match self.bus.arbitrate(self.shared.arbitration) {
                Grant::DataOut(way) => self.grant_data_out(way, now),
                // Neither commands nor data of programs wait.
                _ => self.grant_early(),
            }
        }
        let at = WordlineAddr {
            unit: self.unit(way, 0),
            row,
        };
        let owner = Owner(tag);
        Some((PageRead { at, pages, owner }, self.next_event()))
    }
}

/// Whether a read is of one page, which is sensed alone.
#[inline(always)]
fn is_page(read: &Op) -> bool {
    read.pages & (read.pages - 1) == 0 && !read.is_melded()
}
