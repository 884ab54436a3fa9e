//! The event of a channel: what has ended is finished, the free bus is granted, and the next event is
//! found.

use super::channel::Transfer;
use super::context::{ChannelContext, Shared};
use super::die::MaySuspend;
use super::dispatch::Reads;
use super::geometry::WordlineAddr;
use super::operation::{Finished, Kind, Owner, Sense};
use crate::engine::{Instant, NIL};
use crate::timeline::BusUse;

impl<const SINGLE: bool, const PLAIN: bool> ChannelContext<'_, SINGLE, PLAIN> {
    /// Finishes what has ended, and grants the bus. Returns when the next event is.
    #[inline]
    pub(super) fn step(&mut self, now: Instant, finished: &mut Vec<Finished>) -> Instant {
        let free = self.bus.bus_free_at <= now;
        if free {
            self.end_transfer(now, finished);
        }
        if self.bus.next_pe_end <= now {
            self.end_executions(now, finished);
        }
        if !PLAIN && self.bus.to_suspend != 0 {
            self.retry_suspensions(now);
        }
        if self.has_transactions() {
            self.start_transactions(now);
        }
        if free {
            self.end_senses(now);
            self.grant(now);
        }
        self.next_event()
    }

    #[inline]
    fn end_transfer(&mut self, now: Instant, finished: &mut Vec<Finished>) {
        match std::mem::replace(&mut self.bus.transfer, Transfer::None) {
            Transfer::None => {}
            Transfer::Out(way) => self.end_data_out(way, now, finished),
            Transfer::In(way) => {
                let die = &mut self.dies[way as usize];
                die.load_next = self.shared.ops[die.load_next].next;
                if die.load_next != NIL {
                    self.bus.data_in |= 1 << way;
                    self.bus.serve_again(way);
                } else if die.executing == NIL {
                    self.start_loaded(way, now);
                }
            }
        }
    }

    /// The pages of one plane have left the registers of a die.
    #[inline]
    fn end_data_out(&mut self, way: u32, now: Instant, finished: &mut Vec<Finished>) {
        let die = &mut self.dies[way as usize];
        if die.output == NIL {
            // It was granted the bus before the end of its sense.
            die.output = std::mem::replace(&mut die.sensing, NIL);
        }
        self.record_data_out(way);
        let die = &mut self.dies[way as usize];
        let mut next = die.output;
        let (plane, melded) = (
            self.shared.ops[next].plane(),
            self.shared.ops[next].is_melded(),
        );
        let unit = self.unit(way, plane);
        let (die, bit) = (&mut self.dies[way as usize], 1 << way);
        die.counts.melded_reads += u64::from(melded);
        let mut is_first = true;
        loop {
            let op = self.shared.ops[next];
            finished.push(Finished::Read {
                at: WordlineAddr { unit, row: op.row },
                pages: op.pages,
                owner: Owner(op.tag),
                sense: match melded {
                    true => Sense::Melded { is_first },
                    false => Sense::Page,
                },
                is_failed: !SINGLE && self.shared.take_failed(next),
            });
            is_first = false;
            if melded {
                die.counts.melded_pages_read += u64::from(op.pages.count_ones());
            } else {
                die.counts.page_reads += 1;
                die.counts.codewords_skipped += u64::from(op.skipped());
                if !PLAIN {
                    die.counts.more_pages_read += u64::from(op.pages.count_ones() - 1);
                }
            }
            self.shared.ops.remove(next);
            next = op.next;
            if next == NIL || (!SINGLE && self.shared.ops[next].plane() != plane) {
                break;
            }
        }
        die.output = next;
        if next != NIL {
            self.bus.data_out |= bit;
            self.bus.serve_again(way);
            return;
        }
        if !PLAIN && self.bus.sensed & bit != 0 {
            self.bus.sensed &= !bit;
            self.bus.data_out |= bit;
            die.output = std::mem::replace(&mut die.sensing, NIL);
        }
        // Without overlap nothing else is under way.
        if !self.overlaps() || self.dies[way as usize].is_idle() {
            self.end(way, now);
        } else {
            self.update_wait(way, now);
        }
    }

    /// Tells of pages of one plane that have crossed the bus.
    #[inline]
    fn record_data_out(&mut self, way: u32) {
        if SINGLE || self.shared.recorder.is_none() {
            return;
        }
        let die = self.index(way) as u32;
        let first = self.dies[way as usize].output;
        let end = self.bus.bus_free_at;
        let length = self.data_out_length(first).as_ps();
        let held = (Instant::from_ps(end.as_ps() - length), end);
        let Shared {
            recorder: Some(recorder),
            ops,
            ..
        } = &mut *self.shared
        else {
            return;
        };
        let plane = ops[first].plane();
        let reads = Reads { ops, next: first };
        let reads = reads.take_while(|&(index, _)| ops[index].plane() == plane);
        recorder.bus(
            die,
            BusUse::DataOut,
            held,
            reads.clone().filter_map(|(_, request)| request),
        );
        for (index, request) in reads {
            if let Some(request) = request {
                recorder.read_ended(index, request, held, index == first);
            }
        }
    }

    /// The array programs what is in the registers.
    fn start_loaded(&mut self, way: u32, now: Instant) {
        let die = &mut self.dies[way as usize];
        die.executing = std::mem::replace(&mut die.loading, NIL);
        let pages = self.shared.ops[die.executing].pages;
        self.execute(way, now, self.shared.timing.program(pages));
        if self.overlaps() {
            self.update_wait(way, now);
        }
    }

    /// Finishes the P/E operations that have ended.
    fn end_executions(&mut self, now: Instant, finished: &mut Vec<Finished>) {
        let mut executing = self.bus.executing;
        while executing != 0 {
            let way = executing.trailing_zeros();
            executing &= executing - 1;
            if self.shared.ends_at[self.index(way)] > now {
                continue;
            }
            self.bus.executing &= !(1 << way);
            self.bus.to_suspend &= !(1 << way);
            self.finish_execution(way, now, finished);
            let die = &self.dies[way as usize];
            if die.loading != NIL && die.load_next == NIL {
                self.start_loaded(way, now);
            } else if die.is_idle() {
                self.end(way, now);
            }
        }
        self.find_next_pe_end();
    }

    fn finish_execution(&mut self, way: u32, now: Instant, finished: &mut Vec<Finished>) {
        self.record_executed(way, self.shared.ends_at[self.index(way)]);
        let mut next = std::mem::replace(&mut self.dies[way as usize].executing, NIL);
        while next != NIL {
            let op = self.shared.ops[next];
            self.tell_cells(way, &op, now);
            let (unit, token) = (self.unit(way, op.plane()), op.tag);
            let counts = &mut self.dies[way as usize].counts;
            finished.push(match op.kind {
                Kind::Erase => {
                    counts.erases += 1;
                    Finished::Erase { unit, token }
                }
                Kind::Copyback => {
                    counts.copybacks += 1;
                    Finished::Copyback { unit, token }
                }
                _ => {
                    let whole = op.pages == self.shared.timing.whole;
                    counts.programs += u64::from(whole);
                    counts.partial_programs += u64::from(!whole);
                    counts.pages_programmed += u64::from(self.shared.timing.count(op.pages));
                    Finished::Program { unit, token }
                }
            });
            self.shared.ops.remove(next);
            next = op.next;
        }
    }

    /// Dies whose P/E operation may have progressed enough to be suspended.
    fn retry_suspensions(&mut self, now: Instant) {
        let mut ways = std::mem::take(&mut self.bus.to_suspend);
        while ways != 0 {
            self.update_wait(ways.trailing_zeros(), now);
            ways &= ways - 1;
        }
    }

    /// When the channel's next event is. The end of a sense matters only to a free bus, and the end
    /// of a command only when a die waits; the end of a program or an erase always does.
    #[inline(always)]
    pub(super) fn next_event(&self) -> Instant {
        let bus = &*self.bus;
        let bus_next = if bus.transfer != Transfer::None || bus.is_wanted() {
            bus.bus_free_at
        } else {
            bus.next_sense_end().max(bus.bus_free_at)
        };
        let next = bus_next.min(bus.next_pe_end);
        if PLAIN || bus.to_suspend == 0 {
            return next;
        }
        next.min(self.next_suspension())
    }

    fn next_suspension(&self) -> Instant {
        let mut ways = self.bus.to_suspend;
        let mut time = Instant::MAX;
        while ways != 0 {
            // The bus may only now have let go of what would be suspended.
            if let MaySuspend::At(at) = self.may_suspend(ways.trailing_zeros(), Instant::START) {
                time = time.min(at);
            }
            ways &= ways - 1;
        }
        time
    }
}
