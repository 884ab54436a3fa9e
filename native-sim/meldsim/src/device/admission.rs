//! Writes, deallocations and flushes: taken in the order submitted, as the write buffer has room.

use super::{Device, PageRange};
use crate::ftl::{Entry, Layout, WriteError};
use crate::nand::Owner;
use crate::nvme::Status;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Write { layout: Layout, begun: bool },
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

const NO_PAGES: PageRange = PageRange {
    space: 0,
    first: 0,
    end: 0,
    partial_first: false,
    partial_last: false,
};

impl Admission {
    pub(super) fn write(request: u32, range: PageRange, layout: Layout) -> Admission {
        Admission {
            request,
            kind: Kind::Write {
                layout,
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

    pub(super) fn flush(request: u32) -> Admission {
        Admission {
            request,
            kind: Kind::Flush,
            range: NO_PAGES,
        }
    }
}

impl Device {
    pub(super) fn admit(&mut self, admission: Admission) {
        // The latency of the controller, or the flush itself.
        self.requests.expect(admission.request, 1);
        self.admissions.push_back(admission);
        if self.admissions.len() == 1 {
            self.run_admissions();
        }
    }

    /// Goes on with the commands that wait, until one has to wait for a program.
    pub(super) fn run_admissions(&mut self) {
        while let Some(mut admission) = self.admissions.pop_front() {
            let request = admission.request;
            let done = match admission.kind {
                Kind::Write { .. } => self.run_write(&mut admission),
                Kind::Deallocate => {
                    let PageRange {
                        space, first, end, ..
                    } = admission.range;
                    self.ftl.deallocate(space, first, end);
                    true
                }
                Kind::Flush => {
                    self.ftl.flush(request);
                    true
                }
            };
            self.ftl.pump(&mut self.flash, &mut self.queue);
            if !done {
                self.admissions.push_front(admission);
                return;
            }
            match admission.kind {
                Kind::Flush => self.end_flushes(),
                Kind::Write { .. } | Kind::Deallocate => self.after_controller_latency(request),
            }
        }
    }

    /// Flushes that had nothing to wait for end here, the others with a program.
    fn end_flushes(&mut self) {
        while let Some(request) = self.ftl.pop_flushed() {
            self.after_controller_latency(request);
        }
    }

    /// Admits pages of a write; false when the buffer is full.
    fn run_write(&mut self, admission: &mut Admission) -> bool {
        let Admission {
            request,
            kind: Kind::Write { layout, begun },
            range,
        } = admission
        else {
            return true;
        };
        if !*begun && !self.ftl.has_room(range.space, range.first, range.end) {
            self.requests.set_status(*request, Status::CapacityExceeded);
            return true;
        }
        *begun = true;
        #[cfg(test)]
        {
            self.ftl.witness.writing = self.requests.tag(*request);
        }
        while range.first < range.end {
            let partial =
                range.partial_first || (range.partial_last && range.first + 1 == range.end);
            let before = if partial {
                self.ftl.entry(range.space, range.first)
            } else {
                Entry::Unmapped
            };
            match self.ftl.write(range.space, range.first, *layout) {
                Ok(()) => {}
                Err(WriteError::BufferFull) => return false,
                Err(WriteError::CapacityExceeded) => {
                    self.requests.set_status(*request, Status::CapacityExceeded);
                    return true;
                }
            }
            if let Entry::Flash(ppa) = before {
                // Read-modify-write: the write completes only when the rest of the page is in.
                self.requests.expect(*request, 1);
                let (wordline, page) = self.geometry.wordline_of(ppa);
                let at = self.geometry.locate(wordline);
                let owner = Owner::request(*request);
                self.flash
                    .read(&mut self.queue, at, 1 << page, false, owner);
            }
            range.partial_first = false;
            range.first += 1;
        }
        true
    }
}
