//! Writes, deallocations and flushes: taken in the order submitted, as the write buffer has room.

use super::NandMedium;
use super::set::NvmSet;
use crate::device::front::{Front, PageRange};
use crate::engine::NIL;
use crate::ftl::{Entry, Layout, WriteError};
use crate::nand::Owner;
use crate::nvme::Status;

/// How many commands before its own turn the mapping's entry for one is fetched from memory.
const PREFETCHED: usize = 8;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Write {
        layout: Layout,
        stream: u8,
        begun: bool,
    },
    Deallocate,
    Flush,
}

/// A command that changes the device, and how far it has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admission {
    request: u32,
    kind: Kind,
    /// The pages still to do.
    range: PageRange,
}

impl Admission {
    pub(super) fn write(request: u32, range: PageRange, layout: Layout, stream: u8) -> Admission {
        Admission {
            request,
            kind: Kind::Write {
                layout,
                stream,
                begun: false,
            },
            range,
        }
    }

    /// Only pages that lie in the range as a whole can be deallocated.
    pub(super) fn deallocate(request: u32, range: PageRange) -> Admission {
        let first = range.first + u64::from(range.partial_first);
        let end = range.end - u64::from(range.partial_last);
        let range = PageRange {
            first,
            end: end.max(first),
            ..range
        };
        Admission {
            request,
            kind: Kind::Deallocate,
            range,
        }
    }

    /// Of the set that the range is in.
    pub(super) fn flush(request: u32, range: PageRange) -> Admission {
        Admission {
            request,
            kind: Kind::Flush,
            range,
        }
    }
}

impl NandMedium {
    pub(super) fn admit(&mut self, front: &mut Front, admission: Admission) {
        // The latency of the controller, or the flush itself.
        front.requests.expect(admission.request, 1);
        let set = admission.range.set;
        let NvmSet {
            admissions, ftl, ..
        } = &mut self.sets[set as usize];
        admissions.push_back(admission);
        if admissions.len() == 1 {
            self.run_admissions(front, set);
        } else {
            ftl.prefetch_leaf(admission.range.space, admission.range.first);
        }
    }

    /// Goes on with the commands that wait for a set, until one has to wait for a program.
    pub(super) fn run_admissions(&mut self, front: &mut Front, set: u32) {
        while let Some(mut admission) = self.sets[set as usize].admissions.pop_front() {
            let request = admission.request;
            let NvmSet {
                admissions, ftl, ..
            } = &mut self.sets[set as usize];
            if let Some(soon) = admissions.get(PREFETCHED) {
                ftl.prefetch(soon.range.space, soon.range.first);
            }
            let done = match admission.kind {
                Kind::Write { .. } => self.run_write(front, &mut admission),
                Kind::Deallocate => {
                    let PageRange {
                        space, first, end, ..
                    } = admission.range;
                    ftl.deallocate(space, first, end);
                    true
                }
                Kind::Flush => {
                    ftl.flush(request);
                    true
                }
            };
            self.pump(front, set, Owner::request(request));
            self.end_writes(front, set);
            if !done {
                self.sets[set as usize].admissions.push_front(admission);
                return;
            }
            match admission.kind {
                Kind::Flush => self.end_flushes(front, set),
                Kind::Write { .. } | Kind::Deallocate => front.after_controller_latency(request),
            }
        }
    }

    /// Flushes that had nothing to wait for end here, the others with a program.
    fn end_flushes(&mut self, front: &mut Front, set: u32) {
        while let Some(request) = self.sets[set as usize].ftl.pop_flushed() {
            front.after_controller_latency(request);
        }
    }

    /// Pages that writes without a cache wait for are programmed.
    pub(super) fn end_writes(&mut self, front: &mut Front, set: u32) {
        while let Some(request) = self.sets[set as usize].ftl.pop_written() {
            front.finish_part(request, 1);
        }
    }

    /// Admits pages of a write; false when the buffer is full.
    fn run_write(&mut self, front: &mut Front, admission: &mut Admission) -> bool {
        let Admission {
            request,
            kind:
                Kind::Write {
                    layout,
                    stream,
                    begun,
                },
            range,
        } = admission
        else {
            return true;
        };
        let ftl = &mut self.sets[range.set as usize].ftl;
        if !*begun && !ftl.has_room(range.space, range.first, range.end, *layout) {
            front
                .requests
                .set_status(*request, Status::CapacityExceeded);
            return true;
        }
        *begun = true;
        let waits = match front.profile.controller.write_cache {
            true => NIL,
            false => *request,
        };
        ftl.oracle.begin(front.requests.tag(*request));
        while range.first < range.end {
            let (space, first) = (range.space, range.first);
            let partial = range.partial_first || (range.partial_last && first + 1 == range.end);
            let (before, together) = if partial {
                (ftl.entry(space, first), 0)
            } else {
                let end = range.end - u64::from(range.partial_last);
                let together = ftl.write_unmapped(space, first, end, *layout, *stream, waits);
                (Entry::Unmapped, together)
            };
            let taken = match together {
                0 => match ftl.write(space, first, *layout, *stream, waits) {
                    Ok(()) => 1,
                    Err(WriteError::BufferFull) => {
                        ftl.make_progress();
                        return false;
                    }
                    Err(WriteError::CapacityExceeded) => {
                        front
                            .requests
                            .set_status(*request, Status::CapacityExceeded);
                        return true;
                    }
                },
                pages => pages,
            };
            if waits != NIL {
                front.requests.expect(*request, taken);
            }
            if let Entry::Flash(ppn) = before {
                // Read-modify-write: the write completes only when the rest of the page is in.
                front.requests.expect(*request, 1);
                let (at, page) = ftl.locate(ppn);
                let owner = Owner::request(*request);
                self.flash
                    .read(&mut front.queue, at, 1 << page, false, owner);
            }
            range.partial_first = false;
            range.first += taken;
        }
        if waits != NIL {
            // Nothing else may ever come to fill the wordlines.
            self.sets[range.set as usize].ftl.close_all();
        }
        true
    }
}
