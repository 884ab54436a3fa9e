//! The events of a channel that only pages of reads wait for, in one go.
//!
//! Most events of a device that is read are these: a page has crossed the bus, or has been sensed, or a die takes the command for
//! one. What happens is what [`step`](ChannelContext::step) does: the read ends, a die takes the next command, and the bus is
//! granted ahead. Here it is known that a die does one operation, that nothing else ends on the channel, and that nothing waits
//! that is not a read of pages of one flash page.

use super::channel::{Grant, Transfer};
use super::context::{ChannelContext, Shared};
use super::die::Wait;
use super::geometry::{PageSet, WordlineAddr};
use super::operation::{Op, Owner};
use super::timing::Timing;
use crate::engine::{Instant, NIL};
use crate::profile::Arbitration;

/// Pages of a flash page that was sensed alone have arrived in the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRead {
    pub(crate) at: WordlineAddr,
    pub(crate) pages: PageSet,
    pub(crate) count: u8,
    pub(crate) owner: Owner,
}

/// The page that has arrived, if one has, and when the channel's next event is.
pub(super) type Stepped = (Option<PageRead>, Instant);

impl<const PLAIN: bool> ChannelContext<'_, true, PLAIN> {
    /// The page that has arrived, if one has, and when the next event is. Nothing if this event is not such a one, and
    /// nothing is changed then. All of it is one function for the compiler: nothing of the context is in memory.
    #[inline(always)]
    pub(super) fn step_page(self, now: Instant) -> Option<Stepped> {
        let bus = &*self.bus;
        let is_alone = bus.bus_free_at <= now
            && bus.next_pe_end > now
            && bus.data_in == 0
            && (PLAIN || bus.to_suspend == 0);
        if !is_alone || self.shared.arbitration != Arbitration::CommandsFirst {
            return None;
        }
        match bus.transfer {
            Transfer::Out(way) if bus.first_ready().is_none() => self.end_page(way, now),
            Transfer::None if !PLAIN && bus.first_ready().is_none() => self.grant_next(now),
            Transfer::None => self.begin_page(now),
            _ => None,
        }
    }

    /// Nothing is ready: the bus goes to whom it can.
    #[inline(always)]
    fn grant_next(mut self, now: Instant) -> Option<Stepped> {
        self.grant_data(now);
        Some((None, self.next_event()))
    }

    /// A page has crossed the bus. The die takes its next command.
    #[inline(always)]
    fn end_page(mut self, way: u32, now: Instant) -> Option<Stepped> {
        let die = &mut self.dies[way as usize];
        // It may have been granted the bus before the end of its sense.
        let index = match die.output {
            NIL => die.sensing,
            output => output,
        };
        let ops = &mut self.shared.ops;
        let next = die.reads.head;
        let takes_page = next == NIL || is_page::<PLAIN>(&ops[next], &self.shared.timing);
        if ops[index].is_melded() || !takes_page || !die.has_only_reads::<PLAIN>() {
            return None;
        }
        let op @ Op {
            row, pages, tag, ..
        } = ops[index];
        ops.remove(index);
        let count = count::<PLAIN>(pages);
        self.bus.transfer = Transfer::None;
        die.counts.page_reads += 1;
        die.counts.codewords_skipped += u64::from(op.skipped());
        die.counts.more_pages_read += u64::from(count - 1);
        die.busy += now - die.busy_since;
        (die.sensing, die.output) = (NIL, NIL);
        match next {
            NIL => self.grant_data(now),
            next => self.sense_page(way, next, now),
        }
        let at = WordlineAddr {
            unit: self.unit(way, 0),
            row,
        };
        let page = PageRead {
            at,
            pages,
            count,
            owner: Owner(tag),
        };
        Some((Some(page), self.next_event()))
    }

    /// Grants the free bus to the data of senses that have ended.
    #[inline(always)]
    fn grant_data(&mut self, now: Instant) {
        self.end_senses(now);
        if !PLAIN && self.bus.first_ready().is_some() {
            return self.grant(now);
        }
        match self.bus.arbitrate(Arbitration::CommandsFirst) {
            Grant::DataOut(way) => self.grant_data_out(way, now),
            // Neither commands nor data of programs wait.
            _ => self.grant_early(),
        }
    }

    /// The bus is free. The first die of the ready list takes its next command.
    #[inline(always)]
    fn begin_page(mut self, now: Instant) -> Option<Stepped> {
        let way = self.bus.first_ready()?;
        let die = &self.dies[way as usize];
        let next = die.reads.head;
        let takes_page =
            next != NIL && is_page::<PLAIN>(&self.shared.ops[next], &self.shared.timing);
        let is_idle = PLAIN || die.is_idle();
        if !takes_page || !is_idle || !die.has_only_reads::<PLAIN>() {
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
        let sense = timing.sense[timing.flash_page(op.pages.trailing_zeros()) as usize];
        die.reads.head = std::mem::replace(&mut op.next, NIL);
        die.busy_since = now;
        die.planes_used = 1;
        die.reads_passed = 0;
        die.sensing = read;
        counts.transaction(false, false, count::<PLAIN>(op.pages).into());
        bus.hold(now, timing.command);
        let sense_end = bus.bus_free_at + sense;
        // Those that have ended by now, which it is not among.
        self.end_senses(now);
        self.bus.sense(way, sense_end);
        self.grant_early();
    }
}

/// Whether a read is of one flash page, which is sensed alone.
#[inline(always)]
fn is_page<const PLAIN: bool>(read: &Op, timing: &Timing) -> bool {
    let is_one = read.pages & (read.pages - 1) == 0;
    let is_one = is_one || (!PLAIN && timing.on_first_flash_page(read.pages) == read.pages);
    is_one && !read.is_melded()
}

/// How many these are: one, as a rule.
#[inline(always)]
fn count<const PLAIN: bool>(pages: PageSet) -> u8 {
    match PLAIN || pages & (pages - 1) == 0 {
        true => 1,
        false => count_several(pages),
    }
}

#[cold]
#[inline(never)]
fn count_several(pages: PageSet) -> u8 {
    pages.count_ones() as u8
}
