//! One job while it runs: its requests and their times come out, completions go in.

use super::super::distribution::Distribution;
use super::super::error::RunError;
use super::super::job::Job;
use super::super::jobfile::options;
use super::super::placement::Placement;
use super::super::requests::{Pace, Request, Requests, Submitted, Upcoming};
use super::super::result::{Before, JobResult, Window};
use super::account::Account;
use super::adapt::{DepthSearch, SpeedWatch, Verdict};
use super::batch::Batch;
use super::window::{Done, Track};
use crate::result::rates::Rates;
use meldsim::device::{Ahead, Device, QueueId};
use meldsim::nvme::{Command, Directive, NamespaceId};
use meldsim::profile::Kind;
use meldsim::{Duration, Instant};
use meldsim_host::{Direction, Ended, Next};

/// Whether a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not yet.
    Waiting,
    Active,
    Ended,
}

/// Requests that a job looks ahead. The last is only drawn, which takes long: to look up where it lies would wait for that.
const LOOK_AHEAD: usize = 3;

/// What a job writes is all that its NVM set holds, up to this share.
const SAME_SHARE: f64 = 0.02;

/// When a request is there to be submitted.
enum Arrival {
    /// Since then.
    At(Instant),
    /// Not before then.
    Due(Instant),
    /// Not in the time that the job runs, or there is none.
    Never,
}

/// One job while it runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) job: Job,
    /// Which of the jobs as they were given; equal jobs share it.
    pub(super) section: usize,
    pub(super) nsid: NamespaceId,
    /// The NVM set of its namespace.
    pub(super) set: u32,
    pub(super) queue: QueueId,
    is_flash: bool,
    /// Log2 of the bytes of a logical block.
    lba_shift: u32,
    placement: Placement,
    requests: Requests,
    /// Requests that were drawn and not submitted: the time of the first has not come, or the job looks ahead.
    drawn: [Request; LOOK_AHEAD],
    /// How many of these there are.
    drawn_count: usize,
    /// Its requests are at random, and of flash, whose map is searched for each.
    looks_ahead: bool,
    /// The way to what the second of the drawn ones reads, where the device has found it.
    ahead: Ahead,
    /// Something besides its depth decides when it submits: times of its own, or a search for its depth.
    is_timed: bool,
    /// It mixes directions, and a rate decides which is next.
    mixes_at_rates: bool,
    pace: Pace,
    /// A flush is outstanding, and it submits nothing until that has completed.
    is_flushing: bool,
    /// Writes that have completed, and whose flush is still to come.
    unflushed: Vec<Submitted>,
    batch: Option<Batch>,
    pub(super) start: Instant,
    /// What is counted of it.
    pub(super) account: Account,
    /// Requests since the last pause.
    since_pause: u32,
    paused_until: Instant,
    /// It submits nothing more.
    pub(super) is_over: bool,
    pub(super) phase: Phase,
    /// How its region was fitted to zones.
    pub(super) rounded: Option<String>,
    /// What it reads is in place.
    pub(super) is_placed: bool,
    /// The section that must have ended before.
    pub(super) waits_for: Option<usize>,
    /// Which of the groups that `exit_what=group` ends together.
    pub(super) group: usize,
    /// Requests since it is part of its flow.
    pub(super) flow_requests: u64,
    /// It is ahead of its flow, and asked again when others have gone on.
    pub(super) is_held: bool,
    /// Its pause for that.
    pub(super) held_until: Instant,
    search: Option<DepthSearch>,
    speed: Option<SpeedWatch>,
    /// Why it ended before its work was done.
    stopped: Option<String>,
    /// When its speed had become steady.
    pub(super) steady_at: Option<Instant>,
    pub(super) done_bytes: u64,
    pub(super) track: Track,
    /// The device's counters when the window began, if that was after a ramp.
    pub(super) before: Option<Box<Before>>,
    /// Bytes of logical blocks that its requests had no part in.
    widened: u64,
}

impl Running {
    pub(super) fn new(
        device: &mut Device,
        job: Job,
        section: usize,
        nsid: NamespaceId,
    ) -> Result<Running, RunError> {
        let queue = device.create_queue(job.iodepth, job.queue_priority);
        let queue = queue.map_err(RunError::of(&job.name))?;
        Ok(Running {
            section,
            nsid,
            queue,
            lba_shift: device.profile().controller.lba_size.0.trailing_zeros(),
            placement: Placement::new(&job, device.handles()),
            requests: Requests::new(&job),
            drawn: Default::default(),
            drawn_count: 0,
            ahead: Ahead::default(),
            is_timed: is_timed(&job),
            mixes_at_rates: mixes_at_rates(&job),
            looks_ahead: job.rw.is_random()
                && !mixes_at_rates(&job)
                && device.profile().kind == Kind::Nand,
            pace: Pace::new(&job, Instant::START),
            is_flushing: false,
            unflushed: Vec::new(),
            batch: Batch::new(&job),
            start: Instant::START,
            account: Account::new(Instant::START, None),
            since_pause: 0,
            paused_until: Instant::START,
            is_over: false,
            phase: Phase::Waiting,
            rounded: None,
            is_placed: !job.rw.reads(),
            waits_for: None,
            group: 0,
            flow_requests: 0,
            is_held: false,
            held_until: Instant::START,
            search: job
                .latency_target
                .map(|goal| DepthSearch::new(goal, job.iodepth)),
            speed: SpeedWatch::new(&job),
            stopped: None,
            steady_at: None,
            done_bytes: 0,
            track: Track::default(),
            before: None,
            set: device.set_of(nsid).unwrap_or(0),
            is_flash: device.profile().kind == Kind::Nand,
            widened: 0,
            job,
        })
    }

    /// Whether it starts when its group does.
    pub(super) fn starts_at_once(&self) -> bool {
        self.waits_for.is_none() && self.job.start_delay == Duration::ZERO
    }

    /// Puts in place what the job will read; only what is missing when `used` says that some of it may be there.
    pub(super) fn preload(&mut self, device: &mut Device, used: bool) -> Result<(), RunError> {
        self.is_placed = true;
        let job = &self.job;
        if !job.rw.reads() {
            return Ok(());
        }
        // Whole zones are full from before.
        let zone = device.zone_shape().map_or(1, |shape| shape.size_lbas);
        let slba = (job.offset_bytes >> self.lba_shift) / zone * zone;
        let nlb = job.end_bytes().div_ceil(1 << self.lba_shift) - slba;
        let directive = self.placement.directive();
        let placed = match used {
            false => device.preload(self.nsid, slba, nlb, directive),
            true => device
                .preload_unmapped(self.nsid, slba, nlb, directive)
                .map(|_| ()),
        };
        placed.map_err(RunError::of(&job.name))
    }

    /// The same when it starts, if that is still to be done. Returns whether it was.
    #[inline(always)]
    pub(super) fn preload_late(&mut self, device: &mut Device) -> Result<bool, RunError> {
        let is_due = !self.is_placed && self.phase == Phase::Active && self.start <= device.now();
        if is_due {
            self.preload(device, true)?;
        }
        Ok(is_due)
    }

    /// The job's group begins now.
    pub(super) fn begin(&mut self, now: Instant) {
        self.start = now + self.job.start_delay;
        self.account = Account::new(self.start + self.job.ramp_time, self.job.runtime);
        self.paused_until = self.start;
        self.pace = Pace::new(&self.job, self.start);
        self.phase = Phase::Active;
        if let Some(search) = &mut self.search {
            search.begin(self.start);
        }
        if let Some(speed) = &mut self.speed {
            speed.begin(self.start);
        }
    }

    /// Whether the results of the two are added up: as in fio, all of a group that say so.
    pub(super) fn reports_with(&self, other: &Running) -> bool {
        self.job.group_reporting && other.job.group_reporting && self.group == other.group
    }

    /// The next request, if there is one and its time has come.
    #[inline(always)]
    pub(super) fn next(&mut self, now: Instant, outstanding: u64) -> Next<Submitted> {
        if self.is_timed {
            if let Some(write) = self.unflushed.pop() {
                let flush = Submitted {
                    ends_write: true,
                    ..write
                };
                return Next::Submit(Command::flush(self.nsid, 0), flush);
            }
        }
        if self.is_over || (self.is_timed && !self.goes_on(now, outstanding)) {
            return Next::Wait;
        }
        if !self.mixes_at_rates {
            self.draw(1);
            if self.drawn_count == 0 {
                return self.pause_at_end(now, outstanding);
            }
            if self.drawn[0].waits && outstanding > 0 {
                return Next::Wait;
            }
        }
        let mut arrived = now;
        if self.is_timed {
            match self.arrival(now) {
                Arrival::At(time) => arrived = time,
                Arrival::Due(time) => return Next::At(time),
                Arrival::Never => return Next::Wait,
            }
        }
        // One by one: what is between the fields is not copied.
        let Request {
            start,
            bytes,
            direction,
            waits,
        } = self.drawn[0];
        self.drawn.copy_within(1.., 0);
        self.drawn_count -= 1;
        let submitted = Submitted {
            arrived,
            begun: now,
            bytes,
            direction,
            ends_write: false,
            zone: 0,
        };
        let request = Request {
            start,
            bytes,
            direction,
            waits,
        };
        Next::Submit(self.command(&request), submitted)
    }

    /// Whether the job may submit before one of its requests completes.
    fn goes_on(&mut self, now: Instant, outstanding: u64) -> bool {
        if let Some(search) = &mut self.search {
            if !search.allows(now, outstanding) {
                return false;
            }
        }
        if self.is_flushing || self.batch.as_mut().is_some_and(|batch| !batch.goes_on()) {
            return false;
        }
        if self.job.think_time > Duration::ZERO && self.since_pause >= self.job.think_blocks {
            if outstanding > 0 {
                return false;
            }
            self.since_pause = 0;
            self.paused_until = now + self.job.think_time;
        }
        true
    }

    /// As in fio, a pause after the last request is part of the job's time.
    fn pause_at_end(&self, now: Instant, outstanding: u64) -> Next<Submitted> {
        let end = self.job.runtime.map(|runtime| self.account.from + runtime);
        let until = self.paused_until.min(end.unwrap_or(Instant::MAX));
        match outstanding == 0 && now < until {
            true => Next::At(until),
            false => Next::Wait,
        }
    }

    /// What has become of the next request's arrival. One that has arrived is drawn.
    fn arrival(&mut self, now: Instant) -> Arrival {
        loop {
            let Some(direction) = self.next_direction(now) else {
                return Arrival::Never;
            };
            let paced = self.pace.next(direction);
            let due = paced.map_or(self.paused_until, |time| time.max(self.paused_until));
            let end = self.job.runtime.map(|runtime| self.account.from + runtime);
            if let Some(end) = end.filter(|end| due.max(now) >= *end) {
                // As in fio it lasts as long as it was to.
                if now < end {
                    return Arrival::Due(end);
                }
                self.is_over = true;
                return Arrival::Never;
            }
            if due > now {
                return Arrival::Due(due);
            }
            if self.mixes_at_rates {
                let drawn = match direction {
                    Direction::Sync => Some(self.requests.sync()),
                    direction => self.requests.draw(direction),
                };
                // Without a place for it, another pass may begin.
                let Some(request) = drawn else {
                    continue;
                };
                (self.drawn[0], self.drawn_count) = (request, 1);
            }
            self.pace.take(direction, self.drawn[0].bytes);
            match direction {
                Direction::Sync => self.is_flushing = true,
                _ => self.since_pause = self.since_pause.saturating_add(1),
            }
            if let Some(batch) = &mut self.batch {
                batch.submitted();
            }
            return Arrival::At(paced.unwrap_or(now));
        }
    }

    /// What the next request asks for; `None` when there is none. In a mix at rates it is drawn only when it has arrived.
    fn next_direction(&mut self, now: Instant) -> Option<Direction> {
        if !self.mixes_at_rates {
            self.draw(1);
            return (self.drawn_count > 0).then_some(self.drawn[0].direction);
        }
        Some(match self.requests.upcoming()? {
            Upcoming::Sync => Direction::Sync,
            Upcoming::Data => {
                let first = self.pace.first(now);
                first.unwrap_or_else(|| self.requests.draw_direction())
            }
        })
    }

    /// Draws requests until there are so many, or no more.
    #[inline(always)]
    fn draw(&mut self, count: usize) {
        while self.drawn_count < count {
            if !self.requests.put_next(&mut self.drawn[self.drawn_count]) {
                break;
            }
            self.drawn_count += 1;
        }
    }

    /// Draws the requests after the present one, and lets the device fetch what it will look up for reads.
    #[inline(always)]
    pub(super) fn look_ahead(&mut self, device: &Device) {
        if !self.looks_ahead {
            return;
        }
        self.draw(LOOK_AHEAD);
        device.prefetch(self.ahead);
        // The device fetches what writes will need when they wait for room.
        self.ahead = match &self.drawn[..self.drawn_count] {
            [_, after, ..] if after.direction == Direction::Read => {
                device.prefetch_ahead(self.nsid, after.start >> self.lba_shift)
            }
            _ => Ahead::default(),
        };
    }

    /// The logical blocks of a request: the first, and how many.
    #[inline(always)]
    fn blocks(&self, request: &Request) -> (u64, u32) {
        // That their number fits was checked for the largest request. Only requests that are widened end within a block.
        let first = request.start >> self.lba_shift;
        let end = request.start + request.bytes + (1 << self.lba_shift) - 1;
        (first, ((end >> self.lba_shift) - first) as u32)
    }

    #[inline(always)]
    fn command(&mut self, request: &Request) -> Command {
        let (slba, nlb) = self.blocks(request);
        if self.job.widens {
            self.widened += (u64::from(nlb) << self.lba_shift) - request.bytes;
        }
        match request.direction {
            Direction::Read => Command::read(self.nsid, slba, nlb, 0),
            Direction::Trim => Command::deallocate(self.nsid, slba, nlb, 0),
            Direction::Sync => Command::flush(self.nsid, 0),
            Direction::Write => {
                let write = Command::write(self.nsid, slba, nlb, Directive::NONE, 0);
                self.placement.hint(write)
            }
        }
    }

    /// Keeps a completion that does not count yet: its write is to be flushed, or others are taken with it.
    #[inline(always)]
    pub(super) fn keeps(&mut self, request: &Submitted, ended: &Ended) -> bool {
        if !self.is_timed {
            return false;
        }
        if ended.direction == Direction::Sync {
            self.is_flushing = false;
        }
        if self.job.sync_writes && ended.direction == Direction::Write && !request.ends_write {
            self.unflushed.push(*request);
            return true;
        }
        self.batch.as_mut().is_some_and(|batch| batch.keeps(ended))
    }

    /// One that was kept, and now counts.
    #[inline(always)]
    pub(super) fn taken(&mut self) -> Option<Ended> {
        self.batch.as_mut()?.taken()
    }

    #[inline(always)]
    pub(super) fn completed(&mut self, ended: &Ended) {
        self.done_bytes += ended.bytes;
        // A search for a depth counts the requests of that depth alone.
        let counts = match self.search {
            None => ended.completed,
            Some(_) => ended.begun,
        };
        if counts >= self.account.from {
            self.account.record(ended);
        }
        if self.search.is_some() || self.speed.is_some() {
            self.watch(ended);
        }
    }

    /// It ends before its work is done.
    pub(super) fn stop(&mut self, reason: &str) {
        self.stopped.get_or_insert(reason.to_owned());
        self.is_over = true;
    }

    /// What a job that is watched makes of a completion.
    fn watch(&mut self, ended: &Ended) {
        if let Some(speed) = &mut self.speed {
            self.stopped = self.stopped.take().or(speed.completed(ended));
        }
        let verdict = self.search.as_mut().map(|search| search.completed(ended));
        match verdict {
            None | Some(Verdict::GoOn) => {}
            Some(Verdict::CountAnew) => {
                self.account = Account::new(ended.completed, self.job.runtime);
                self.track = Track::default();
            }
            Some(Verdict::Done) => self.is_over = true,
            Some(Verdict::TooSlow) => {
                self.stop("one request at a time is slower than latency_target");
            }
        }
        self.is_over |= self.stopped.is_some();
    }

    /// What it has done by now.
    pub(super) fn done(&self) -> Done {
        Done {
            bytes: self.done_bytes,
            counted: self.account.counted(),
        }
    }

    /// Its window begins or ends now.
    pub(super) fn begin_window(&mut self, device: &Device) {
        let done = self.done();
        self.track.begin(device, self.set, done);
        if self.job.ramp_time > Duration::ZERO {
            self.before = Some(Box::new(Before::of(device)));
        }
    }

    pub(super) fn end_window(&mut self, device: &Device) {
        if self.track.has_begun() && !self.track.has_ended() {
            let done = self.done();
            self.track.end(device, self.set, done);
        }
    }

    /// The window of a job, or of the first of several that report as one.
    fn window(jobs: &[Running]) -> Option<Window> {
        let first = jobs.first()?;
        let outstanding = u64::from(first.job.iodepth) * first.job.largest_block_bytes();
        first.track.window(outstanding, first.is_flash)
    }

    /// Which share of its work is done, 0 to 1.
    pub(super) fn share_done(&self, now: Instant) -> f64 {
        let by_bytes = self.done_bytes as f64 / self.job.total_bytes().max(1) as f64;
        let by_time = match self.job.runtime {
            Some(runtime) if self.done_bytes > 0 => {
                let length = (self.job.ramp_time + runtime).as_secs_f64();
                now.saturating_since(self.start).as_secs_f64() / length
            }
            _ => 0.0,
        };
        let share = match self.job.time_based {
            true => by_time,
            false => by_bytes.max(by_time),
        };
        share.min(1.0)
    }

    /// What uniform overwrites of all that the job's set holds come to, if that is what the job does.
    fn uniform_write_amplification(&self, device: &Device) -> Option<f64> {
        let job = &self.job;
        let is_uniform = job.rw.is_random()
            && job.rw.writes()
            && matches!(job.distribution, Distribution::Uniform | Distribution::Once)
            && job.strided.is_none();
        let info = device.set_info(self.set)?;
        let held = device.set_capacity_bytes(self.set) as f64 * info.mapped_pages as f64
            / info.capacity_pages as f64;
        let covers = (job.size_bytes as f64 / held - 1.0).abs() < SAME_SHARE;
        let amplification = device.uniform_write_amplification(self.set);
        amplification.filter(|value| is_uniform && covers && *value > 1.0 + SAME_SHARE)
    }

    /// The result of a job, or of several as if they were one.
    pub(super) fn result(jobs: &[Running], device: &Device) -> JobResult {
        let (first, last) = (&jobs[0], &jobs[jobs.len() - 1]);
        let name = match first.job.name.rsplit_once('.') {
            Some((name, _)) if jobs.len() > 1 && first.job.numjobs > 1 => name,
            _ => &first.job.name,
        };
        let depths = jobs
            .iter()
            .filter_map(|job| Some(job.search.as_ref()?.met()));
        let parts = || {
            let mut sums = [Rates::default(); 3];
            for parts in jobs.iter().map(|running| running.track.rates()) {
                sums.iter_mut()
                    .zip(&parts)
                    .for_each(|(sum, of)| sum.join(of));
            }
            sums
        };
        JobResult {
            name: name.to_owned(),
            group: first.group,
            options: options(&first.job),
            given: last.job.given.clone(),
            iodepth: jobs.iter().map(|running| running.job.iodepth).sum(),
            jobs: jobs.len() as u32,
            percentiles: last.job.percentiles.clone(),
            window: Running::window(jobs),
            uniform_write_amplification: first.uniform_write_amplification(device),
            latency_depth: depths.min(),
            widened_bytes: jobs.iter().map(|job| job.widened).sum(),
            steady_us: first.steady_at.map(|at| at.as_ps() as f64 / 1e6),
            stopped: jobs.iter().find_map(|job| job.stopped.clone()),
            ramp_time: first.job.ramp_time,
            rounded: jobs.iter().find_map(|job| job.rounded.clone()),
            ..Account::result(jobs.iter().map(|running| &running.account), parts)
        }
    }
}

/// Whether a job mixes directions, and one of them has a rate.
fn mixes_at_rates(job: &Job) -> bool {
    let has_rate = job.rate_read.is_some() || job.rate_write.is_some();
    // All of one direction is no mix, and nothing yields to what has no share.
    has_rate && job.rw.reads() && job.rw.writes() && (1..100).contains(&job.rwmixread)
}

/// Whether something besides its depth decides when a job submits.
fn is_timed(job: &Job) -> bool {
    let flushes = job.fsync > 0 || job.fdatasync > 0 || job.end_fsync || job.sync_writes;
    let batches = Batch::new(job).is_some();
    job.has_times() || job.runtime.is_some() || job.latency_target.is_some() || flushes || batches
}
