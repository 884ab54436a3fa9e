//! The NAND medium: flash, and a translation layer for each NVM set.

mod admission;
mod location;
mod precondition;
mod segments;
mod set;
mod stats;
mod windows;

use self::admission::Admission;
use self::segments::Segments;
use self::set::NvmSet;
use super::DeviceError;
use super::front::{Front, PageRange};
use super::request::Work;
use crate::engine::Event;
use crate::ftl::{MAX_NAMESPACE_PAGES, SavedFtl};
use crate::nand::{Finished, Flash, Geometry, Owner, Unit};
use crate::nvme::{Hint, Opcode, Pattern};
use crate::profile::Profile;

/// Flash and what manages it.
#[derive(Debug)]
pub(super) struct NandMedium {
    geometry: Geometry,
    flash: Flash,
    pub(super) sets: Vec<NvmSet>,
    /// The set of each unit.
    set_of_unit: Box<[u16]>,
    /// Large reads, if they are divided.
    segments: Option<Box<Segments>>,
    /// Reused by every event.
    finished: Vec<Finished>,
    /// Sets that may be able to go on; reused by every event.
    stirred: Vec<u32>,
}

impl NandMedium {
    pub(super) fn new(profile: &Profile) -> NandMedium {
        let geometry = Geometry::new(profile);
        let (sets, set_of_unit) = set::build(profile, &geometry);
        NandMedium {
            flash: Flash::new(profile, &geometry),
            sets,
            set_of_unit,
            segments: Segments::new(profile),
            finished: Vec::new(),
            stirred: Vec::new(),
            geometry,
        }
    }

    pub(super) fn page_bytes(&self) -> u64 {
        self.geometry.page_bytes
    }

    /// Bytes of one wordline of every plane.
    pub(super) fn stripe_bytes(&self) -> u64 {
        u64::from(self.geometry.units()) * self.optimal_write_bytes()
    }

    /// Bytes of the largest namespace.
    pub(super) fn max_namespace_bytes(&self) -> u64 {
        MAX_NAMESPACE_PAGES * self.geometry.page_bytes
    }

    /// A new namespace's space in a set.
    pub(super) fn add_space(&mut self, set: u32) -> u32 {
        self.sets[set as usize].ftl.add_space()
    }

    #[inline]
    fn set_of(&self, unit: Unit) -> u32 {
        u32::from(self.set_of_unit[unit.0 as usize])
    }

    /// The controller begins to work on a command.
    #[inline]
    pub(super) fn begin(&mut self, front: &mut Front, request: u32, work: Work) {
        let set = work.range.set;
        self.account(front, &work);
        if front.profile.gc.background {
            front.begin_in(set, request);
            self.sets[set as usize].ftl.set_idle(false);
        }
        match work.opcode {
            Opcode::Read => self.submit_read(front, request, work.range),
            Opcode::Write => {
                let ftl = &self.sets[set as usize].ftl;
                let layout = ftl.layout(work.hint.pattern == Pattern::Sequential);
                let admission = Admission::write(request, work.range, layout, work.hint.stream);
                self.admit(front, admission);
            }
            Opcode::Deallocate => {
                self.admit(front, Admission::deallocate(request, work.range));
                for range in front.host.more_ranges(request) {
                    self.admit(front, Admission::deallocate(request, range));
                }
            }
            Opcode::Flush => self.admit(front, Admission::flush(request, work.range)),
        }
    }

    /// Places data as if it had been written in order and flushed long since.
    pub(super) fn preload(&mut self, range: PageRange, hint: Hint) -> Result<(), DeviceError> {
        let ftl = &mut self.sets[range.set as usize].ftl;
        let layout = ftl.layout(hint.pattern == Pattern::Sequential);
        if ftl.preload(range.space, range.first, range.end, layout) {
            return Ok(());
        }
        let pages = ftl.unmapped_pages(range.space, range.first, range.end);
        let free = ftl.capacity().saturating_sub(ftl.mapped_pages());
        Err(DeviceError::CapacityExceeded { pages, free })
    }

    /// What it needs timers for: a look at each channel.
    pub(super) fn alarms(&self) -> Vec<Event> {
        Flash::alarms(&self.geometry)
    }

    #[inline]
    pub(super) fn process(&mut self, front: &mut Front, event: Event) {
        match event {
            Event::Channel(channel) => self.step_channel(front, channel),
            Event::Window(set) => self.window_due(front, set),
            Event::Idle(set) => {
                if front.is_idle(set) {
                    self.sets[set as usize].ftl.set_idle(true);
                    self.pump(front, set, Owner::gc(set));
                }
            }
            _ => debug_assert!(false, "{event:?} is not for this medium"),
        }
    }

    #[inline]
    fn step_channel(&mut self, front: &mut Front, channel: u32) {
        self.flash
            .step(&mut front.queue, channel, &mut self.finished);
        if self.finished.is_empty() {
            return;
        }
        for index in 0..self.finished.len() {
            if let Some(set) = self.finish_operation(front, self.finished[index]) {
                if !self.stirred.contains(&set) {
                    self.stirred.push(set);
                }
            }
        }
        self.finished.clear();
        while let Some(set) = self.stirred.pop() {
            self.pump(front, set, Owner::gc(set));
            self.end_writes(front, set);
            self.run_admissions(front, set);
        }
    }

    /// Moves on what can move in a set.
    fn pump(&mut self, front: &mut Front, set: u32, owner: Owner) {
        self.flash.act_for(owner);
        let ftl = &mut self.sets[set as usize].ftl;
        ftl.dispatch(&mut self.flash, &mut front.queue);
        self.note_excursion(front, set);
    }

    /// Returns the set that may be able to go on.
    #[inline]
    fn finish_operation(&mut self, front: &mut Front, operation: Finished) -> Option<u32> {
        match operation {
            Finished::Read { at, pages, owner } => {
                if let Some(request) = owner.as_request() {
                    if self.segments.is_some() {
                        self.read_on(front, request, pages.count_ones());
                    }
                    front.deliver(request, pages.count_ones());
                    return None;
                }
                let set = owner.as_gc()?;
                self.sets[set as usize].ftl.gc_read(at, pages);
                Some(set)
            }
            Finished::Program { unit, token } => {
                let set = self.set_of(unit);
                self.sets[set as usize].ftl.programmed(token);
                self.end_writes(front, set);
                while let Some(request) = self.sets[set as usize].ftl.pop_flushed() {
                    front.finish_part(request, 1);
                }
                Some(set)
            }
            Finished::Erase { unit, token } => {
                let set = self.set_of(unit);
                self.sets[set as usize].ftl.erased(token);
                Some(set)
            }
            Finished::Copyback { unit, token } => {
                let set = self.set_of(unit);
                self.sets[set as usize].ftl.copied(token);
                Some(set)
            }
        }
    }

    fn submit_read(&mut self, front: &mut Front, request: u32, range: PageRange) {
        let ftl = &mut self.sets[range.set as usize].ftl;
        ftl.note_read(range.space, range.first, range.end);
        let outstanding = front.requests.outstanding();
        let segments = self.segments.as_mut();
        if segments.is_some_and(|segments| segments.begin(request, range, outstanding)) {
            self.issue_segments(front, request);
        } else {
            self.issue_read(front, request, range);
        }
    }

    /// Pages of a read have arrived in the controller: with the last of a segment the next one begins.
    fn read_on(&mut self, front: &mut Front, request: u32, pages: u32) {
        if let Some(segments) = &mut self.segments {
            segments.arrived(request, u64::from(pages));
        }
        self.issue_segments(front, request);
    }

    /// Issues segments of a read until one has to wait for flash.
    fn issue_segments(&mut self, front: &mut Front, request: u32) {
        let next = |medium: &mut NandMedium| medium.segments.as_mut()?.next(request);
        while let Some(segment) = next(self) {
            let pages = self.issue_read(front, request, segment);
            if let Some(segments) = &mut self.segments {
                segments.issued(request, pages);
            }
        }
    }

    /// Reads pages for a request. Returns how many of them come from flash.
    fn issue_read(&mut self, front: &mut Front, request: u32, range: PageRange) -> u64 {
        let PageRange {
            set,
            space,
            first,
            end,
            ..
        } = range;
        let owner = Owner::request(request);
        let ftl = &self.sets[set as usize].ftl;
        let read = ftl.read(&mut self.flash, &mut front.queue, space, first, end, owner);
        front.stats.buffer_page_reads += read.buffered;
        front.stats.unmapped_page_reads += read.unmapped;
        let from_controller = read.buffered + read.unmapped > 0;
        front
            .requests
            .expect(request, read.flash + u64::from(from_controller));
        if from_controller {
            front.expect_from_controller(request, read.buffered + read.unmapped);
            front.after_controller_latency(request);
        }
        read.flash
    }

    /// What survives a power cut, of each set.
    pub(super) fn save(&self) -> Vec<SavedFtl> {
        self.sets.iter().map(|set| set.ftl.save()).collect()
    }

    /// The host's stream of that number ends in a set.
    pub(super) fn release_stream(&mut self, front: &mut Front, set: u32, stream: u8) {
        self.sets[set as usize].ftl.release_stream(stream);
        self.pump(front, set, Owner::gc(set));
        self.end_writes(front, set);
    }

    /// Takes what was saved in place of what there is; the namespaces are there already.
    pub(super) fn load(&mut self, front: &mut Front, saved: &[SavedFtl]) -> Result<(), String> {
        let (mut sets, _) = set::build(&front.profile, &self.geometry);
        if sets.len() != saved.len() {
            return Err("its sets are not the profile's".to_owned());
        }
        for ((number, set), saved) in (0..).zip(&mut sets).zip(saved) {
            let homes = front.namespaces.iter().zip(&front.homes);
            let here = homes.filter(|(_, home)| home.0 == number);
            let spaces: Vec<u64> = here.map(|(namespace, _)| namespace.pages()).collect();
            set.ftl.load(saved, &spaces)?;
        }
        self.sets = sets;
        for set in 0..self.sets.len() as u32 {
            self.pump(front, set, Owner::gc(set));
        }
        Ok(())
    }
}
