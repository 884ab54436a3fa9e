//! Counts the requests of one direction of a load: those that have ended come in, sums and latencies go out.

use super::LoadError;
use meldsim::engine::{Duration, Instant};
use meldsim_stats::{LatencyHistogram, LatencySummary};

/// What a request asks for, in fio's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Data.
    #[default]
    Read,
    /// To keep data.
    Write,
    /// To give data up: a deallocation.
    Trim,
    /// That what was written is kept without power: a flush.
    Sync,
}

impl Direction {
    /// All, in the order of their numbers.
    pub const ALL: [Direction; 4] = [
        Direction::Read,
        Direction::Write,
        Direction::Trim,
        Direction::Sync,
    ];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        ["read", "write", "trim", "sync"][self as usize]
    }
}

/// The requests of one direction, or of several together.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Requests completed.
    pub requests: u64,
    /// Of these, completed with an error.
    pub failed: u64,
    /// Bytes of the requests that succeeded.
    pub bytes: u64,
    /// All latencies from when the device got a request until the host saw its completion. Without a host path that is the
    /// device's own latency.
    pub in_device: LatencyHistogram,
    /// All times from arrival until the device got a request; `None` when that was at once for all.
    pub waited: Option<LatencyHistogram>,
    /// All latencies from arrival to completion; `None` when no request had to wait, then they are as in the device.
    in_all: Option<LatencyHistogram>,
    /// The simulated time it was counted over.
    pub duration: Duration,
}

/// A request that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// When it was there to be submitted.
    pub arrived: Instant,
    /// When its submission began: the host's path takes from then until the device got it.
    pub begun: Instant,
    /// When the device got it.
    pub submitted: Instant,
    /// When the host saw that it had completed.
    pub completed: Instant,
    /// What it moved.
    pub bytes: u64,
    /// What it asked for.
    pub direction: Direction,
    /// It completed with an error.
    pub failed: bool,
}

impl Tally {
    /// All latencies from arrival to completion.
    pub fn latencies(&self) -> &LatencyHistogram {
        self.in_all.as_ref().unwrap_or(&self.in_device)
    }

    /// Bytes per simulated time; `None` when no time has passed.
    pub fn bandwidth_mib_s(&self) -> Option<f64> {
        self.per_second(self.bytes as f64 / f64::from(1 << 20))
    }

    /// The same in MB; not a number when no time has passed.
    pub fn mb_s(&self) -> f64 {
        self.per_second(self.bytes as f64 / 1e6).unwrap_or(f64::NAN)
    }

    /// The latencies from arrival to completion, summed up.
    ///
    /// # Errors
    ///
    /// Nothing was tallied.
    pub fn summary(&self) -> Result<LatencySummary, LoadError> {
        let summary = self.latencies().summary();
        summary.ok_or(LoadError::Incomplete(None))
    }

    /// The mean latency from arrival to completion; not a number of nothing.
    pub fn mean_us(&self) -> f64 {
        let summary = self.summary();
        summary.map_or(f64::NAN, |summary| summary.mean_us)
    }

    /// Requests that succeeded per simulated second; `None` when no time has passed.
    pub fn iops(&self) -> Option<f64> {
        self.per_second((self.requests - self.failed) as f64)
    }

    /// The simulated time it was counted over, of several jobs that of the longest.
    pub fn seconds(&self) -> f64 {
        self.duration.as_secs_f64()
    }

    fn per_second(&self, amount: f64) -> Option<f64> {
        let seconds = self.seconds();
        (seconds > 0.0).then(|| amount / seconds)
    }

    /// Counts one that has ended.
    #[inline(always)]
    pub fn record(&mut self, ended: &Ended) {
        if ended.submitted > ended.arrived || self.waited.is_some() {
            self.record_wait(ended);
        }
        self.in_device.record(ended.completed - ended.submitted);
        self.requests += 1;
        self.failed += u64::from(ended.failed);
        self.bytes += if ended.failed { 0 } else { ended.bytes };
    }

    /// What one had to wait, or did not when others had.
    fn record_wait(&mut self, ended: &Ended) {
        self.separate();
        if let (Some(waited), Some(in_all)) = (&mut self.waited, &mut self.in_all) {
            waited.record(ended.submitted - ended.arrived);
            in_all.record(ended.completed - ended.arrived);
        }
    }

    /// What was counted over that time, if anything was.
    pub fn over(self, duration: Duration) -> Option<Tally> {
        (self.requests > 0).then_some(Tally { duration, ..self })
    }

    /// Adds up jobs that ran at the same time.
    pub fn merge(&mut self, other: &Tally) {
        if other.waited.is_some() {
            self.separate();
        }
        if let (Some(waited), Some(in_all)) = (&mut self.waited, &mut self.in_all) {
            match &other.waited {
                Some(other) => waited.merge(other),
                None => waited.record_many(Duration::ZERO, other.requests),
            }
            in_all.merge(other.latencies());
        }
        self.in_device.merge(&other.in_device);
        self.requests += other.requests;
        self.failed += other.failed;
        self.bytes += other.bytes;
        self.duration = self.duration.max(other.duration);
    }

    /// From here on requests may wait; none has so far.
    fn separate(&mut self) {
        if self.waited.is_none() {
            let mut waited = LatencyHistogram::new();
            waited.record_many(Duration::ZERO, self.requests);
            self.waited = Some(waited);
            self.in_all = Some(self.in_device.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(arrived: u64, submitted: u64, completed: u64) -> Ended {
        Ended {
            arrived: Instant::START + Duration::from_us(arrived),
            begun: Instant::START + Duration::from_us(submitted),
            submitted: Instant::START + Duration::from_us(submitted),
            completed: Instant::START + Duration::from_us(completed),
            bytes: 4096,
            direction: Direction::Read,
            failed: false,
        }
    }

    #[test]
    fn waiting_is_told_apart_from_the_device() {
        let mut tally = Tally::default();
        tally.record(&ended(0, 0, 80));
        assert!(tally.waited.is_none());
        tally.record(&ended(10, 30, 110));
        let waited = tally.waited.as_ref().unwrap();
        assert_eq!(
            (waited.count(), waited.min(), waited.max()),
            (2, Duration::ZERO, Duration::from_us(20))
        );
        assert_eq!(tally.latencies().max(), Duration::from_us(100));
        assert_eq!(tally.in_device.max(), Duration::from_us(80));

        let mut other = Tally::default();
        other.record(&ended(0, 0, 50));
        other.merge(&tally);
        assert_eq!(other.waited.as_ref().unwrap().count(), 3);
        assert_eq!(other.latencies().count(), 3);
        assert_eq!((other.requests, other.bytes), (3, 3 * 4096));
    }
}
