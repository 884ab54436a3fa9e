//! The events of a plain channel that only pages of reads wait for, in one go.
//!
//! Most events of a device that is read are these: a page has crossed the bus, or a die takes the command for one. What
//! happens is what [`step`](ChannelContext::step) does: the read ends, a die takes the next command, and the bus is granted
//! ahead. Here it is known that a die does one operation, that nothing else ends on the channel, and that nothing waits
//! that is not a page of a read.

use super::channel::{Grant, Transfer};
use super::context::{ChannelContext, Shared};
use super::die::{Die, Wait};
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
    /// The page that has arrived, if one has, and when the next event is. Nothing if this event is not such a one, and
    /// nothing is changed then. All of it is one function for the compiler: nothing of the context is in memory.
    #[inline(always)]
    pub(super) fn step_page(self, now: Instant) -> Option<(Option<PageRead>, Instant)> {
        let bus = &*self.bus;
        let is_alone = bus.bus_free_at <= now && bus.next_pe_end > now && bus.data_in == 0;
        if !is_alone || self.shared.arbitration != Arbitration::CommandsFirst {
            return None;
        }
        match bus.transfer {
            Transfer::Out(way) if bus.first_ready().is_none() => self.end_page(way, now),
            Transfer::None => self.begin_page(now),
            _ => None,
        }
    }

    /// A page has crossed the bus. The die takes its next command.
    #[inline(always)]
    fn end_page(mut self, way: u32, now: Instant) -> Option<(Option<PageRead>, Instant)> {
        let die = &mut self.dies[way as usize];
        // It may have been granted the bus before the end of its sense.
        let index = match die.output {
            NIL => die.sensing,
            output => output,
        };
        let ops = &mut self.shared.ops;
        let next = die.reads.head;
        let takes_page = next == NIL || is_page(&ops[next]);
        if ops[index].is_melded() || !takes_page || !die.pes.is_empty() {
            return None;
        }
        let op @ Op {
            row, pages, tag, ..
        } = ops[index];
        ops.remove(index);
        self.bus.transfer = Transfer::None;
        die.counts.page_reads += 1;
        die.counts.codewords_skipped += u64::from(op.skipped());
        die.busy += now - die.busy_since;
        (die.sensing, die.output) = (NIL, NIL);
        if next != NIL {
            self.sense_page(way, next, now);
        } else {
            self.end_senses(now);
            match self.bus.arbitrate(Arbitration::CommandsFirst) {
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
        Some((Some(PageRead { at, pages, owner }), self.next_event()))
    }

    /// The bus is free. The first die of the ready list takes its next command.
    #[inline(always)]
    fn begin_page(mut self, now: Instant) -> Option<(Option<PageRead>, Instant)> {
        let way = self.bus.first_ready()?;
        let Die { reads, pes, .. } = &self.dies[way as usize];
        let next = reads.head;
        if next == NIL || !pes.is_empty() || !is_page(&self.shared.ops[next]) {
            return None;
        }
        self.bus.pop_ready();
        self.dies[way as usize].wait = Wait::Nothing;
        self.sense_page(way, next, now);
        Some((None, self.next_event()))
    }

    /// An idle die takes the command for its first read, which is of one page.
    #[inline(always)]
    fn sense_page(&mut self, way: u32, read: u32, now: Instant) {
        let ChannelContext {
            shared, bus, dies, ..
        } = &mut *self;
        let Shared {
            ops,
            timing,
            counts,
            ..
        } = &mut **shared;
        let (op, die) = (&mut ops[read], &mut dies[way as usize]);
        let sense = timing.sense[op.pages.trailing_zeros() as usize];
        die.reads.head = std::mem::replace(&mut op.next, NIL);
        die.busy_since = now;
        die.planes_used = 1;
        die.reads_passed = 0;
        die.sensing = read;
        counts.transaction(false, false, 1);
        bus.hold(now, timing.command);
        let sense_end = bus.bus_free_at + sense;
        // Those that have ended by now, which it is not among.
        self.end_senses(now);
        self.bus.sense(way, sense_end);
        self.grant_early();
    }
}

/// Whether a read is of one page, which is sensed alone.
#[inline(always)]
fn is_page(read: &Op) -> bool {
    read.pages & (read.pages - 1) == 0 && !read.is_melded()
}
