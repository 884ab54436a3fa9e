//! Jobs with `zonemode=zbd`: where their requests go in zones, and what is done to zones for them.
//!
//! A write goes to the write pointer of its zone, or to a zone that is open where no more may be. One to a zone that is full
//! waits for a reset of it, and what is left of a zone that has no room for another write is finished. A read stays below the
//! write pointer. A trim is a reset. The rules are those of fio's documentation.

use std::ops::ControlFlow;

use super::super::error::RunError;
use super::super::job::Job;
use super::super::options::ZonedBlock;
use super::super::requests::Submitted;
use super::group::Group;
use super::running::Running;
use meldsim::device::Device;
use meldsim::nvme::zone::{ZoneAction, ZoneShape, ZoneState};
use meldsim::nvme::{Command, Completion, NamespaceId, Opcode};
use meldsim::{Duration, Instant};
use meldsim_host::{Direction, Failure, Load, Next, Turn};

/// After which a thread looks again whether a zone is free that others write to.
const LOOK_AGAIN: Duration = Duration::from_us(1);

/// The zones of the namespace that jobs share.
#[derive(Debug)]
pub(super) struct Zoned {
    shape: ZoneShape,
    zones: Vec<Zone>,
    /// Zones that are written to, and are neither full nor reset since.
    open: Vec<u32>,
    /// Logical blocks that are written.
    written_lbas: u64,
    streams: Vec<Thread>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Zone {
    /// Logical blocks that are written, or asked to be.
    written: u64,
    /// It takes no more writes.
    is_full: bool,
    /// The stream that opened it, and its commands to it that have not completed.
    stream: usize,
    outstanding: u32,
}

/// A stream's part.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// Goes when what manages a zone for it has completed.
    held: Option<(Command, Submitted)>,
    /// Found no zone that others do not write to.
    unplaced: Option<(Command, Submitted)>,
    /// A zone that has no room for another write, and is to be finished.
    rest: Option<u32>,
    is_managing: bool,
    /// Writes since it last reset a zone because so many are full.
    writes: u64,
}

/// What becomes of a request.
enum Placed {
    /// The job's stream does this.
    As(Next<Submitted>),
    /// There is nothing where it would be.
    Passed,
    /// There is nothing where any of the job's would be.
    Nowhere,
    /// It may open no zone, and none of its own region is open: as with fio, the job ends.
    NoneOpen,
}

impl Zoned {
    /// The zones of a device, where it has any, for so many streams.
    pub(super) fn new(device: &Device, streams: usize) -> Option<Zoned> {
        let shape = device.zone_shape()?;
        let zones = device.zones().map(|zone| Zone {
            written: zone.written_lbas,
            is_full: zone.state == ZoneState::Full,
            ..Zone::default()
        });
        let states = (0..).zip(device.zones());
        let open = states.filter(|(_, zone)| zone.state.is_active());
        Some(Zoned {
            shape,
            zones: zones.collect(),
            open: open.map(|(number, _)| number).collect(),
            written_lbas: device.zones().map(|zone| zone.written_lbas).sum(),
            streams: vec![Thread::default(); streams],
        })
    }

    /// Takes in zones that were empty and are so no more.
    pub(super) fn refresh(&mut self, device: &Device) {
        for (zone, now) in self.zones.iter_mut().zip(device.zones()) {
            if zone.written == 0 && zone.outstanding == 0 && now.written_lbas > 0 {
                (zone.written, zone.is_full) = (now.written_lbas, now.state == ZoneState::Full);
                self.written_lbas += now.written_lbas;
            }
        }
    }

    /// The load of jobs that work in these zones.
    pub(super) fn around<'a, 'b, F>(self, group: &'a mut Group<'b, F>) -> InZones<'a, 'b, F> {
        InZones { zoned: self, group }
    }

    /// What a job on zones does next.
    pub(super) fn next(&mut self, job: &mut Running, turn: Turn, now: Instant) -> Next<Submitted> {
        let Some(options) = job.job.zoned else {
            return job.next(now, turn.outstanding);
        };
        if let Some(next) = self.before(turn.stream, job.nsid, now) {
            return next;
        }
        loop {
            let request = match self.unplaced(turn.stream) {
                Some(request) => request,
                None => match job.next(now, turn.outstanding) {
                    Next::Submit(command, submitted) => (command, submitted),
                    other => return other,
                },
            };
            match self.place(turn.stream, &job.job, &options, request, now) {
                Placed::As(next) => return next,
                Placed::Passed => {}
                Placed::Nowhere => {
                    job.is_over = true;
                    return Next::Wait;
                }
                Placed::NoneOpen => {
                    job.stop("none of its zones is open, and no more may be: other jobs' stay open; raise max_open_zones or job_max_open_zones");
                    return Next::Wait;
                }
            }
        }
    }

    /// What a stream does before anything else, if zones are managed for it.
    fn before(
        &mut self,
        stream: usize,
        nsid: NamespaceId,
        now: Instant,
    ) -> Option<Next<Submitted>> {
        let thread = &mut self.streams[stream];
        if thread.is_managing {
            return Some(Next::Wait);
        }
        if let Some(zone) = thread.rest.take() {
            return Some(self.manage(stream, zone, nsid, ZoneAction::Finish, now));
        }
        let (command, submitted) = thread.held.take()?;
        Some(self.write(stream, command, submitted))
    }

    /// A request of a stream that has found no zone.
    fn unplaced(&mut self, stream: usize) -> Option<(Command, Submitted)> {
        self.streams[stream].unplaced.take()
    }

    /// Has a zone managed; the stream waits until that is done.
    fn manage(
        &mut self,
        stream: usize,
        zone: u32,
        nsid: NamespaceId,
        action: ZoneAction,
        now: Instant,
    ) -> Next<Submitted> {
        self.streams[stream].is_managing = true;
        self.zones[zone as usize].outstanding += 1;
        if action == ZoneAction::Reset {
            self.empty(zone);
        }
        let zslba = u64::from(zone) * self.shape.size_lbas;
        let managing = Submitted {
            arrived: now,
            begun: now,
            bytes: 0,
            direction: Direction::Trim,
            ends_write: false,
            zone,
        };
        Next::Submit(Command::manage_zone(nsid, zslba, action, 0), managing)
    }

    /// A zone is reset, and so holds nothing.
    fn empty(&mut self, zone: u32) {
        let of = &mut self.zones[zone as usize];
        self.written_lbas -= of.written;
        (of.written, of.is_full) = (0, false);
    }

    /// A request of a stream has completed. Returns whether it was one of the job's.
    pub(super) fn completed(&mut self, stream: usize, request: &Submitted) -> bool {
        let is_own = request.bytes > 0 || request.direction != Direction::Trim;
        if !is_own {
            self.streams[stream].is_managing = false;
        }
        let zone = &mut self.zones[request.zone as usize];
        if request.direction == Direction::Write || !is_own {
            zone.outstanding -= 1;
            if zone.is_full && zone.outstanding == 0 {
                self.open.retain(|open| *open != request.zone);
            }
        }
        is_own
    }

    /// Places a job's request.
    fn place(
        &mut self,
        stream: usize,
        job: &Job,
        options: &ZonedBlock,
        (command, submitted): (Command, Submitted),
        now: Instant,
    ) -> Placed {
        let size = self.shape.size_lbas;
        let region = Region {
            first: (job.offset_bytes / options.zone_bytes) as u32,
            end: job.end_bytes().div_ceil(options.zone_bytes) as u32,
        };
        match command.opcode {
            Opcode::Write => {
                let Some(zone) = self.choose(stream, options, region, command.slba) else {
                    if !self.open.iter().any(|zone| region.has(*zone)) {
                        return Placed::NoneOpen;
                    }
                    self.streams[stream].unplaced = Some((command, submitted));
                    return Placed::As(Next::At(now + LOOK_AGAIN));
                };
                let least = job.block_sizes(Direction::Write).least * size / options.zone_bytes;
                let command = Command {
                    slba: u64::from(zone) * size,
                    ..command
                };
                let submitted = Submitted { zone, ..submitted };
                let of = self.zones[zone as usize];
                let has_room = !of.is_full && of.written + least <= self.shape.capacity_lbas;
                let is_due = self.is_reset_due(stream, job, options) && of.written > 0;
                if !has_room || is_due {
                    self.streams[stream].held = Some((command, submitted));
                    let reset = ZoneAction::Reset;
                    return Placed::As(self.manage(stream, zone, command.nsid, reset, now));
                }
                Placed::As(self.write(stream, command, submitted))
            }
            Opcode::Read => self.read(job, options, region, (command, submitted)),
            Opcode::Deallocate => self.trim(job, region, (command, submitted)),
            _ => Placed::As(Next::Submit(command, submitted)),
        }
    }

    /// The zone that a write goes to; none where others write to all that it may go to.
    fn choose(
        &mut self,
        stream: usize,
        options: &ZonedBlock,
        region: Region,
        slba: u64,
    ) -> Option<u32> {
        let size = self.shape.size_lbas;
        let zone = (slba / size) as u32;
        let is_free = |zone: u32| {
            let of = &self.zones[zone as usize];
            of.outstanding == 0 || of.stream == stream
        };
        if self.open.contains(&zone) {
            if is_free(zone) {
                self.zones[zone as usize].stream = stream;
                return Some(zone);
            }
        } else if is_free(zone) {
            let own = |zone: &&u32| self.zones[**zone as usize].stream == stream;
            let own = self.open.iter().filter(own).count() as u32;
            let most = match options.max_open {
                0 => self.shape.max_open,
                most => most.min(self.shape.max_open),
            };
            // A zone that is open and not written to any more is active all the same.
            let most = most.min(self.shape.max_active);
            let may_open = options.job_max_open == 0 || own < options.job_max_open;
            if may_open && (self.open.len() as u32) < most {
                self.open.push(zone);
                self.zones[zone as usize].stream = stream;
                return Some(zone);
            }
        }
        // Those that are open are the targets of the region's parts, in order.
        let open = || self.open.iter().copied().filter(|zone| region.has(*zone));
        let within = slba.saturating_sub(u64::from(region.first) * size);
        let all = u64::from(region.zones().max(1)) * size;
        let at = (u128::from(within) * open().count() as u128 / u128::from(all)) as usize;
        let mut in_turn = open().skip(at).chain(open().take(at));
        let found = in_turn.find(|zone| is_free(*zone) && !self.zones[*zone as usize].is_full)?;
        self.zones[found as usize].stream = stream;
        Some(found)
    }

    /// Whether so many zones are written that one is reset, every so many writes.
    fn is_reset_due(&mut self, stream: usize, job: &Job, options: &ZonedBlock) -> bool {
        if options.reset_frequency == 0 {
            return false;
        }
        let million = u128::from(ZonedBlock::ALL);
        let lbas = job.size_bytes / (options.zone_bytes / self.shape.size_lbas);
        let share = u128::from(self.written_lbas) * million;
        if share < u128::from(lbas) * u128::from(options.reset_threshold) {
            return false;
        }
        let thread = &mut self.streams[stream];
        thread.writes += 1;
        let is_due = thread.writes * options.reset_frequency >= ZonedBlock::ALL;
        if is_due {
            thread.writes = 0;
        }
        is_due
    }

    /// Writes at the write pointer of a zone that has room.
    fn write(&mut self, stream: usize, command: Command, submitted: Submitted) -> Next<Submitted> {
        let capacity = self.shape.capacity_lbas;
        let of = &mut self.zones[submitted.zone as usize];
        let nlb = u64::from(command.nlb).min(capacity - of.written);
        let bytes = submitted.bytes / u64::from(command.nlb) * nlb;
        let slba = u64::from(submitted.zone) * self.shape.size_lbas + of.written;
        of.written += nlb;
        of.stream = stream;
        of.outstanding += 1;
        self.written_lbas += nlb;
        if of.written == capacity {
            of.is_full = true;
        } else if of.written + u64::from(command.nlb) > capacity {
            // What is left is smaller than the job's requests.
            of.is_full = true;
            self.streams[stream].rest = Some(submitted.zone);
        }
        let command = Command {
            slba,
            nlb: nlb as u32,
            ..command
        };
        Next::Submit(command, Submitted { bytes, ..submitted })
    }

    /// Reads what is written, of the zone asked for or of another that has enough; as in fio, at random within that.
    fn read(
        &self,
        job: &Job,
        options: &ZonedBlock,
        region: Region,
        (command, submitted): (Command, Submitted),
    ) -> Placed {
        let size = self.shape.size_lbas;
        let (asked, offset) = ((command.slba / size) as u32, command.slba % size);
        let nlb = u64::from(command.nlb);
        let lba_bytes = options.zone_bytes / size;
        let least = job.block_sizes(Direction::Read).least / lba_bytes;
        let written = |zone: u32| self.zones[zone as usize].written;
        if options.read_beyond {
            return Placed::As(Next::Submit(command, submitted));
        }
        let mut zone = asked;
        let is_random = job.rw.is_random();
        if written(asked) < least || !is_random && offset + least > written(asked) {
            let has_enough = |zone: u32| written(zone) >= least;
            match region.nearest(asked, is_random, has_enough) {
                None => return Placed::Nowhere,
                Some(_) if !is_random => return Placed::Passed,
                Some(found) => zone = found,
            }
        }
        let range = written(zone);
        let offset = match is_random {
            _ if range <= nlb => 0,
            false => offset,
            true => offset % (range - nlb) / least * least,
        };
        let nlb = nlb.min(range - offset) / least * least;
        let command = Command {
            slba: u64::from(zone) * size + offset,
            nlb: nlb as u32,
            ..command
        };
        let bytes = nlb * lba_bytes;
        Placed::As(Next::Submit(command, Submitted { bytes, ..submitted }))
    }

    /// Resets the zone asked for, which may be empty; at random, the nearest that holds data.
    fn trim(
        &mut self,
        job: &Job,
        region: Region,
        (command, submitted): (Command, Submitted),
    ) -> Placed {
        let zone = (command.slba / self.shape.size_lbas) as u32;
        let holds = |zone: u32| self.zones[zone as usize].written > 0;
        let found = match job.rw.is_random() && !holds(zone) {
            true => region.nearest(zone, true, holds),
            false => Some(zone),
        };
        let Some(found) = found else {
            return Placed::Nowhere;
        };
        self.empty(found);
        self.open.retain(|open| *open != found);
        let zslba = u64::from(found) * self.shape.size_lbas;
        let reset = Command::manage_zone(command.nsid, zslba, ZoneAction::Reset, 0);
        Placed::As(Next::Submit(reset, submitted))
    }
}

/// The zones of a job.
#[derive(Clone, Copy, Debug)]
struct Region {
    first: u32,
    end: u32,
}

impl Region {
    fn has(self, zone: u32) -> bool {
        (self.first..self.end).contains(&zone)
    }

    fn zones(self) -> u32 {
        self.end - self.first
    }

    /// The nearest besides `zone` of which that is so: the next one, or at random one to either side.
    fn nearest(self, zone: u32, is_random: bool, is_so: impl Fn(u32) -> bool) -> Option<u32> {
        let above = zone.saturating_add(1)..self.end;
        if !is_random {
            return above.into_iter().find(|zone| is_so(*zone));
        }
        let most = self
            .end
            .saturating_sub(zone)
            .max(zone - self.first.min(zone));
        let both = (1..=most).flat_map(|away| {
            let above = Some(zone + away).filter(|zone| *zone < self.end);
            let below = zone.checked_sub(away).filter(|zone| *zone >= self.first);
            [above, below]
        });
        both.flatten().find(|zone| is_so(*zone))
    }
}

/// A group as a load of a device with zones. Groups of other devices know nothing of it.
pub(super) struct InZones<'a, 'b, F> {
    zoned: Zoned,
    group: &'a mut Group<'b, F>,
}

impl<F: FnMut(f64) -> ControlFlow<()>> Load for InZones<'_, '_, F> {
    type Request = Submitted;
    type Error = RunError;

    fn next(&mut self, device: &mut Device, turn: Turn) -> Result<Next<Submitted>, RunError> {
        if self.group.preload(device, turn.stream)? {
            self.zoned.refresh(device);
        }
        if let Some(next) = self.group.before_next(device, turn) {
            return Ok(next);
        }
        let job = self.group.job_of(turn);
        let next = self.zoned.next(job, turn, device.now());
        self.group.after_next(device, turn, &next);
        Ok(next)
    }

    fn resumed(&mut self) -> Option<usize> {
        self.group.resumed()
    }

    fn completed(
        &mut self,
        device: &Device,
        stream: usize,
        request: Submitted,
        completion: &Completion,
    ) -> Result<ControlFlow<()>, RunError> {
        if !self.zoned.completed(stream, &request) {
            return Ok(ControlFlow::Continue(()));
        }
        self.group.completed(device, stream, request, completion)
    }

    fn sample(&mut self, device: &Device) -> Instant {
        self.group.sample(device)
    }

    fn failed(&self, failure: Failure<Submitted>) -> RunError {
        self.group.failed(failure)
    }
}
