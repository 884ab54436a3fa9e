//! Counts the requests of one direction of a job or a trace.

use crate::report::LatencyHistogram;
use meldsim::engine::Time;

/// A request that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// When it was there to be submitted.
    pub(super) arrived: Time,
    /// When the device got it.
    pub(super) submitted: Time,
    pub(super) completed: Time,
    pub(super) bytes: u64,
    pub(super) write: bool,
    pub(super) failed: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    /// Bytes of the requests that succeeded.
    pub(super) bytes: u64,
    /// From submission to completion.
    pub(super) in_device: LatencyHistogram,
    /// From arrival to submission; none while no request has had to wait.
    pub(super) waited: Option<LatencyHistogram>,
    /// From arrival to completion; none while that is the same as in the device.
    pub(super) in_all: Option<LatencyHistogram>,
}

impl Tally {
    pub(super) fn requests(&self) -> u64 {
        self.succeeded + self.failed
    }

    /// The latency from arrival to completion.
    pub(super) fn latency(&self) -> &LatencyHistogram {
        self.in_all.as_ref().unwrap_or(&self.in_device)
    }

    pub(super) fn record(&mut self, ended: &Ended) {
        if ended.submitted > ended.arrived {
            self.separate();
        }
        if let (Some(waited), Some(in_all)) = (&mut self.waited, &mut self.in_all) {
            waited.record(ended.submitted - ended.arrived);
            in_all.record(ended.completed - ended.arrived);
        }
        self.in_device.record(ended.completed - ended.submitted);
        if ended.failed {
            self.failed += 1;
        } else {
            self.succeeded += 1;
            self.bytes += ended.bytes;
        }
    }

    /// Adds up equal jobs.
    pub(super) fn merge(&mut self, other: &Tally) {
        if self.waited.is_some() || other.waited.is_some() {
            self.separate();
        }
        if let (Some(waited), Some(in_all)) = (&mut self.waited, &mut self.in_all) {
            match &other.waited {
                Some(other) => waited.merge(other),
                None => waited.record_many(Time::ZERO, other.requests()),
            }
            in_all.merge(other.latency());
        }
        self.in_device.merge(&other.in_device);
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.bytes += other.bytes;
    }

    /// From here on requests may wait; none has so far.
    fn separate(&mut self) {
        if self.waited.is_none() {
            let mut waited = LatencyHistogram::new();
            waited.record_many(Time::ZERO, self.requests());
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
            arrived: Time::from_us(arrived),
            submitted: Time::from_us(submitted),
            completed: Time::from_us(completed),
            bytes: 4096,
            write: false,
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
            (2, Time::ZERO, Time::from_us(20))
        );
        assert_eq!(tally.latency().max(), Time::from_us(100));
        assert_eq!(tally.in_device.max(), Time::from_us(80));

        let mut other = Tally::default();
        other.record(&ended(0, 0, 50));
        other.merge(&tally);
        assert_eq!(other.waited.as_ref().unwrap().count(), 3);
        assert_eq!(other.latency().count(), 3);
        assert_eq!((other.requests(), other.bytes), (3, 3 * 4096));
    }
}
