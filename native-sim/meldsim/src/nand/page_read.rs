//! The event at which a page has crossed the bus of a plain channel, in one go.
//!
//! Most events of a device that is read are these. What happens is what [`step`](ChannelContext::step) does: the read
//! ends, its die takes the next command, and the bus is granted ahead. Here it is known that one die has done one
//! operation, and that nothing else ends on the channel.

use super::channel::Transfer;
use super::context::ChannelContext;
use super::die::Wait;
use super::geometry::{PageSet, WordlineAddr};
use super::operation::Owner;
use crate::engine::{Instant, NIL};

/// A page that was sensed alone has arrived in the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRead {
    pub(crate) at: WordlineAddr,
    pub(crate) pages: PageSet,
    pub(crate) owner: Owner,
}

impl ChannelContext<'_, true> {
    /// What has ended, and when the next event is; nothing if this event is not such a one.
    #[inline(always)]
    pub(super) fn step_page(&mut self, now: Instant) -> Option<(PageRead, Instant)> {
        let bus = &mut *self.bus;
        let Transfer::Out(way) = bus.transfer else {
            return None;
        };
        let die = &mut self.dies[way as usize];
        if bus.bus_free_at > now || bus.next_pe_end <= now || !die.pes.is_empty() {
            return None;
        }
        // It may have been granted the bus before the end of its sense.
        let index = match die.output {
            NIL => die.sensing,
            output => output,
        };
        let op = &self.shared.ops[index];
        if op.is_melded() {
            return None;
        }
        let (row, pages, owner) = (op.row, op.pages, Owner(op.tag));
        self.shared.ops.remove(index);
        bus.transfer = Transfer::None;
        die.sensing = NIL;
        die.output = NIL;
        die.counts.page_reads += 1;
        die.busy += now - die.busy_since;
        let has_next = !die.reads.is_empty();
        self.end_senses(now);
        if has_next && self.bus.grants_command(self.shared.arbitration) {
            self.begin(way, now);
            self.grant_read(way, now);
            self.grant_early();
        } else {
            if has_next {
                self.dies[way as usize].wait = Wait::Command;
                self.bus.make_ready(way as u8);
            }
            self.grant(now);
        }
        let at = WordlineAddr {
            unit: self.unit(way, 0),
            row,
        };
        Some((PageRead { at, pages, owner }, self.next_event()))
    }
}
