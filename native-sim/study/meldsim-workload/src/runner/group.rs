//! Jobs that run at once, and what they have to do with each other: which begin when others have ended, which end with
//! others, and which proceed in a ratio.

use std::ops::{ControlFlow, Range};

use super::super::error::RunError;
use super::super::options::{Exit, Flow};
use super::super::requests::Submitted;
use super::adapt::SteadyWatch;
use super::running::{Phase, Running};
use super::window::Marks;
use crate::result::series::Series;
use meldsim::Instant;
use meldsim::device::Device;
use meldsim::nvme::Completion;
use meldsim_host::{Ended, Failure, Load, Next, PROGRESS_EVERY, Turn};

/// A group as a load.
pub(super) struct Group<'a, F> {
    /// All jobs.
    jobs: &'a mut [Running],
    /// Those of the group.
    range: Range<usize>,
    series: Option<&'a mut Series>,
    completions: u64,
    progress: F,
    /// Jobs by the flow they share.
    flows: Vec<FlowCount>,
    /// What must become steady, each for the jobs that report together.
    steady: Vec<Steady>,
    /// Streams to be asked again, for what others did.
    resumed: Vec<usize>,
    /// What follows does not begin.
    ends_all: bool,
    /// By NVM set of its jobs.
    marks: Vec<Marks>,
    next_mark: Instant,
}

/// Requests of all jobs of a flow that run.
struct FlowCount {
    id: u32,
    weight: u64,
    requests: u64,
}

struct Steady {
    jobs: Range<usize>,
    watch: Option<SteadyWatch>,
}

impl<'a, F: FnMut(f64) -> ControlFlow<()>> Group<'a, F> {
    pub(super) fn new(
        jobs: &'a mut [Running],
        range: Range<usize>,
        series: Option<&'a mut Series>,
        now: Instant,
        progress: F,
    ) -> Group<'a, F> {
        let mut steady: Vec<Steady> = Vec::new();
        for index in range.clone() {
            let job = &jobs[index];
            if job.job.steady_state.is_none() {
                continue;
            }
            match steady.last_mut() {
                Some(last) if jobs[last.jobs.start].reports_with(job) => last.jobs.end = index + 1,
                _ => steady.push(Steady {
                    jobs: index..index + 1,
                    watch: None,
                }),
            }
        }
        let mut group = Group {
            jobs,
            range: range.clone(),
            series,
            completions: 0,
            progress,
            flows: Vec::new(),
            steady,
            resumed: Vec::new(),
            ends_all: false,
            marks: Vec::new(),
            next_mark: Instant::START,
        };
        for index in range {
            group.begin_if_due(index, now);
            let set = group.jobs[index].set;
            if group.marks.iter().all(|marks| marks.set != set) {
                group.marks.push(Marks::new(set, now));
            }
        }
        group.resumed.clear();
        group
    }

    /// Whether nothing more may begin.
    pub(super) fn ends_all(&self) -> bool {
        self.ends_all
    }

    /// Ends the windows of jobs that were broken off.
    pub(super) fn end_windows(&mut self, device: &Device) {
        for job in &mut self.jobs[self.range.clone()] {
            job.end_window(device);
        }
    }

    /// Marks what is due, and says when that is again.
    fn mark(&mut self, device: &Device) {
        let jobs = &mut self.jobs[self.range.clone()];
        let now = device.now();
        let mut next = Instant::MAX;
        for job in &mut *jobs {
            if job.phase != Phase::Active || job.track.has_begun() {
                continue;
            }
            match job.account.from <= now {
                true => job.begin_window(device),
                false => next = next.min(job.account.from),
            }
        }
        for marks in &mut self.marks {
            let set = marks.set;
            let mut of_set = jobs.iter().filter(|job| job.set == set);
            if of_set.all(|job| job.phase == Phase::Ended) {
                continue;
            }
            if marks.next() <= now {
                let of_set = jobs.iter_mut().filter(|job| job.set == set);
                marks.keep_up(
                    device,
                    of_set.map(|job| {
                        let done = job.done();
                        (&mut job.track, done)
                    }),
                );
            }
            next = next.min(marks.next());
        }
        self.next_mark = next;
    }

    fn resume(&mut self, index: usize) {
        self.resumed.push(index - self.range.start);
    }

    /// Begins a job that waits, if what it waits for has ended.
    fn begin_if_due(&mut self, index: usize, now: Instant) {
        let waits = self.jobs[index].waits_for.is_some_and(|section| {
            let mut others = self.jobs.iter().filter(|job| job.section == section);
            others.any(|job| job.phase != Phase::Ended)
        });
        if waits {
            return;
        }
        let job = &mut self.jobs[index];
        job.begin(now);
        self.next_mark = now;
        if let Some(flow) = job.job.flow {
            let weight = u64::from(flow.weight);
            match self.flows.iter_mut().find(|count| count.id == flow.id) {
                Some(count) => count.weight += weight,
                None => self.flows.push(FlowCount {
                    id: flow.id,
                    weight,
                    requests: 0,
                }),
            }
        }
        self.resume(index);
    }

    /// Whether a job is ahead of the others of its flow.
    fn is_ahead(&self, index: usize, flow: Flow) -> bool {
        let Some(count) = self.flows.iter().find(|count| count.id == flow.id) else {
            return false;
        };
        let share = u128::from(self.jobs[index].flow_requests) * u128::from(count.weight);
        share > u128::from(flow.weight) * u128::from(count.requests + 1)
    }

    /// A job of a flow has submitted a request, or ended with so many.
    fn flow_on(&mut self, index: usize, flow: Flow, ended: bool) {
        let requests = self.jobs[index].flow_requests;
        let counts = self.flows.iter_mut();
        for count in counts.filter(|count| count.id == flow.id) {
            if ended {
                count.weight -= u64::from(flow.weight);
                count.requests -= requests;
            } else {
                count.requests += 1;
            }
        }
        self.jobs[index].flow_requests += u64::from(!ended);
        for other in self.range.clone() {
            let job = &mut self.jobs[other];
            let same = job.job.flow.is_some_and(|other| other.id == flow.id);
            if same && std::mem::take(&mut job.is_held) {
                self.resume(other);
            }
        }
    }

    /// A job has ended: others may begin, go on, or have to end.
    fn end(&mut self, index: usize, now: Instant) {
        if self.jobs[index].phase == Phase::Ended {
            return;
        }
        self.jobs[index].phase = Phase::Ended;
        self.jobs[index].account.end(now);
        if let Some(flow) = self.jobs[index].job.flow {
            self.flow_on(index, flow, true);
        }
        let exit = self.jobs[index].job.exit;
        let reporting = self.jobs[index].group;
        self.ends_all |= exit == Exit::All;
        for other in self.range.clone() {
            let job = &mut self.jobs[other];
            let ends = match exit {
                Exit::Alone => false,
                Exit::Group => job.group == reporting,
                Exit::Stonewall | Exit::All => true,
            };
            if ends && job.phase == Phase::Waiting {
                job.phase = Phase::Ended;
            } else if ends && job.phase == Phase::Active {
                job.is_over = true;
                self.resume(other);
            } else if job.phase == Phase::Waiting {
                self.begin_if_due(other, now);
            }
        }
    }

    /// A request of a job has ended.
    #[inline(always)]
    fn count(&mut self, index: usize, ended: &Ended) -> ControlFlow<()> {
        self.jobs[index].completed(ended);
        if !self.steady.is_empty() {
            self.watch_steadiness(index, ended);
        }
        if let Some(series) = &mut self.series {
            series.record(index, ended);
        }
        self.completions += 1;
        if self.completions % PROGRESS_EVERY == 0 {
            let shares = self.jobs.iter().map(|job| job.share_done(ended.completed));
            let share = shares.sum::<f64>() / self.jobs.len() as f64;
            return (self.progress)(share);
        }
        ControlFlow::Continue(())
    }

    /// Places what a stream's job reads, if it starts only now. Returns whether it does.
    #[inline(always)]
    pub(super) fn preload(&mut self, device: &mut Device, stream: usize) -> Result<bool, RunError> {
        self.jobs[self.range.start + stream].preload_late(device)
    }

    /// The job of a stream.
    #[inline(always)]
    pub(super) fn job_of(&mut self, turn: Turn) -> &mut Running {
        &mut self.jobs[self.range.start + turn.stream]
    }

    /// What a stream does next where its job has no say in it. Else its job goes on at this time.
    #[inline(always)]
    pub(super) fn before_next(&mut self, device: &Device, turn: Turn) -> Option<Next<Submitted>> {
        let index = self.range.start + turn.stream;
        let now = device.now();
        let job = &mut self.jobs[index];
        if job.phase != Phase::Active {
            return Some(Next::Wait);
        }
        if !job.track.has_begun() && job.account.from <= now {
            job.begin_window(device);
        }
        match job.job.flow {
            Some(flow) if !job.is_over => self.wait_for_flow(index, flow, now),
            _ => None,
        }
    }

    /// The job of a stream has said what that does next.
    #[inline(always)]
    pub(super) fn after_next(&mut self, device: &Device, turn: Turn, next: &Next<Submitted>) {
        let index = self.range.start + turn.stream;
        let now = device.now();
        let job = &mut self.jobs[index];
        match next {
            Next::Submit(..) => {
                job.account.submitted(now, turn.outstanding);
                job.look_ahead(device);
                if let Some(flow) = job.job.flow.filter(|_| !job.is_over) {
                    self.flow_on(index, flow, false);
                }
            }
            Next::Wait if turn.outstanding == 0 => {
                job.end_window(device);
                self.end(index, now);
            }
            _ => {}
        }
    }

    /// How a job waits for the others of its flow, if it has to.
    fn wait_for_flow(&mut self, index: usize, flow: Flow, now: Instant) -> Option<Next<Submitted>> {
        let held_until = self.jobs[index].held_until;
        if now < held_until {
            return Some(Next::At(held_until));
        }
        if !self.is_ahead(index, flow) {
            return None;
        }
        let job = &mut self.jobs[index];
        job.is_held = true;
        job.held_until = now + flow.sleep;
        Some(Next::Wait)
    }

    fn watch_steadiness(&mut self, index: usize, ended: &Ended) {
        let mut all = self.steady.iter_mut();
        let Some(steady) = all.find(|steady| steady.jobs.contains(&index)) else {
            return;
        };
        let job = &self.jobs[index];
        let Some(criterion) = job.job.steady_state else {
            return;
        };
        let watch = &mut steady.watch;
        let watch = watch.get_or_insert_with(|| SteadyWatch::new(criterion, job.start));
        if !job.is_over && watch.completed(ended) {
            for other in steady.jobs.clone() {
                let job = &mut self.jobs[other];
                job.is_over = true;
                job.steady_at = Some(ended.completed);
                self.resumed.push(other - self.range.start);
            }
        }
    }
}

impl<F: FnMut(f64) -> ControlFlow<()>> Load for Group<'_, F> {
    type Request = Submitted;
    type Error = RunError;

    // Two drivers call these two, with and without a host path: left to itself the compiler would inline neither.
    #[inline(always)]
    fn next(&mut self, device: &mut Device, turn: Turn) -> Result<Next<Submitted>, RunError> {
        self.preload(device, turn.stream)?;
        if let Some(next) = self.before_next(device, turn) {
            return Ok(next);
        }
        let job = self.job_of(turn);
        let next = job.next(device.now(), turn.outstanding);
        self.after_next(device, turn, &next);
        Ok(next)
    }

    fn resumed(&mut self) -> Option<usize> {
        self.resumed.pop()
    }

    #[inline(always)]
    fn completed(
        &mut self,
        _: &Device,
        stream: usize,
        request: Submitted,
        completion: &Completion,
    ) -> Result<ControlFlow<()>, RunError> {
        let index = self.range.start + stream;
        let ended = request.ended(completion);
        if self.jobs[index].keeps(&request, &ended) {
            return Ok(ControlFlow::Continue(()));
        }
        let mut flow = self.count(index, &ended);
        while let Some(ended) = self.jobs[index].taken() {
            flow = self.count(index, &ended);
        }
        Ok(flow)
    }

    fn sample(&mut self, device: &Device) -> Instant {
        let now = device.now();
        let mut mark = self.next_mark;
        if now >= mark {
            // A mark has all that happens at its instant, in whichever order sets come to it.
            let is_over = device.next_event().is_none_or(|event| event > now);
            if is_over {
                self.mark(device);
            }
            mark = if is_over { self.next_mark } else { now };
        }
        let series = self.series.as_mut();
        let next = series.map_or(Instant::MAX, |series| series.keep_up(device));
        next.min(mark)
    }

    fn failed(&self, failure: Failure<Submitted>) -> RunError {
        match failure {
            Failure::Refused(stream, _, error) => {
                RunError::of(&self.jobs[self.range.start + stream].job.name)(error)
            }
            Failure::Stuck { outstanding } => RunError::Stuck { outstanding },
        }
    }
}
