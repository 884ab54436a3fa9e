//! A device: built from a profile, commands in, completions out.

mod admission;
mod error;
mod hints;
mod host;
mod location;
#[cfg(test)]
mod power_cut_tests;
mod precondition;
mod request;
mod set;
mod snapshot;
mod stats;
#[cfg(test)]
mod tests;
mod unmapped;
mod utilisation;
mod windows;

use std::collections::VecDeque;

pub use error::DeviceError;
pub use host::QueueId;
pub use location::Location;
pub use precondition::Precondition;
pub use set::SetInfo;
pub use snapshot::SnapshotError;
pub use stats::Stats;
pub use utilisation::Utilisation;
pub use windows::SetUsage;

use self::admission::Admission;
use self::host::Host;
use self::request::{Requests, Work};
use self::set::{Homes, NvmSet};
use crate::engine::{Event, EventQueue, Time};
use crate::ftl::MAX_NAMESPACE_PAGES;
use crate::nand::{Finished, Flash, Geometry, Owner};
use crate::nvme::{
    Command, Completion, Directive, Hints, Namespace, NamespaceId, Opcode, Pattern, Status,
};
use crate::profile::{Profile, ProfileErrors};

/// A simulated SSD. It is deterministic, does no I/O and knows no wall clock.
///
/// ```
/// use meldsim::{Command, Device, Directive, Pattern, Profile};
///
/// let mut device = Device::new(&Profile::builtin("melded-tlc-8x8")?)?;
/// let nsid = device.create_namespace(1 << 40)?;
/// device.preload(nsid, 0, 4096, Directive::read_pattern(Pattern::Sequential))?;
/// device.submit(&Command::read(nsid, 0, 4096, 7))?;
/// device.run_until_completion();
/// let completion = device.pop_completion().expect("the read is done");
/// assert_eq!((completion.tag, completion.latency().as_us()), (7, 4068));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Device {
    profile: Profile,
    geometry: Geometry,
    queue: EventQueue<Event>,
    flash: Flash,
    sets: Vec<NvmSet>,
    homes: Homes,
    namespaces: Vec<Namespace>,
    /// What was said about the namespaces before their writes, in the same order.
    hints: Vec<Hints>,
    host: Host,
    requests: Requests,
    completions: VecDeque<Completion>,
    /// Reused by every event.
    finished: Vec<Finished>,
    /// Sets that may be able to go on; reused by every event.
    stirred: Vec<u32>,
    /// The counters that are the device's own; the rest are asked of its parts.
    stats: Stats,
}

/// The pages of a range, and whether the first and the last are covered only in part.
#[derive(Clone, Copy, Debug)]
struct PageRange {
    set: u32,
    space: u32,
    first: u64,
    end: u64,
    partial_first: bool,
    partial_last: bool,
}

impl PageRange {
    fn pages(&self) -> u64 {
        self.end - self.first
    }
}

impl Device {
    /// Commands are refused after this time: what is outstanding needs the rest of the clock's
    /// range to complete.
    pub const LAST_SUBMISSION: Time = Time::from_ps(u64::MAX / 2);

    /// Builds the device; refuses a profile that describes an impossible one.
    pub fn new(profile: &Profile) -> Result<Device, ProfileErrors> {
        profile.validate()?;
        let geometry = Geometry::new(profile);
        let (sets, homes) = set::build(profile, &geometry);
        Ok(Device {
            queue: EventQueue::new(),
            flash: Flash::new(profile, &geometry),
            sets,
            homes,
            namespaces: Vec::new(),
            hints: Vec::new(),
            host: Host::new(profile),
            requests: Requests::new(),
            completions: VecDeque::new(),
            finished: Vec::new(),
            stirred: Vec::new(),
            stats: Stats::default(),
            profile: profile.clone(),
            geometry,
        })
    }

    /// The profile it was built from.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Creates a namespace of `size_bytes`. It is thin: its size may exceed the device's capacity.
    /// Namespaces go to the NVM sets in turn, the first to set 0.
    pub fn create_namespace(&mut self, size_bytes: u64) -> Result<NamespaceId, DeviceError> {
        let set = self.namespaces.len() % self.sets.len();
        self.create_namespace_in(set as u32, size_bytes)
    }

    /// Creates a namespace in an NVM set; see [`Device::create_namespace`].
    pub fn create_namespace_in(
        &mut self,
        set: u32,
        size_bytes: u64,
    ) -> Result<NamespaceId, DeviceError> {
        let sets = self.sets.len() as u32;
        if set >= sets {
            return Err(DeviceError::UnknownSet { set, sets });
        }
        let lba_bytes = self.profile.controller.lba_size.0;
        let max_bytes = MAX_NAMESPACE_PAGES * self.geometry.page_bytes;
        if size_bytes == 0 || size_bytes % lba_bytes != 0 || size_bytes > max_bytes {
            return Err(DeviceError::NamespaceSize {
                size_bytes,
                lba_bytes,
                max_bytes,
            });
        }
        let space = self.sets[set as usize].ftl.add_space();
        self.homes.spaces.push((set, space));
        let id = NamespaceId(self.homes.spaces.len() as u32);
        self.hints.push(Hints::default());
        self.namespaces.push(Namespace {
            id,
            lba_bytes,
            size_lbas: size_bytes / lba_bytes,
            page_bytes: self.geometry.page_bytes,
            wordline_bytes: self.geometry.page_bytes * u64::from(self.geometry.pages_per_wordline),
        });
        Ok(id)
    }

    /// The namespace, if it exists.
    pub fn namespace(&self, nsid: NamespaceId) -> Option<&Namespace> {
        self.namespaces.get((nsid.0 as usize).wrapping_sub(1))
    }

    /// All namespaces, in the order of their identifiers.
    pub fn namespaces(&self) -> &[Namespace] {
        &self.namespaces
    }

    /// The current simulated time.
    pub fn now(&self) -> Time {
        self.queue.now()
    }

    /// Submits a command at [`Device::now`]. What is wrong with the command itself is refused at
    /// once and changes nothing; how it ends otherwise is told by its completion.
    ///
    /// Writes, deallocations and flushes take effect in the order submitted, reads at once. A write
    /// completes when its last page is in the write buffer; one that covers a page on flash only in
    /// part also waits for that page to be read (the rest is merged in the buffer).
    pub fn submit(&mut self, command: &Command) -> Result<(), DeviceError> {
        if !self.host.is_direct() {
            return self.submit_to(QueueId(0), command);
        }
        let work = self.check(command)?;
        let request = self.requests.start(command, self.queue.now());
        self.begin(request, work);
        Ok(())
    }

    /// What the command asks for, or why it is refused.
    fn check(&mut self, command: &Command) -> Result<Work, DeviceError> {
        if self.now() > Device::LAST_SUBMISSION {
            return Err(DeviceError::EndOfTime);
        }
        if command.opcode != Opcode::Write && command.directive != Directive::NONE {
            command.directive.pattern()?;
            return Err(DeviceError::DirectiveNotOnWrite);
        }
        let nlb = u64::from(command.nlb);
        let (range, bytes) = match command.opcode {
            Opcode::Flush => (self.empty_range(command.nsid)?, 0),
            _ => self.pages(command.nsid, command.slba, nlb)?,
        };
        let hint = self.hint(command, nlb)?;
        match command.opcode {
            Opcode::Read => {
                self.stats.read_commands += 1;
                self.stats.host_read_bytes += bytes;
            }
            Opcode::Write => {
                self.stats.write_commands += 1;
                self.stats.host_written_bytes += bytes;
            }
            Opcode::Deallocate => {
                self.stats.deallocate_commands += 1;
                self.forget_hints(command);
            }
            Opcode::Flush => self.stats.flush_commands += 1,
        }
        Ok(Work {
            opcode: command.opcode,
            hint,
            range,
            bytes,
        })
    }

    /// The controller begins to work on a command.
    fn begin(&mut self, request: u32, work: Work) {
        self.account(&work);
        self.begin_in(work.range.set, request);
        match work.opcode {
            Opcode::Read => self.submit_read(request, work.range),
            Opcode::Write => {
                let ftl = &self.sets[work.range.set as usize].ftl;
                let layout = ftl.layout(work.hint.pattern == Pattern::Sequential);
                self.admit(Admission::write(
                    request,
                    work.range,
                    layout,
                    work.hint.stream,
                ));
            }
            Opcode::Deallocate => {
                self.admit(Admission::deallocate(request, work.range));
                for range in self.host.more_ranges(request) {
                    self.admit(Admission::deallocate(request, range));
                }
            }
            Opcode::Flush => self.admit(Admission::flush(request, work.range)),
        }
    }

    /// Places data as if it had been written in order and flushed long since. Takes no simulated
    /// time; only padding is counted. A page that is covered in part counts as covered. On a nearly
    /// full device there may be room for the pages and none for the padding: then a part is placed.
    pub fn preload(
        &mut self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
        directive: Directive,
    ) -> Result<(), DeviceError> {
        let (range, _) = self.pages(nsid, slba, nlb)?;
        let write = Command::write(nsid, slba, 0, directive, 0);
        let hint = self.hint(&write, nlb)?;
        let ftl = &mut self.sets[range.set as usize].ftl;
        let layout = ftl.layout(hint.pattern == Pattern::Sequential);
        if ftl.preload(range.space, range.first, range.end, layout) {
            return Ok(());
        }
        let pages = ftl.unmapped_pages(range.space, range.first, range.end);
        let free = ftl.capacity().saturating_sub(ftl.mapped_pages());
        Err(DeviceError::CapacityExceeded { pages, free })
    }

    /// When something happens next, if anything will.
    pub fn next_event(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// Moves time to `time`, processing every event up to and including it. A time in the past
    /// only processes what is due at [`Device::now`].
    pub fn advance_to(&mut self, time: Time) {
        let time = time.max(self.queue.now());
        while let Some(event) = self.queue.pop_until(time) {
            self.process(event);
        }
        self.queue.advance_clock(time);
    }

    /// Processes events until a completion can be popped; time stops at its event. False when
    /// nothing is left that could complete.
    pub fn run_until_completion(&mut self) -> bool {
        while self.completions.is_empty() {
            match self.queue.pop_until(Time::MAX) {
                Some(event) => self.process(event),
                None => return false,
            }
        }
        true
    }

    /// As [`Device::run_until_completion`], but time goes no further than `limit`, and it goes as far
    /// when nothing completes. False when nothing has completed.
    pub fn run_until_completion_or(&mut self, limit: Time) -> bool {
        while self.completions.is_empty() {
            match self.queue.pop_until(limit) {
                Some(event) => self.process(event),
                None => {
                    self.queue.advance_clock(limit.max(self.now()));
                    return false;
                }
            }
        }
        true
    }

    /// The next completion, in the order in which commands completed.
    pub fn pop_completion(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }

    /// Commands submitted and not completed. A completion that was not popped is completed.
    pub fn outstanding(&self) -> usize {
        self.requests.outstanding()
    }

    fn process(&mut self, event: Event) {
        match event {
            Event::Controller(request) => self.finish_in_controller(request),
            Event::Sent { request, parts } => self.finish_part(request, u64::from(parts)),
            Event::Fetched => self.fetched(),
            Event::Arrived => self.arrived(),
            Event::Window(set) => self.window_due(set),
            Event::Idle(set) => self.look_idle(set),
            Event::Channel(channel) => {
                self.flash
                    .step(&mut self.queue, channel, &mut self.finished);
                if self.finished.is_empty() {
                    return;
                }
                let mut finished = std::mem::take(&mut self.finished);
                for operation in finished.drain(..) {
                    if let Some(set) = self.finish_operation(operation) {
                        if !self.stirred.contains(&set) {
                            self.stirred.push(set);
                        }
                    }
                }
                self.finished = finished;
                while let Some(set) = self.stirred.pop() {
                    self.pump(set, Owner::gc(set));
                    self.end_writes(set);
                    self.run_admissions(set);
                }
            }
        }
        self.fetch();
    }

    /// Moves on what can move in a set.
    fn pump(&mut self, set: u32, owner: Owner) {
        self.flash.act_for(owner);
        let ftl = &mut self.sets[set as usize].ftl;
        ftl.pump(&mut self.flash, &mut self.queue);
        self.note_excursion(set);
    }

    /// Returns the set that may be able to go on.
    #[inline]
    fn finish_operation(&mut self, operation: Finished) -> Option<u32> {
        match operation {
            Finished::Read { at, pages, owner } => {
                if let Some(request) = owner.as_request() {
                    self.deliver(request, pages.count_ones());
                    return None;
                }
                let set = owner.as_gc()?;
                self.sets[set as usize].ftl.gc_read(at, pages);
                Some(set)
            }
            Finished::Program { unit, token } => {
                let set = self.homes.set_of(unit);
                self.sets[set as usize].ftl.programmed(token);
                self.end_writes(set);
                while let Some(request) = self.sets[set as usize].ftl.pop_flushed() {
                    self.finish_part(request, 1);
                }
                Some(set)
            }
            Finished::Erase { unit, token } => {
                let set = self.homes.set_of(unit);
                self.sets[set as usize].ftl.erased(token);
                Some(set)
            }
            Finished::Copyback { unit, token } => {
                let set = self.homes.set_of(unit);
                self.sets[set as usize].ftl.copied(token);
                Some(set)
            }
        }
    }

    /// Some of what the request waits for has happened.
    #[inline]
    fn finish_part(&mut self, request: u32, parts: u64) {
        let now = self.queue.now();
        if let Some(ended) = self.requests.finish_part(request, parts, now) {
            self.stats.failed_commands += u64::from(ended.status != Status::Success);
            self.completions.push_back(ended);
            self.host.ended();
            self.end_in(request);
        }
    }

    /// What needs no flash takes the controller's latency.
    fn after_controller_latency(&mut self, request: u32) {
        let time = self.queue.now() + self.profile.controller.latency;
        self.queue.schedule(time, Event::Controller(request));
    }

    fn submit_read(&mut self, request: u32, range: PageRange) {
        let PageRange {
            set,
            space,
            first,
            end,
            ..
        } = range;
        let owner = Owner::request(request);
        let ftl = &mut self.sets[set as usize].ftl;
        ftl.note_read(space, first, end);
        let read = ftl.read(&mut self.flash, &mut self.queue, space, first, end, owner);
        self.stats.buffer_page_reads += read.buffered;
        self.stats.unmapped_page_reads += read.unmapped;
        let from_controller = read.buffered + read.unmapped > 0;
        self.requests
            .expect(request, read.flash + u64::from(from_controller));
        if from_controller {
            self.expect_from_controller(request, read.buffered + read.unmapped);
            self.after_controller_latency(request);
        }
    }

    fn empty_range(&self, nsid: NamespaceId) -> Result<PageRange, DeviceError> {
        let namespace = self
            .namespace(nsid)
            .ok_or(DeviceError::UnknownNamespace { nsid })?;
        let (set, space) = self.homes.spaces[namespace.id.0 as usize - 1];
        Ok(PageRange {
            set,
            space,
            first: 0,
            end: 0,
            partial_first: false,
            partial_last: false,
        })
    }

    /// The pages of a range of logical blocks, and its bytes.
    fn pages(
        &self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
    ) -> Result<(PageRange, u64), DeviceError> {
        let namespace = self
            .namespace(nsid)
            .ok_or(DeviceError::UnknownNamespace { nsid })?;
        let size_lbas = namespace.size_lbas;
        if nlb == 0 || slba > size_lbas || nlb > size_lbas - slba {
            return Err(DeviceError::OutOfRange {
                nsid,
                slba,
                nlb,
                size_lbas,
            });
        }
        let page_bytes = namespace.page_bytes;
        let (start, bytes) = (slba * namespace.lba_bytes, nlb * namespace.lba_bytes);
        let stop = start + bytes;
        let (set, space) = self.homes.spaces[namespace.id.0 as usize - 1];
        let range = PageRange {
            set,
            space,
            first: start / page_bytes,
            end: stop.div_ceil(page_bytes),
            partial_first: start % page_bytes != 0,
            partial_last: stop % page_bytes != 0,
        };
        Ok((range, bytes))
    }
}
