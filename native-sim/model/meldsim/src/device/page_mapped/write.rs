//! Writes, deallocations and flushes: taken in the order submitted, as the write buffer has room.

use super::{Map, NandMedium, NvmSet};
use crate::device::NamespaceStats;
use crate::device::request::{Outcome, Request, Requests, Stage, ZoneStep};
use crate::engine::{Duration, EventQueue, NIL};
use crate::event::Event;
use crate::ftl::{Entry, WriteError};
use crate::nand::{Owner, Unit};
use crate::nvme::{Opcode, Pattern, Status};
use crate::timeline::Part;

/// How many commands before its own turn the mapping's entry for one is fetched from memory.
const PREFETCHED: usize = 8;
/// And what leads to that entry.
const LEAF_PREFETCHED: usize = 16;

impl<M: Map> NandMedium<M> {
    pub(super) fn admit(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        id: u32,
    ) {
        let request = &mut requests[id];
        // The latency of the controller, or the flush itself.
        request.parts += 1;
        request.admitted = queue.now();
        let range = request.range;
        let admissions = &mut self.sets[range.set as usize].admissions;
        admissions.push_back(id);
        if admissions.len() == 1 {
            self.run_admissions(queue, requests, range.set);
        }
    }

    /// Goes on with the commands that wait for a set, until one has to wait for a program.
    pub(super) fn run_admissions(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        set: u32,
    ) {
        if let Some(shared) = &mut self.shared_slots {
            shared.lend(&mut self.sets[set as usize].ftl);
        }
        let was_full = self.sets[set as usize].is_full;
        let is_done = self.take_admissions(queue, requests, set);
        let is_full = self.sets[set as usize].is_full;
        if is_full != was_full {
            let units = (0..).zip(&self.set_of_unit);
            let units = units.filter(|(_, of)| u32::from(**of) == set);
            self.flash
                .set_pressure(units.map(|(unit, _)| Unit(unit)), is_full);
        }
        if let Some(shared) = &mut self.shared_slots {
            shared.reclaim(&mut self.sets[set as usize].ftl);
            if !is_done {
                shared.wait(set);
            }
        }
    }

    /// Returns whether none waits any longer.
    fn take_admissions(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        set: u32,
    ) -> bool {
        while let Some(id) = self.sets[set as usize].admissions.pop_front() {
            if self.reads_ahead {
                self.forget_ahead(requests, id);
            }
            let NvmSet {
                admissions, ftl, ..
            } = &mut self.sets[set as usize];
            if let Some(&later) = admissions.get(LEAF_PREFETCHED) {
                let later = &requests[later];
                ftl.prefetch_leaf(later.range.space, later.next);
            }
            if let Some(&soon) = admissions.get(PREFETCHED) {
                let soon = &requests[soon];
                ftl.prefetch_page(soon.range.space, soon.next);
            }
            let done = match requests[id].opcode {
                Opcode::Read | Opcode::Write | Opcode::Append => {
                    self.write_as_mapped(queue, requests, (set, id))
                }
                Opcode::ManageZone => self.manage_zone(queue, requests, (set, id)),
                Opcode::Deallocate => {
                    for range in requests.ranges(id) {
                        let (first, end) = range.whole();
                        let ftl = &mut self.sets[set as usize].ftl;
                        ftl.deallocate(range.space, first, end);
                        self.deallocated(range);
                    }
                    self.keep_map(queue, set);
                    true
                }
                Opcode::Flush => {
                    ftl.flush(id);
                    true
                }
            };
            self.dispatch(queue, set, Owner::request(id));
            self.end_writes(requests, set);
            // What waits for the mapping waits for no slot.
            let waits_for_map = M::HAS_PAGES
                && (requests[id].next == requests[id].mapped || self.is_map_behind(set));
            self.sets[set as usize].is_full = !(done || waits_for_map);
            if !done {
                self.sets[set as usize].admissions.push_front(id);
                return false;
            }
            if let Some(recorder) = self.flash.recorder() {
                recorder.spend(id, Part::Buffer, queue.now());
            }
            let request = &mut requests[id];
            request.stage = Stage::Medium;
            let waited = queue.now() - request.admitted;
            if waited > Duration::ZERO && matches!(request.opcode, Opcode::Write | Opcode::Append) {
                self.sets[set as usize].buffer_wait += waited;
            }
            if request.opcode == Opcode::Flush {
                // Those that have nothing to wait for end here, the others with a program.
                while let Some(request) = self.sets[set as usize].ftl.pop_flushed() {
                    requests.outcomes.push(Outcome::Taken { request });
                }
            } else {
                requests.outcomes.push(Outcome::Taken { request: id });
            }
        }
        true
    }

    /// Pages that writes without a cache wait for are programmed.
    #[inline]
    pub(super) fn end_writes(&mut self, requests: &mut Requests, set: u32) {
        while let Some(request) = self.sets[set as usize].ftl.pop_written() {
            self.sets[set as usize].zoned.programmed(request);
            requests.part_done(request);
        }
    }

    /// Admits pages of a write as far as their entries are at hand; false when that or the buffer is not enough.
    #[inline]
    fn write_as_mapped(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        (set, id): (u32, u32),
    ) -> bool {
        let (request, stats) = requests.with_stats(id);
        let end = request.range.end;
        if !M::HAS_PAGES {
            return self.write(queue, request, stats, (id, end));
        }
        let mapped = request.mapped;
        if request.next == mapped || self.is_map_behind(set) {
            return false;
        }
        // One that ends before was refused.
        self.write(queue, request, stats, (id, mapped)) && (mapped == end || request.next < mapped)
    }

    /// Admits the pages of a write up to one; false when the buffer is full.
    #[inline]
    fn write(
        &mut self,
        queue: &mut EventQueue<Event>,
        request: &mut Request,
        stats: &mut NamespaceStats,
        (id, mapped): (u32, u64),
    ) -> bool {
        let range = request.range;
        let stream = request.hint.stream;
        let ftl = &mut self.sets[range.set as usize].ftl;
        let layout = ftl.layout(request.hint.pattern == Pattern::Sequential);
        if !request.has_room {
            if !ftl.has_room(range.space, range.first, range.end, layout) {
                request.status = Status::CAPACITY_EXCEEDED;
                return true;
            }
            let (now, wake) = (queue.now(), Event::Throttle(range.set));
            if ftl.holds(range.pages(), now, |time| queue.schedule(time, wake)) {
                return false;
            }
        }
        request.has_room = true;
        let waits = if self.write_cache { NIL } else { id };
        ftl.oracle.begin(request.tag);
        let space = range.space;
        while request.next < mapped {
            let page = request.next;
            let is_partial = range.is_partial(page);
            let (before, together) = if is_partial {
                (ftl.entry(space, page), 0)
            } else {
                let end = range.whole().1.min(mapped);
                let together = ftl.write_unmapped(space, page, end, layout, stream, waits);
                (Entry::Unmapped, together)
            };
            let place = is_partial.then(|| ftl.before(before));
            let taken = match together {
                0 => match ftl.write(space, page, layout, stream, waits) {
                    Ok(()) => 1,
                    Err(WriteError::BufferFull) => {
                        if self.shared_slots.is_none() {
                            ftl.make_progress();
                        }
                        return false;
                    }
                    Err(WriteError::CapacityExceeded) => {
                        request.status = Status::CAPACITY_EXCEEDED;
                        return true;
                    }
                },
                pages => pages,
            };
            if let Some(place) = place {
                let bytes = request.bytes_of(page, self.geometry.page_bytes);
                ftl.wrote_part(space, page, place, bytes);
            }
            if waits != NIL {
                request.parts += taken;
            }
            if let Entry::Flash(ppn) = before {
                // Read-modify-write: the write completes only when the rest of the page is in.
                request.parts += 1;
                stats.merge_pages_read += 1;
                let (at, page) = ftl.locate(ppn);
                if let Some(recorder) = self.flash.recorder() {
                    recorder.spend(id, Part::Buffer, queue.now());
                }
                self.flash
                    .read(queue, at, 1 << page, false, Owner::request(id));
            }
            request.next += taken;
        }
        if let ZoneStep::Write { fills: true, .. } = request.zone {
            ftl.release_stream(stream);
        }
        if waits != NIL {
            // Nothing else may ever come to fill the wordlines.
            ftl.close_all();
        }
        true
    }
}
