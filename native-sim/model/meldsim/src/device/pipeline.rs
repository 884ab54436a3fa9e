//! The way of a command through the device, from submission to completion.
//!
//! ```text
//!   submit -> queue -> fetch -> transfer -> firmware -> medium -> firmware -> complete
//!             \________ hil ________/                   |   ^
//!                                                 begin v   | Outcome
//!                                                   a Medium: nand, xpoint
//! ```
//!
//! A command is a [record](super::request) with a [`Stage`]; a function here moves it from one stage to the next. The
//! medium works on the records, and reports what has become of them as [`Outcome`]s. A stage that takes no time is passed at
//! once; `profile/shortcuts.rs` says when none of them is looked at.
//!
//! On flash, in files of `device/page_mapped` and below:
//!
//! ```text
//!   read   begin -> read_page, read_segment -> map: at hand? -> ftl/read.rs -> nand/flash.rs
//!                        ^                       no: a translation page is read first
//!                        '-- next segment, when one has come
//!          a channel's event -> step_channel -> finish_read -> Outcome::Pages, Done
//!
//!   write  begin -> admit, a queue -> take_admissions -> write -> ftl/write.rs: a slot of the write buffer
//!                        ^                                 |  no slot is free: it waits; after a program go_on tries again
//!                        '---------------------------------'
//!          all pages have slots -> Outcome::Taken: done after the controller's latency (or, without a cache, when programmed)
//!
//!   slots of the buffer, of the host and of collection
//!          ftl: gathered by stream -> wordlines -> dispatch: positions on open superblocks -> nand/flash.rs
//!          a channel's event -> finish -> programmed: the slots are free, the mapping leads to flash -> go_on
//! ```
//!
//! Deallocations and flushes go the way of writes, so that they take effect in order; with `controller.flush = "none"` a flush
//! has none, and waits for nothing. All state of a command is in its record,
//! but what the firmware keeps of it. Queues, here, in the firmware, in the medium and on the die, hold its number.

use super::request::{Outcome, PageRange, Request, Stage, ZoneStep};
use super::{Device, DeviceError, QueueId};
use crate::engine::{Duration, Instant};
use crate::event::Event;
use crate::ftl::MapIndex;
use crate::nvme::{Command, Completion, Directive, Hint, NamespaceId, Opcode};
use crate::policy::firmware::Action;
use crate::policy::guard::raise;
use crate::timeline::{CommandRecord, CoreSpan, Part, Recorder};

/// What the code of the way leaves out, for speed. The compiler knows it as `BARE` and `IDEAL`; the general code does the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing.
    Any,
    /// A firmware that takes time, zones, and a timeline.
    Bare,
    /// These, and what the host interface does: the medium is all that takes time.
    Ideal,
}

/// Calls a function that has these two by what a device's way leaves out.
macro_rules! by_way {
    ($device:ident.$function:ident($($argument:expr),*)) => {
        match $device.way {
            Way::Any => $device.$function::<false, false>($($argument),*),
            Way::Bare => $device.$function::<true, false>($($argument),*),
            Way::Ideal => $device.$function::<true, true>($($argument),*),
        }
    };
}

/// The way to the entry of the map for a command to come, by which nothing is looked up but memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead(Option<(u32, MapIndex)>);

/// What was found out about a command that is good.
struct Checked {
    range: PageRange,
    bytes: u64,
    hint: Hint,
    zone: ZoneStep,
}

impl Device {
    /// Submits a command at [`Device::now`]. What is wrong with the command itself is refused at
    /// once and changes nothing; how it ends otherwise is told by its completion.
    ///
    /// Writes, deallocations and flushes take effect in the order submitted, reads at once. A flush without effect ends
    /// at once. A write
    /// completes when its last page is in the write buffer; one that covers a page on flash only in
    /// part also waits for that page to be read (the rest is merged in the buffer).
    ///
    /// # Errors
    ///
    /// A namespace that does not exist, a range beyond it, a directive that is unknown or not on a
    /// write, or a clock that is used up.
    pub fn submit(&mut self, command: &Command) -> Result<(), DeviceError> {
        self.submit_to(QueueId(0), command)
    }

    /// [Submits](Device::submit) a command to a queue. When the profile's `[host]` sets no limit,
    /// the controller fetches it at once; else when it is its turn.
    ///
    /// # Errors
    ///
    /// As [`Device::submit`], and a queue that does not exist or is full.
    #[inline]
    pub fn submit_to(&mut self, queue: QueueId, command: &Command) -> Result<(), DeviceError> {
        by_way!(self.submit_as(queue, command))
    }

    // One copy for all callers: then its parts, each of one caller, become part of it.
    #[inline(never)]
    fn submit_as<const BARE: bool, const IDEAL: bool>(
        &mut self,
        queue: QueueId,
        command: &Command,
    ) -> Result<(), DeviceError> {
        self.hil.check(queue)?;
        self.check(command)?;
        if !matches!(command.opcode, Opcode::Read | Opcode::Write) {
            return self.submit_other(queue, command);
        }
        let nlb = u64::from(command.nlb);
        let namespace = self.namespaces.check(command.nsid, command.slba, nlb)?;
        let mut hint = Hint::NONE;
        if command.opcode == Opcode::Write {
            hint = self.namespaces.hint(command, nlb)?;
            self.note_placement(command);
        }
        let (range, bytes) = self.namespaces.pages_at(namespace, command.slba, nlb);
        // What is checked goes into the record piece by piece: put together before, it would be copied through memory.
        let checked = Checked {
            range,
            bytes,
            hint,
            zone: ZoneStep::None,
        };
        let id = self.insert(queue, command, checked);
        self.enqueue::<BARE, IDEAL>(queue, id);
        Ok(())
    }

    /// Submits a command that is not a plain read or write.
    #[inline(never)]
    fn submit_other(&mut self, queue: QueueId, command: &Command) -> Result<(), DeviceError> {
        let checked = self.check_other(command)?;
        let id = self.insert(queue, command, checked);
        self.enqueue::<false, false>(queue, id);
        Ok(())
    }

    /// Submits the deallocation of up to 256 ranges (first logical block, count), as Dataset
    /// Management does with the deallocate attribute.
    ///
    /// # Errors
    ///
    /// As [`Device::submit_to`], and [`DeviceError::NoRanges`] where there is none.
    pub fn deallocate(
        &mut self,
        queue: QueueId,
        nsid: NamespaceId,
        ranges: &[(u64, u32)],
        tag: u64,
    ) -> Result<(), DeviceError> {
        self.hil.check(queue)?;
        let Some((&(slba, nlb), rest)) = ranges.split_first() else {
            return Err(DeviceError::NoRanges);
        };
        let pages = |&(slba, nlb)| Ok(self.namespaces.pages(nsid, slba, u64::from(nlb))?.0);
        let more_ranges = rest
            .iter()
            .map(pages)
            .collect::<Result<Vec<_>, DeviceError>>()?;
        let command = Command::deallocate(nsid, slba, nlb, tag);
        self.check(&command)?;
        let checked = self.check_other(&command)?;
        for &(slba, nlb) in rest {
            self.namespaces.forget(nsid, slba, nlb);
        }
        let id = self.insert(queue, &command, checked);
        if !more_ranges.is_empty() {
            self.requests.add_ranges(id, more_ranges.into_boxed_slice());
        }
        self.enqueue::<false, false>(queue, id);
        Ok(())
    }

    /// A command will begin at a logical block, after the next one. Nothing is simulated of that: the processor fetches from memory
    /// what leads to the entry of the map that the device will look up, because a map of many pages is in no cache, and others go
    /// on meanwhile.
    #[inline(always)]
    pub fn prefetch_ahead(&self, nsid: NamespaceId, slba: u64) -> Ahead {
        let at = self.namespaces.place(nsid, slba);
        Ahead(at.and_then(|at| self.medium.prefetch_ahead(at)))
    }

    /// The same command is the next: fetches the entry, to which [`Device::prefetch_ahead`] has found the way.
    #[inline]
    pub fn prefetch(&self, ahead: Ahead) {
        if let Some(at) = ahead.0 {
            self.medium.prefetch(at);
        }
    }

    /// Finds what can be left out now. To be called when any of that has changed.
    pub(super) fn find_way(&mut self) {
        let is_bare =
            self.firmware.is_none() && self.zones.is_none() && self.medium.recorder().is_none();
        self.way = match (is_bare, self.hil.is_direct) {
            (true, true) => Way::Ideal,
            (true, false) => Way::Bare,
            (false, _) => Way::Any,
        };
    }

    /// Why any command is refused.
    #[inline(always)]
    fn check(&self, command: &Command) -> Result<(), DeviceError> {
        if self.now() > Device::LAST_SUBMISSION {
            return Err(DeviceError::EndOfTime);
        }
        if command.opcode != Opcode::Write && command.directive != Directive::NONE {
            command.directive.pattern()?;
            return Err(DeviceError::DirectiveNotOnWrite);
        }
        Ok(())
    }

    /// What there is to know of a command that is not a plain read or write, or why it is refused.
    fn check_other(&mut self, command: &Command) -> Result<Checked, DeviceError> {
        let &Command { nsid, slba, .. } = command;
        let (range, bytes) = match command.opcode {
            Opcode::Flush => (self.namespaces.empty_range(nsid)?, 0),
            Opcode::ManageZone => {
                let slba = if command.select_all { 0 } else { slba };
                self.namespaces.check(nsid, slba, 1)?;
                (self.namespaces.empty_range(nsid)?, 0)
            }
            _ => self.namespaces.pages(nsid, slba, command.nlb.into())?,
        };
        if matches!(command.opcode, Opcode::ManageZone | Opcode::Append) {
            self.check_zoned(command)?;
        }
        if command.opcode == Opcode::Deallocate {
            self.namespaces.forget(nsid, slba, command.nlb);
        }
        Ok(Checked {
            range,
            bytes,
            hint: Hint::NONE,
            zone: match command.zone_action {
                None => ZoneStep::None,
                Some(action) if command.select_all => ZoneStep::ManageAll(action),
                Some(action) => ZoneStep::Manage(action),
            },
        })
    }

    /// A command that was found good has a record from here on.
    #[inline(always)]
    fn insert(&mut self, queue: QueueId, command: &Command, checked: Checked) -> u32 {
        let lba_bytes = self.profile.controller.lba_size.0;
        let now = self.queue.now();
        self.requests.insert(|| Request {
            opcode: command.opcode,
            hint: checked.hint,
            queue: queue.0,
            tag: command.tag,
            nsid: command.nsid,
            submitted: now,
            start: command.slba.saturating_mul(lba_bytes),
            bytes: checked.bytes,
            range: checked.range,
            next: checked.range.first,
            mapped: checked.range.first,
            admitted: now,
            zone: checked.zone,
            ..Request::default()
        })
    }

    /// What tells what happens, if anything does.
    #[inline(always)]
    fn recorder<const BARE: bool>(&mut self) -> Option<&mut Recorder> {
        match BARE {
            true => None,
            false => self.medium.recorder(),
        }
    }

    #[inline(always)]
    fn has_zones<const BARE: bool>(&self) -> bool {
        !BARE && self.zones.is_some()
    }

    #[inline(always)]
    fn enqueue<const BARE: bool, const IDEAL: bool>(&mut self, queue: QueueId, id: u32) {
        let now = self.queue.now();
        if let Some(recorder) = self.recorder::<BARE>() {
            recorder.submitted(id, now);
        }
        if IDEAL || self.hil.is_direct {
            return self.accept::<BARE>(id);
        }
        if self.hil.passes() {
            return self.fetch_this::<BARE>(id);
        }
        self.hil.enqueue(queue.0, id);
        self.fetch::<BARE>();
    }

    /// Fetches what may be fetched.
    fn fetch<const BARE: bool>(&mut self) {
        while let Some(id) = self.hil.grant() {
            self.hil.queue_wait += self.queue.now() - self.requests[id].submitted;
            self.fetch_this::<BARE>(id);
        }
    }

    #[inline]
    fn fetch_this<const BARE: bool>(&mut self, id: u32) {
        if self.hil.cost > Duration::ZERO {
            self.requests[id].stage = Stage::Fetch;
            self.hil.fetching = Some(id);
            let time = self.queue.now() + self.hil.cost;
            self.queue.schedule(time, Event::Fetched);
        } else {
            self.receive::<BARE>(id);
        }
    }

    /// Data of a write cross the link before it begins. Deallocations and flushes do not overtake
    /// them; reads do, and flushes that have no effect.
    fn receive<const BARE: bool>(&mut self, id: u32) {
        let Some(link) = &mut self.hil.link else {
            return self.accept::<BARE>(id);
        };
        let request = &mut self.requests[id];
        let now = self.queue.now();
        let arrival = match request.opcode {
            Opcode::Read => {
                request.outbound = link.outbound(request);
                request.is_sent = true;
                return self.accept::<BARE>(id);
            }
            Opcode::Flush if !self.profile.flush_programs() => return self.accept::<BARE>(id),
            Opcode::Write | Opcode::Append => link.receive(now, request.bytes),
            Opcode::Deallocate | Opcode::Flush | Opcode::ManageZone => link.received(now),
        };
        if arrival == now && self.hil.arriving.is_empty() {
            self.accept::<BARE>(id);
        } else {
            request.stage = Stage::Transfer;
            self.hil.arriving.push_back(id);
            self.queue.schedule(arrival, Event::Arrived);
        }
    }

    /// A command that the controller has fetched, and whose data have arrived, is the firmware's.
    #[inline(always)]
    fn accept<const BARE: bool>(&mut self, id: u32) {
        match &mut self.firmware {
            Some(firmware) if !BARE => {
                self.requests[id].stage = Stage::Firmware;
                if let Some(recorder) = self.medium.recorder() {
                    recorder.spend(id, Part::Queue, self.queue.now());
                }
                firmware.accept(&mut self.queue, &self.requests, id);
            }
            _ => self.start::<BARE>(id),
        }
    }

    /// The firmware is through with a command, but for what it does on zones.
    #[inline(always)]
    fn start<const BARE: bool>(&mut self, id: u32) {
        if BARE {
            self.begin_as::<BARE>(id);
        } else if self.zones.is_none() || !self.enter_zone_unit(id) {
            self.begin(id);
        }
    }

    /// A command begins on the medium.
    pub(super) fn begin(&mut self, id: u32) {
        self.begin_as::<false>(id);
    }

    #[inline(always)]
    fn begin_as<const BARE: bool>(&mut self, id: u32) {
        let request = &mut self.requests[id];
        request.stage = Stage::Medium;
        self.usage[request.range.set as usize].count(request);
        self.note_begin::<BARE>(id);
        if self.has_zones::<BARE>() && !self.enter_zone(id) {
            return;
        }
        let (queue, requests) = (&mut self.queue, &mut self.requests);
        self.medium.begin(queue, requests, id);
        if !self.requests.outcomes.is_empty() {
            self.take_outcomes();
        }
    }

    /// Tells that a command's time up to now was the queue's or the firmware's.
    #[inline(always)]
    fn note_begin<const BARE: bool>(&mut self, id: u32) {
        let now = self.queue.now();
        let part = match (&self.firmware, &self.zones) {
            (None, None) => Part::Queue,
            _ => Part::Firmware,
        };
        if let Some(recorder) = self.recorder::<BARE>() {
            recorder.spend(id, part, now);
        }
    }

    /// What the medium has done moves commands on.
    pub(super) fn take_outcomes(&mut self) {
        self.move_on::<false, false>();
    }

    /// The same as part of the caller, which is that of nearly all outcomes.
    #[inline(always)]
    fn move_on<const BARE: bool, const IDEAL: bool>(&mut self) {
        let mut taken = 0;
        while let Some(&outcome) = self.requests.outcomes.get(taken) {
            taken += 1;
            match outcome {
                Outcome::Done { request } => self.end_on_medium::<BARE, IDEAL>(request),
                Outcome::Pages { request, pages } => self.send(request, u64::from(pages), pages),
                Outcome::Taken { request } => self.after_controller_latency(request),
            }
        }
        self.requests.outcomes.clear();
    }

    /// What needs no medium takes the controller's latency.
    #[inline]
    fn after_controller_latency(&mut self, id: u32) {
        let mut time = self.queue.now() + self.profile.controller.latency;
        if self.zones.is_some() {
            time += self.zone_time(id);
        }
        self.queue.schedule(time, Event::Controller(id));
    }

    /// The controller's latency has passed: for a read, data are ready.
    fn finish_in_controller<const BARE: bool, const IDEAL: bool>(&mut self, id: u32) {
        let request = &mut self.requests[id];
        if !IDEAL && request.is_sent {
            let pages = std::mem::take(&mut request.outbound.from_controller);
            self.send(id, pages, 1);
        } else if !self.has_zones::<BARE>() || !self.enter_zone_unit(id) {
            self.finish_parts_as::<BARE, IDEAL>(id, 1);
        }
    }

    /// Pages of a read, which are so many of its parts, cross the link to the host.
    fn send(&mut self, id: u32, pages: u64, parts: u8) {
        if let Some(link) = &mut self.hil.link {
            let outbound = &mut self.requests[id].outbound;
            let page_bytes = self.medium.page_bytes();
            let arrival = link.send(self.queue.now(), outbound, pages, page_bytes);
            let parts = u16::from(parts);
            self.queue
                .schedule(arrival, Event::Sent { request: id, parts });
        }
    }

    /// Parts of a command are done; with the last of them the medium is through with it.
    pub(super) fn finish_parts(&mut self, id: u32, parts: u64) {
        self.finish_parts_as::<false, false>(id, parts);
    }

    #[inline(always)]
    fn finish_parts_as<const BARE: bool, const IDEAL: bool>(&mut self, id: u32, parts: u64) {
        if self.requests[id].finish_parts(parts) {
            self.end_on_medium::<BARE, IDEAL>(id);
        }
    }

    /// The medium is through with a command, and its data have crossed the link.
    #[inline(always)]
    fn end_on_medium<const BARE: bool, const IDEAL: bool>(&mut self, id: u32) {
        match &mut self.firmware {
            Some(firmware) if !BARE => {
                self.requests[id].stage = Stage::Completion;
                if let Some(recorder) = self.medium.recorder() {
                    recorder.medium_ended(id, self.queue.now());
                }
                firmware.call(&mut self.queue, |it, outbox| it.ended(id, outbox));
            }
            _ => self.complete::<BARE, IDEAL>(id),
        }
    }

    /// Programs and collection take the time of a DRAM that limits.
    #[inline]
    fn note_moved(&mut self) {
        if let Some(link) = &mut self.hil.link {
            link.moved(self.queue.now(), || self.medium.moved_bytes());
        }
    }

    /// The command has ended: the host sees it.
    #[inline(always)]
    fn complete<const BARE: bool, const IDEAL: bool>(&mut self, id: u32) {
        if !BARE {
            self.note_completion(id);
        }
        if self.has_zones::<BARE>() {
            self.leave_zone(id);
        }
        let request = &self.requests[id];
        let awake = request.keeps_awake.then_some(request.range.set);
        let completion = self.requests.complete(id, self.queue.now());
        self.completions.push_back(completion);
        if !IDEAL {
            self.hil.completed();
        }
        if let Some(set) = awake {
            self.medium.command_completed(&mut self.queue, set);
        }
    }

    /// Tells of a command that completes.
    #[inline(always)]
    fn note_completion(&mut self, id: u32) {
        let Some(recorder) = self.medium.recorder() else {
            return;
        };
        let now = self.queue.now();
        if self.firmware.is_some() {
            recorder.spend(id, Part::Firmware, now);
        }
        let request = &self.requests[id];
        let record = CommandRecord::new(
            (request.tag, request.opcode, request.nsid),
            (request.start, request.bytes),
            (request.queue, request.status),
            (request.submitted, now),
        );
        recorder.completed(id, record);
    }

    /// Tells of a core that has finished what it did.
    #[inline]
    fn note_core(&mut self, core: u32) {
        let (Some(recorder), Some(stage)) = (self.medium.recorder(), &self.firmware) else {
            return;
        };
        if let Some((thread, name, time)) = stage.firmware.running(core) {
            let end = self.queue.now();
            recorder.core(CoreSpan {
                core,
                thread: (thread, name),
                start: Instant::from_ps(end.as_ps() - time.as_ps()),
                end,
            });
        }
    }

    /// Does what the firmware wants done, and tells it what garbage collection has done.
    fn run_firmware(&mut self) {
        while let Some(stage) = &mut self.firmware {
            stage.collected(&mut self.queue, self.medium.pages_moved());
            if stage.outbox.actions.is_empty() {
                return;
            }
            let spare = std::mem::take(&mut stage.actions);
            let mut actions = std::mem::replace(&mut stage.outbox.actions, spare);
            for action in actions.drain(..) {
                let is_at = |id, at| self.requests.stage(id) == Some(at);
                match action {
                    Action::Start(id) if is_at(id, Stage::Firmware) => self.start::<false>(id),
                    Action::Serve(id) if is_at(id, Stage::Firmware) => self.serve(id),
                    Action::Complete(id) if is_at(id, Stage::Completion) => {
                        self.complete::<false, false>(id);
                    }
                    _ => {
                        let (key, design) = ("firmware.design", self.profile.firmware.design);
                        let wrong = format!("answers {action:?}, but no such command waits for it");
                        raise(key, design.as_str(), "outbox", wrong);
                    }
                }
            }
            if let Some(stage) = &mut self.firmware {
                stage.actions = actions;
            }
        }
    }

    /// The data of a read come from the firmware's burst buffer.
    fn serve(&mut self, id: u32) {
        let request = &mut self.requests[id];
        request.stage = Stage::Medium;
        self.usage[request.range.set as usize].count(request);
        self.note_begin::<false>(id);
        let request = &mut self.requests[id];
        request.parts += 1;
        request.outbound.from_controller += request.range.pages();
        self.after_controller_latency(id);
    }

    /// Moves time to `time`, processing every event up to and including it. A time in the past
    /// only processes what is due at [`Device::now`].
    pub fn advance_to(&mut self, time: Instant) {
        let time = time.max(self.now());
        self.process_until(time, false);
        self.queue.advance_clock(time);
    }

    /// Processes events until a completion can be popped; time stops at its event. False when
    /// nothing is left that could complete.
    pub fn run_until_completion(&mut self) -> bool {
        self.process_until(Instant::MAX, true)
    }

    /// As [`Device::run_until_completion`], but time goes no further than `limit`, and it goes as far
    /// when nothing completes. False when nothing has completed.
    pub fn run_until_completion_or(&mut self, limit: Instant) -> bool {
        let completed = self.process_until(limit, true);
        if !completed {
            self.queue.advance_clock(limit.max(self.now()));
        }
        completed
    }

    /// Processes what is due by `limit`, or until a completion can be popped, which it tells.
    #[inline]
    fn process_until(&mut self, limit: Instant, or_completion: bool) -> bool {
        by_way!(self.process_as(limit, or_completion))
    }

    #[inline(never)]
    fn process_as<const BARE: bool, const IDEAL: bool>(
        &mut self,
        limit: Instant,
        or_completion: bool,
    ) -> bool {
        while !or_completion || self.completions.is_empty() {
            match self.queue.pop_until(limit) {
                Some(event) => self.process::<BARE, IDEAL>(event),
                None => return false,
            }
        }
        true
    }

    /// The next completion, in the order in which commands completed.
    pub fn pop_completion(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }

    /// Something happens. It has one caller.
    #[inline(always)]
    fn process<const BARE: bool, const IDEAL: bool>(&mut self, event: Event) {
        match event {
            Event::Fetched => {
                if let Some(id) = self.hil.fetching.take() {
                    self.receive::<BARE>(id);
                }
            }
            Event::Arrived => {
                if let Some(id) = self.hil.arriving.pop_front() {
                    self.accept::<BARE>(id);
                }
            }
            Event::Firmware(core) => {
                self.note_core(core);
                if let Some(firmware) = &mut self.firmware {
                    firmware.call(&mut self.queue, |it, outbox| it.step(core, outbox));
                }
            }
            Event::Controller(id) => self.finish_in_controller::<BARE, IDEAL>(id),
            Event::ZoneUnit(id) => self.leave_zone_unit(id),
            Event::Sent { request, parts } => {
                self.finish_parts_as::<BARE, IDEAL>(request, u64::from(parts));
            }
            Event::Channel(_)
            | Event::Window(_)
            | Event::Idle(_)
            | Event::Throttle(_)
            | Event::Zone(_)
            | Event::Xpoint(_) => {
                let (queue, requests) = (&mut self.queue, &mut self.requests);
                match event {
                    Event::Channel(channel) => self.medium.step_channel(queue, requests, channel),
                    event => self.medium.process(queue, requests, event),
                }
                self.move_on::<BARE, IDEAL>();
                if !IDEAL {
                    self.note_moved();
                }
            }
        }
        if IDEAL {
            return;
        }
        if !BARE && self.firmware.is_some() {
            self.run_firmware();
        }
        if self.hil.may_fetch() {
            self.fetch::<BARE>();
        }
    }
}
