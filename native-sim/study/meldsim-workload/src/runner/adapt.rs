//! What a job does by how the device serves it: it looks for the queue depth that keeps latencies low, ends when its speed
//! is steady, or ends when it is too slow. The rules are fio's (`io_u.c`, `steadystate.c`, `backend.c` there).

use std::collections::VecDeque;

use super::super::job::{Job, Rate};
use super::super::options::{LatencyTarget, Measure, SteadyState};
use meldsim::{Duration, Instant};
use meldsim_host::Ended;

/// The search for a queue depth: doubled until requests are too slow, then bisected.
#[derive(Clone, Debug)]
pub(super) struct DepthSearch {
    goal: LatencyTarget,
    iodepth: u32,
    depth: u32,
    low: u32,
    high: u32,
    /// The depth that met the target last; 0 when none has.
    met: u32,
    /// Successes in a row that could not raise the depth.
    stable: u32,
    window_start: Instant,
    requests: u64,
    /// Of these, too slow.
    slow: u64,
    /// Waits for what is outstanding, so that it does not count for the new depth.
    quiescing: bool,
    /// The last cycle, at the depth that was found.
    last_cycle: bool,
}

/// What a search says after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    GoOn,
    /// What was counted so far was at other depths.
    CountAnew,
    /// The depth is found, and was measured.
    Done,
    /// Not even one request at a time is fast enough.
    TooSlow,
}

impl DepthSearch {
    pub(super) fn new(goal: LatencyTarget, iodepth: u32) -> DepthSearch {
        DepthSearch {
            goal,
            iodepth,
            depth: 1,
            low: 1,
            high: iodepth,
            met: 0,
            stable: 0,
            window_start: Instant::START,
            requests: 0,
            slow: 0,
            quiescing: false,
            last_cycle: false,
        }
    }

    /// The depth that is found to meet the target; 0 when not even one request at a time does, or there was no time to try.
    pub(super) fn met(&self) -> u32 {
        self.met
    }

    pub(super) fn begin(&mut self, now: Instant) {
        self.window_start = now;
        (self.requests, self.slow) = (0, 0);
    }

    /// Whether another request may be submitted beside these.
    pub(super) fn allows(&mut self, now: Instant, outstanding: u64) -> bool {
        if self.quiescing && outstanding == 0 {
            self.quiescing = false;
            self.begin(now);
        }
        !self.quiescing && outstanding < u64::from(self.depth)
    }

    pub(super) fn completed(&mut self, ended: &Ended) -> Verdict {
        // What was submitted at another depth.
        if self.quiescing {
            return Verdict::GoOn;
        }
        let now = ended.completed;
        self.requests += 1;
        if ended.completed - ended.begun > self.goal.target {
            self.slow += 1;
            if self.goal.percentile == LatencyTarget::ALL {
                return self.failed();
            }
        }
        if now.saturating_since(self.window_start) < self.goal.window {
            return Verdict::GoOn;
        }
        let fast = u128::from(self.requests - self.slow) * u128::from(LatencyTarget::ALL);
        match fast >= u128::from(self.requests) * u128::from(self.goal.percentile) {
            true => self.succeeded(now),
            false => self.failed(),
        }
    }

    fn failed(&mut self) -> Verdict {
        if self.depth == 1 {
            self.met = 0;
            return Verdict::TooSlow;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = (self.depth + self.low).div_euclid(2).max(1);
        self.stable = 0;
        self.quiescing = true;
        Verdict::GoOn
    }

    fn succeeded(&mut self, now: Instant) -> Verdict {
        let before = self.depth;
        (self.low, self.met) = (before, before);
        if before + 1 == self.high {
            self.stable += 1;
            if self.stable >= 3 {
                self.high += 1;
                self.stable = 0;
            }
        }
        self.depth = match self.high == self.iodepth {
            true => before.saturating_mul(2),
            false => (before + self.high) / 2,
        };
        self.depth = self.depth.min(self.iodepth);
        if self.goal.run || self.depth != before {
            self.begin(now);
            return Verdict::GoOn;
        }
        if self.last_cycle {
            return Verdict::Done;
        }
        self.last_cycle = true;
        self.quiescing = true;
        Verdict::CountAnew
    }
}

/// Watches whether speed is steady: the last intervals of time, one value each.
#[derive(Clone, Debug)]
pub(super) struct SteadyWatch {
    criterion: SteadyState,
    /// End of the interval that is counted.
    ends: Instant,
    requests: u64,
    bytes: u64,
    latency_ns: f64,
    values: VecDeque<f64>,
}

impl SteadyWatch {
    pub(super) fn new(criterion: SteadyState, start: Instant) -> SteadyWatch {
        SteadyWatch {
            criterion,
            ends: start + criterion.ramp_time + criterion.interval,
            requests: 0,
            bytes: 0,
            latency_ns: 0.0,
            values: VecDeque::new(),
        }
    }

    /// Counts a request; gives whether speed had become steady before it.
    pub(super) fn completed(&mut self, ended: &Ended) -> bool {
        let interval = self.criterion.interval;
        // Of a long pause, the last window is enough: nothing happened in it.
        let passed = ended.completed.saturating_since(self.ends).as_ps() / interval.as_ps().max(1);
        let surplus = passed.saturating_sub(self.intervals());
        if surplus > 0 {
            self.end_interval();
            self.ends += Duration::from_ps(interval.as_ps() * surplus);
        }
        while ended.completed >= self.ends {
            self.end_interval();
            if self.is_steady() {
                return true;
            }
            self.ends += interval;
        }
        // What is before the first interval is the ramp's.
        if ended.completed + interval >= self.ends {
            self.requests += 1;
            self.bytes += ended.bytes;
            self.latency_ns += (ended.completed - ended.begun).as_ns() as f64;
        }
        false
    }

    fn end_interval(&mut self) {
        let seconds = self.criterion.interval.as_secs_f64();
        let value = match self.criterion.measure {
            Measure::Iops => self.requests as f64 / seconds,
            Measure::Bandwidth => self.bytes as f64 / seconds,
            Measure::Latency if self.requests == 0 => 0.0,
            Measure::Latency => self.latency_ns / self.requests as f64,
        };
        (self.requests, self.bytes, self.latency_ns) = (0, 0, 0.0);
        self.values.push_back(value);
        if self.values.len() as u64 > self.intervals() {
            self.values.pop_front();
        }
    }

    fn intervals(&self) -> u64 {
        self.criterion.window.as_ps() / self.criterion.interval.as_ps().max(1)
    }

    fn is_steady(&self) -> bool {
        if (self.values.len() as u64) < self.intervals() {
            return false;
        }
        let count = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / count;
        let value = if self.criterion.is_slope {
            // Least squares over 0, 1, 2, ...
            let middle = (count - 1.0) / 2.0;
            let at = |index: usize| index as f64 - middle;
            let values = self.values.iter().enumerate();
            let covariance: f64 = values.map(|(x, y)| at(x) * (y - mean)).sum();
            let variance: f64 = (0..self.values.len()).map(|x| at(x) * at(x)).sum();
            (covariance / variance).abs()
        } else {
            let distances = self.values.iter().map(|value| (value - mean).abs());
            distances.fold(0.0, f64::max)
        };
        let limit = self.criterion.limit as f64 / 1e6;
        match self.criterion.is_percent {
            true => value * 100.0 < limit * mean,
            false => value < limit,
        }
    }
}

/// Watches that a job is not too slow.
#[derive(Clone, Debug)]
pub(super) struct SpeedWatch {
    bounds: [Option<Rate>; 2],
    cycle: Duration,
    start: Instant,
    /// Of reads and of writes: requests and bytes by then.
    since: [(Instant, u64, u64); 2],
    now: [(u64, u64); 2],
}

impl SpeedWatch {
    /// The start, in which nothing is said yet.
    const SETTLING: Duration = Duration::from_ms(2000);

    pub(super) fn new(job: &Job) -> Option<SpeedWatch> {
        let bounds = [job.min_rate_read, job.min_rate_write];
        (bounds != [None; 2]).then_some(SpeedWatch {
            bounds,
            cycle: job.rate_cycle,
            start: Instant::START,
            since: [(Instant::START, 0, 0); 2],
            now: [(0, 0); 2],
        })
    }

    pub(super) fn begin(&mut self, now: Instant) {
        self.start = now;
        self.since = [(now, 0, 0); 2];
    }

    /// Counts a request; says so when its direction was too slow.
    pub(super) fn completed(&mut self, ended: &Ended) -> Option<String> {
        let direction = ended.direction as usize;
        // Only reads and writes have a bound.
        let (requests, bytes) = self.now.get_mut(direction)?;
        *requests += 1;
        *bytes += ended.bytes;
        let bound = self.bounds[direction]?;
        let now = ended.completed;
        let (since, requests_then, bytes_then) = self.since[direction];
        let spent = now.saturating_since(since);
        if now.saturating_since(self.start) < Self::SETTLING || spent < self.cycle {
            return None;
        }
        let (done, least, unit) = match bound {
            Rate::Bytes(least) => (*bytes - bytes_then, least, "B/s"),
            Rate::Requests(least) => (*requests - requests_then, least, "IOPS"),
        };
        self.since[direction] = (now, *requests, *bytes);
        let rate = (done as f64 / spent.as_secs_f64()) as u64;
        let name = ["reads", "writes"][direction];
        (rate < least)
            .then(|| format!("{name} at {rate} {unit}, below the least of {least} {unit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim_host::Direction;

    fn ended(completed_us: u64, latency_us: u64) -> Ended {
        let at = |us| Instant::START + Duration::from_us(us);
        Ended {
            arrived: at(completed_us - latency_us),
            begun: at(completed_us - latency_us),
            submitted: at(completed_us - latency_us),
            completed: at(completed_us),
            bytes: 4096,
            direction: Direction::Read,
            failed: false,
        }
    }

    /// A device whose latency grows with the depth: the largest depth within the bound is found, whatever the bound.
    #[test]
    fn the_largest_depth_that_is_fast_enough_is_found() {
        for (bound_us, percentile) in [(64, 100), (64, 90), (640, 100), (105, 100)] {
            let goal = LatencyTarget {
                target: Duration::from_us(bound_us),
                window: Duration::from_us(1000),
                percentile: percentile * 1_000_000,
                run: false,
            };
            let mut search = DepthSearch::new(goal, 128);
            let mut now_us = 1_000;
            search.begin(Instant::START + Duration::from_us(now_us));
            let mut verdict = Verdict::GoOn;
            for _ in 0..10_000 {
                // All that is allowed completes at once.
                now_us += 1000;
                assert!(search.allows(Instant::START + Duration::from_us(now_us), 0));
                now_us += 1000;
                verdict = search.completed(&ended(now_us, 10 * u64::from(search.depth)));
                if verdict == Verdict::Done {
                    break;
                }
            }
            assert_eq!(verdict, Verdict::Done, "{bound_us}");
            assert_eq!(u64::from(search.met()), (bound_us / 10).min(128));
        }
    }

    #[test]
    fn a_device_that_is_too_slow_for_one_request_is_told() {
        let goal = LatencyTarget {
            target: Duration::from_us(10),
            window: Duration::from_us(1),
            ..LatencyTarget::default()
        };
        let mut search = DepthSearch::new(goal, 8);
        assert_eq!(search.completed(&ended(100, 11)), Verdict::TooSlow);
        assert_eq!(search.met(), 0);
    }

    /// One request in every 100 us, then in every 50 us.
    fn steady_after(criterion: &str) -> Option<u64> {
        let mut criterion = SteadyState::parse(criterion).unwrap();
        criterion.window = Duration::from_ms(10);
        criterion.interval = Duration::from_ms(1);
        let mut watch = SteadyWatch::new(criterion, Instant::START);
        let mut now_us = 10;
        while now_us < 100_000 {
            now_us += if now_us < 20_000 {
                now_us / 100 + 20
            } else {
                50
            };
            if watch.completed(&ended(now_us, 5)) {
                return Some(now_us / 1000);
            }
        }
        None
    }

    #[test]
    fn speed_is_steady_when_the_window_says_so() {
        for criterion in ["iops:10%", "iops_slope:1%", "bw:5%", "bw_slope:0.5%"] {
            let at_ms = steady_after(criterion).expect(criterion);
            assert!((20..=40).contains(&at_ms), "{criterion}: {at_ms}");
        }
        // Latencies are all the same.
        assert_eq!(steady_after("lat:1"), Some(10));
    }

    #[test]
    fn a_long_pause_is_passed_quickly() {
        let mut criterion = SteadyState::parse("iops:1%").unwrap();
        criterion.window = Duration::from_us(4096);
        criterion.interval = Duration::from_us(1);
        let mut watch = SteadyWatch::new(criterion, Instant::START);
        assert!(!watch.completed(&ended(10, 5)));
        // A month.
        assert!(!watch.completed(&ended(2_592_000_000_000, 5)));
        assert_eq!(watch.values.len(), 4096);
    }

    #[test]
    fn a_job_that_is_too_slow_is_told_after_a_while() {
        let mut job = Job::new("j");
        job.min_rate_read = Some(Rate::Requests(10));
        let mut watch = SpeedWatch::new(&job).unwrap();
        watch.begin(Instant::START);
        for ms in [100, 200, 1900] {
            assert_eq!(watch.completed(&ended(ms * 1000, 5)), None);
        }
        let told = watch.completed(&ended(2_500_000, 5)).unwrap();
        assert_eq!(told, "reads at 1 IOPS, below the least of 10 IOPS");
        job.min_rate_read = Some(Rate::Bytes(4096));
        let mut watch = SpeedWatch::new(&job).unwrap();
        watch.begin(Instant::START);
        for ms in (500..20_000).step_by(500) {
            assert_eq!(watch.completed(&ended(ms * 1000, 5)), None, "{ms}");
        }
    }
}
