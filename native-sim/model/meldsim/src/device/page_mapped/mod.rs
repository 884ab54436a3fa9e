//! The NAND medium: flash, and a translation layer for each NVM set.
//!
//! In come commands that begin and events of channels; out go [`Outcome`]s. A read goes from [`NandMedium::begin`]
//! through the set's translation layer to flash, and comes back by [`NandMedium::process`] and `finish`.

mod cached;
mod map;
mod past;
mod read_ahead;
mod report;
mod slots;
mod windows;
mod write;
mod zones;

use std::collections::VecDeque;

pub(super) use self::cached::Cached;
use self::map::Fetches;
pub(super) use self::map::{Map, Table};
use self::read_ahead::ReadAhead;
use self::slots::SharedSlots;
use self::zones::ZoneWork;
use super::DeviceError;
use super::medium::Medium;
use super::request::{Outcome, PageRange, Requests, Stage};
use crate::engine::{Duration, EventQueue, Instant, TotalTime};
use crate::event::Event;
use crate::ftl::{Entry, Ftl, MAX_NAMESPACE_PAGES, MapIndex, Region};
use crate::nand::{Finished, Flash, Geometry, Owner, PageRead, PageSet, Sense, Unit, WordlineAddr};
use crate::nvme::fdp::FdpEvents;
use crate::nvme::{Opcode, Status, Windows};
use crate::profile::{BufferScope, ChannelKind, Journaling, Profile, ProfileError};
use crate::timeline::{Recorder, Timeline};

/// An NVM set: a translation layer over planes of its own, and the commands that wait for it. What
/// waits for one set does not delay another's.
#[derive(Debug)]
pub(super) struct NvmSet<M: Map> {
    pub(super) ftl: Ftl,
    map: M,
    fetches: Fetches,
    /// Writes, deallocations and flushes that wait for the buffer, in order.
    admissions: VecDeque<u32>,
    /// The first of them is a write for which there was no room, or whose time has not come.
    is_full: bool,
    /// Time writes waited here, summed over them.
    buffer_wait: TotalTime,
    windows: Windows,
    /// Commands of the host's that have begun and not completed, where an idle set has work.
    outstanding: u64,
    idle_since: Instant,
    /// An event will tell that it is idle.
    is_timed: bool,
    zoned: ZoneWork,
    ahead: Option<Box<ReadAhead>>,
}

/// Sets, and the set of each unit.
type Sets<M> = (Vec<NvmSet<M>>, Box<[u16]>);

fn build_sets<M: Map>(profile: &Profile, geometry: &Geometry) -> Result<Sets<M>, ProfileError> {
    let mut units = vec![0; geometry.units() as usize];
    let mut sets = Vec::new();
    for (set, region) in (0..).zip(Region::all(profile, geometry)) {
        for unit in region.iter() {
            units[unit.0 as usize] = set;
        }
        let mut ftl = Ftl::new(profile, geometry, u32::from(set), region)?;
        if M::HAS_PAGES {
            ftl.add_map_space();
        }
        sets.push(NvmSet {
            ftl,
            map: M::new(profile),
            fetches: Fetches::default(),
            admissions: VecDeque::new(),
            is_full: false,
            buffer_wait: TotalTime::default(),
            windows: Windows::new(&profile.predictable_latency),
            outstanding: 0,
            idle_since: Instant::START,
            is_timed: false,
            zoned: ZoneWork::new(profile),
            ahead: ReadAhead::of(profile.controller.read_ahead.0 / profile.mapping_unit().0),
        });
    }
    Ok((sets, units.into_boxed_slice()))
}

/// Whether anything is done because the host is idle.
fn works_in_background(profile: &Profile) -> bool {
    profile.gc.background || profile.ftl.journal == Journaling::Background
}

/// Flash and what manages it.
#[derive(Debug)]
pub(super) struct NandMedium<M: Map = Table> {
    geometry: Geometry,
    flash: Flash,
    pub(super) sets: Vec<NvmSet<M>>,
    /// The set of each unit.
    set_of_unit: Box<[u16]>,
    /// Pages of a read that are issued at a time; 0 for all.
    segment_pages: u64,
    /// Beside other commands, but no more than this many in all, reads that one segment would do
    /// take two.
    halved_depth: usize,
    reads_ahead: bool,
    /// A write completes when it is in the buffer.
    write_cache: bool,
    /// A flush programs what is gathered.
    flush_programs: bool,
    /// Where the sets share the write buffer.
    shared_slots: Option<SharedSlots>,
    /// For how long a set is idle before it collects and journals, where it does.
    background_idle: Option<Duration>,
    /// Reused by every event.
    finished: Vec<Finished>,
    /// Sets that may be able to go on; reused by every event.
    ready: Vec<u32>,
}

impl<M: Map> Medium for NandMedium<M> {
    fn new(profile: &Profile) -> Result<NandMedium<M>, ProfileError> {
        let geometry = Geometry::new(profile);
        let (mut sets, set_of_unit) = build_sets(profile, &geometry)?;
        let is_shared = profile.sets.write_buffer == BufferScope::Global;
        let controller = &profile.controller;
        Ok(NandMedium {
            flash: Flash::new(profile, &geometry)?,
            shared_slots: is_shared.then(|| SharedSlots::of(&mut sets)),
            sets,
            set_of_unit,
            segment_pages: controller.read_segment.0 / profile.mapping_unit().0,
            halved_depth: controller.halved_read_depth as usize,
            reads_ahead: controller.read_ahead.0 > 0,
            write_cache: controller.write_cache,
            flush_programs: profile.flush_programs(),
            background_idle: works_in_background(profile).then_some(profile.gc.background_idle),
            finished: Vec::new(),
            ready: Vec::new(),
            geometry,
        })
    }

    fn page_bytes(&self) -> u64 {
        self.geometry.page_bytes
    }

    fn optimal_write_bytes(&self) -> u64 {
        self.geometry.page_bytes * u64::from(self.geometry.pages_per_wordline)
    }

    fn stripe_bytes(&self) -> u64 {
        u64::from(self.geometry.units()) * self.optimal_write_bytes()
    }

    fn max_namespace_bytes(&self) -> u64 {
        MAX_NAMESPACE_PAGES * self.geometry.page_bytes
    }

    fn sets(&self) -> usize {
        self.sets.len()
    }

    fn timers(&self) -> usize {
        self.geometry.channels as usize
    }

    fn add_space(&mut self, set: u32, size_bytes: u64) -> u32 {
        let of = &mut self.sets[set as usize];
        of.map
            .add_space(size_bytes.div_ceil(self.geometry.page_bytes));
        of.ftl.add_space()
    }

    #[inline(always)]
    fn begin(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, id: u32) {
        let request = &mut requests[id];
        let set = request.range.set;
        self.account(queue, request);
        if self.background_idle.is_some() {
            request.keeps_awake = true;
            let set = &mut self.sets[set as usize];
            set.outstanding += 1;
            set.ftl.set_idle(false);
        }
        let (opcode, range) = (request.opcode, request.range);
        if matches!(opcode, Opcode::Read | Opcode::Write) {
            self.translate(queue, requests, id);
            self.begin_map(queue, set);
        }
        let request = &mut requests[id];
        if opcode == Opcode::Flush && !self.flush_programs {
            request.parts += 1;
            return requests.outcomes.push(Outcome::Taken { request: id });
        }
        if opcode != Opcode::Read {
            request.stage = Stage::Admission;
            self.admit(queue, requests, id);
            return self.share_slots(queue, requests);
        }
        let ftl = &mut self.sets[set as usize].ftl;
        ftl.note_read(range.space, range.first, range.end);
        match self.reads_ahead {
            false => self.read_on_demand(queue, requests, id),
            true => self.read_in_run(queue, requests, id),
        }
    }

    fn process(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, event: Event) {
        match event {
            Event::Window(set) => self.window_due(queue, set),
            Event::Idle(set) => {
                if self.is_idle(queue, set) {
                    self.sets[set as usize].ftl.set_idle(true);
                    self.dispatch(queue, set, Owner::gc(set));
                }
            }
            Event::Throttle(set) => {
                self.sets[set as usize].ftl.end_hold();
                self.go_on(queue, requests, set);
            }
            Event::Zone(set) => self.zone_forgotten(queue, requests, set),
            _ => debug_assert!(false, "{event:?} is not for this medium"),
        }
        self.share_slots(queue, requests);
    }

    #[inline(always)]
    fn step_channel(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        channel: u32,
    ) {
        match self.flash.kind() {
            ChannelKind::Plain => self.step::<true, true>(queue, requests, channel),
            ChannelKind::Single => self.step_apart::<true, false>(queue, requests, channel),
            ChannelKind::Any => self.step_apart::<false, false>(queue, requests, channel),
        }
    }

    fn command_completed(&mut self, queue: &mut EventQueue<Event>, set: u32) {
        let now = queue.now();
        let of = &mut self.sets[set as usize];
        of.outstanding -= 1;
        of.idle_since = now;
        if of.outstanding == 0 && !of.is_timed {
            let time = now + self.background_idle.unwrap_or_default();
            self.time_idleness(queue, set, time);
        }
    }

    fn release_stream(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        set: u32,
        stream: u8,
    ) {
        self.sets[set as usize].ftl.release_stream(stream);
        self.dispatch(queue, set, Owner::gc(set));
        self.end_writes(requests, set);
        self.share_slots(queue, requests);
    }

    fn fdp_events(&self, set: u32) -> Option<&FdpEvents> {
        self.sets[set as usize].ftl.fdp.as_ref()
    }

    fn fdp_events_mut(&mut self, set: u32) -> Option<&mut FdpEvents> {
        self.sets[set as usize].ftl.fdp.as_mut()
    }

    fn left_in_superblock(&self, set: u32, stream: u8) -> u64 {
        self.sets[set as usize].ftl.left_in_superblock(stream)
    }

    #[inline(always)]
    fn prefetch_ahead(&self, (set, space, page): (u32, u32, u64)) -> Option<(u32, MapIndex)> {
        let index = self.sets[set as usize].ftl.prefetch_leaf(space, page)?;
        Some((set, index))
    }

    #[inline(always)]
    fn prefetch(&self, (set, index): (u32, MapIndex)) {
        self.sets[set as usize].ftl.prefetch(index);
    }

    #[inline]
    fn recorder(&mut self) -> Option<&mut Recorder> {
        self.flash.recorder()
    }

    fn set_timeline(
        &mut self,
        timeline: Option<Box<dyn Timeline>>,
        now: Instant,
    ) -> Result<Option<Box<dyn Timeline>>, DeviceError> {
        let Geometry {
            dies,
            dies_per_channel,
            ..
        } = self.geometry;
        let recorder = |timeline| Recorder::new(timeline, (dies, dies_per_channel), now);
        let recorder = timeline.map(|timeline| Box::new(recorder(timeline)));
        let before = self.flash.set_recorder(recorder, now);
        Ok(before.map(|before| before.into_timeline()))
    }

    fn exchange_set(&mut self, other: &mut NandMedium<M>, set: usize) {
        std::mem::swap(&mut self.sets[set], &mut other.sets[set]);
        // Where sets are taken apart, each has channels of its own.
        let per_set = self.geometry.channels as usize / self.sets.len();
        let first = set * per_set;
        self.flash
            .take_channels(&mut other.flash, first..first + per_set);
    }
}

impl<M: Map> NandMedium<M> {
    /// A channel's event, and what comes of it.
    #[inline(always)]
    fn step<const SINGLE: bool, const PLAIN: bool>(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        channel: u32,
    ) {
        let finished = &mut self.finished;
        let page = self.flash.step::<SINGLE, PLAIN>(queue, channel, finished);
        if let Some(page) = page {
            self.finish_page(queue, requests, page);
        } else if !self.finished.is_empty() {
            self.finish_all(queue, requests);
        }
        self.share_slots(queue, requests);
    }

    /// The same as a function of its own: one of several kinds of channels fits into the processor's registers.
    #[inline(never)]
    fn step_apart<const SINGLE: bool, const PLAIN: bool>(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        channel: u32,
    ) {
        self.step::<SINGLE, PLAIN>(queue, requests, channel);
    }

    /// Pages of a segment of a read of so many.
    fn segment_of(&self, pages: u64, outstanding: usize) -> u64 {
        if self.segment_pages == 0 {
            return pages;
        }
        let is_halved =
            pages >= self.segment_pages && (2..=self.halved_depth).contains(&outstanding);
        match is_halved {
            true => self.segment_pages.min(pages.div_ceil(2)),
            false => self.segment_pages,
        }
    }

    /// Issues the first pages of a read.
    #[inline(always)]
    fn read_on_demand(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, id: u32) {
        let outstanding = requests.outstanding();
        let request = &mut requests[id];
        let pages = request.range.pages();
        if pages == 1 {
            return self.read_page(queue, requests, id);
        }
        request.segment = self.segment_of(pages, outstanding);
        request.is_divided = pages > request.segment;
        self.read_segments(queue, requests, id);
    }

    /// Goes on with a read that waited for entries of the mapping.
    fn read_on(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, id: u32) {
        match requests[id].range.pages() {
            1 => self.read_page(queue, requests, id),
            // A segment may still be on its way.
            pages if requests[id].in_flight == 0 || requests[id].segment >= pages => {
                self.read_segments(queue, requests, id);
            }
            _ => {}
        }
    }

    /// Issues a read of one page.
    #[inline(always)]
    fn read_page(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, id: u32) {
        let (request, stats) = requests.with_stats(id);
        let PageRange {
            set,
            space,
            first,
            skipped,
            ..
        } = request.range;
        if M::HAS_PAGES && request.mapped == first {
            return;
        }
        if let Some(recorder) = self.flash.recorder() {
            recorder.operations_begin(id, queue.now());
        }
        request.next = first + 1;
        request.parts += 1;
        let ftl = &self.sets[set as usize].ftl;
        let (skipped, owner) = (skipped[0] + skipped[1], Owner::request(id));
        match ftl.read_page(&mut self.flash, queue, space, first, skipped, owner) {
            Entry::Flash(_) => {
                stats.host_pages_read += 1;
                return;
            }
            Entry::Buffered(_) => stats.buffer_page_reads += 1,
            Entry::Unmapped => stats.unmapped_page_reads += 1,
        }
        request.outbound.from_controller += 1;
        requests.outcomes.push(Outcome::Taken { request: id });
    }

    /// Issues the first segment of a read, and those that need not wait for it.
    #[inline]
    fn read_segments(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, id: u32) {
        if self.read_segment(queue, requests, id) && requests[id].is_divided {
            self.next_segments(queue, requests, id);
        }
    }

    /// Issues the next segment of a read. False when it waits for the mapping.
    #[inline]
    fn read_segment(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        id: u32,
    ) -> bool {
        let (request, stats) = requests.with_stats(id);
        let PageRange {
            set,
            space,
            end,
            mut skipped,
            ..
        } = request.range;
        let mut issued = end.min(request.next + request.segment);
        if M::HAS_PAGES {
            issued = issued.min(request.mapped);
            if issued == request.next {
                return false;
            }
        }
        if let Some(recorder) = self.flash.recorder() {
            recorder.operations_begin(id, queue.now());
        }
        let first = request.next;
        request.is_divided |= issued < end;
        let ftl = &self.sets[set as usize].ftl;
        let owner = Owner::request(id);
        if first > request.range.first {
            skipped[0] = 0;
        }
        if issued < end {
            skipped[1] = 0;
        }
        let read = ftl.read(&mut self.flash, queue, space, first..issued, skipped, owner);
        request.next = issued;
        request.in_flight += read.flash;
        request.parts += read.flash;
        stats.host_pages_read += read.flash;
        let in_controller = read.buffered + read.unmapped;
        if in_controller > 0 {
            stats.buffer_page_reads += read.buffered;
            stats.unmapped_page_reads += read.unmapped;
            request.parts += 1;
            request.outbound.from_controller += in_controller;
            requests.outcomes.push(Outcome::Taken { request: id });
        }
        true
    }

    /// A divided read goes on when all pages of its segment have arrived.
    fn next_segments(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, id: u32) {
        while requests[id].in_flight == 0
            && requests[id].next < requests[id].range.end
            && self.read_segment(queue, requests, id)
        {}
    }

    /// Several operations may have ended on flash.
    fn finish_all(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests) {
        for index in 0..self.finished.len() {
            if let Some(set) = self.finish(queue, requests, self.finished[index]) {
                if !self.ready.contains(&set) {
                    self.ready.push(set);
                }
            }
        }
        self.finished.clear();
        while let Some(set) = self.ready.pop() {
            self.go_on(queue, requests, set);
        }
    }

    /// A set may be able to go on.
    fn go_on(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, set: u32) {
        self.keep_map(queue, set);
        self.dispatch(queue, set, Owner::gc(set));
        self.end_writes(requests, set);
        self.pad_zones(queue, set);
        let NvmSet { is_full, ftl, .. } = &self.sets[set as usize];
        // What waits for room waits on, as long as there is none and programs will make some.
        if self.shared_slots.is_none() && !(*is_full && ftl.waits_for_room()) {
            self.run_admissions(queue, requests, set);
        }
    }

    /// A page has come from flash.
    #[inline(always)]
    fn finish_page(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        page: PageRead,
    ) {
        let PageRead {
            at,
            pages,
            count,
            owner,
        } = page;
        let set = self.finish_read(queue, requests, (at, pages, count), owner, Sense::Page);
        if let Some(set) = set {
            self.go_on(queue, requests, set);
        }
    }

    /// Pages of a wordline, so many, have come from flash. Returns the set that may be able to go on.
    #[inline(always)]
    fn finish_read(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        (at, pages, count): (WordlineAddr, PageSet, u8),
        owner: Owner,
        sense: Sense,
    ) -> Option<u32> {
        if let Some(id) = owner.as_request() {
            let (request, stats) = requests.with_stats(id);
            match sense {
                Sense::Page => stats.page_reads += 1,
                Sense::Melded { is_first } => {
                    stats.melded_reads += u64::from(is_first);
                    stats.melded_pages_read += u64::from(count);
                }
            }
            if request.is_divided {
                request.in_flight -= u64::from(count);
                self.next_segments(queue, requests, id);
            }
            requests.pages_read(id, count);
            return None;
        }
        if let Some(set) = owner.as_gc() {
            self.sets[set as usize].ftl.gc_read(at, pages);
            return Some(set);
        }
        if let Some(chunk) = owner.as_ahead() {
            self.came_ahead(queue, requests, chunk, (count, false));
            return None;
        }
        let set = owner.as_map().filter(|_| M::HAS_PAGES)?;
        self.fetched(queue, requests, set, (at, pages));
        Some(set)
    }

    /// Issues the programs, reads and erases of a set that are ready.
    #[inline]
    fn dispatch(&mut self, queue: &mut EventQueue<Event>, set: u32, owner: Owner) {
        if self.sets[set as usize].ftl.is_ready() || self.flash.recorder().is_some() {
            self.dispatch_ready(queue, set, owner);
        }
    }

    fn dispatch_ready(&mut self, queue: &mut EventQueue<Event>, set: u32, owner: Owner) {
        self.flash.act_for(owner);
        let ftl = &mut self.sets[set as usize].ftl;
        ftl.dispatch(&mut self.flash, queue);
        if let Some(recorder) = self.flash.recorder() {
            recorder.levels(
                set,
                queue.now(),
                ftl.buffered_pages(),
                ftl.free_superblocks(),
            );
        }
        self.note_excursion(queue, set);
    }

    /// An operation has ended on flash. Returns the set that may be able to go on.
    #[inline]
    fn finish(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        operation: Finished,
    ) -> Option<u32> {
        let set_of = |unit: Unit| u32::from(self.set_of_unit[unit.0 as usize]);
        match operation {
            Finished::Read {
                at,
                pages,
                owner,
                sense,
                is_failed,
            } => {
                let read = (at, pages, pages.count_ones() as u8);
                if let (true, Some(id)) = (is_failed, owner.as_request()) {
                    requests[id].status = Status::UNRECOVERED_READ_ERROR;
                } else if let (true, Some(chunk)) = (is_failed, owner.as_ahead()) {
                    self.came_ahead(queue, requests, chunk, (read.2, true));
                    return None;
                }
                self.finish_read(queue, requests, read, owner, sense)
            }
            Finished::Program { unit, token } => {
                let set = set_of(unit);
                self.sets[set as usize].ftl.programmed(token);
                self.end_writes(requests, set);
                while let Some(request) = self.sets[set as usize].ftl.pop_flushed() {
                    requests.part_done(request);
                }
                Some(set)
            }
            Finished::Erase { unit, token } => {
                let set = set_of(unit);
                self.sets[set as usize].ftl.erased(token);
                Some(set)
            }
            Finished::Copyback { unit, token } => {
                let set = set_of(unit);
                self.sets[set as usize].ftl.copied(token);
                Some(set)
            }
        }
    }

    /// Schedules the event that tells that a set is idle.
    fn time_idleness(&mut self, queue: &mut EventQueue<Event>, set: u32, time: Instant) {
        self.sets[set as usize].is_timed = true;
        queue.schedule(time, Event::Idle(set));
    }

    /// Whether a set has been idle for long enough; else an event will tell again.
    fn is_idle(&mut self, queue: &mut EventQueue<Event>, set: u32) -> bool {
        let of = &mut self.sets[set as usize];
        of.is_timed = false;
        if of.outstanding > 0 {
            return false;
        }
        let time = of.idle_since + self.background_idle.unwrap_or_default();
        if time > queue.now() {
            self.time_idleness(queue, set, time);
            return false;
        }
        true
    }
}
