//! How even the rates of a job were, as fio tells it.

use meldsim::engine::Duration;

/// Numbers, of which only sums are kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) mean: f64,
    /// Squares of what each is away from the mean, added up.
    squares: f64,
    pub(crate) samples: u64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        self.samples += 1;
        self.min = if self.samples == 1 {
            value
        } else {
            self.min.min(value)
        };
        self.max = self.max.max(value);
        let away = value - self.mean;
        self.mean += away / self.samples as f64;
        self.squares += away * (value - self.mean);
    }

    /// Adds the numbers of a job that ran at the same time: as in fio, each is a sum.
    fn join(&mut self, other: &Spread) {
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.squares += other.squares;
        self.samples += other.samples;
    }

    /// As fio's, of a sample.
    pub(crate) fn deviation(&self) -> f64 {
        libm::sqrt(self.squares / (self.samples as f64 - 1.0).max(1.0))
    }
}

/// Rates of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    /// Requests a second.
    pub(crate) iops: Spread,
    /// KiB a second.
    pub(crate) kib_s: Spread,
}

impl Rates {
    /// Takes in so many requests and bytes of a time.
    pub(crate) fn add(&mut self, requests: u64, bytes: u64, time: Duration) {
        let seconds = time.as_secs_f64();
        self.iops.add(requests as f64 / seconds);
        self.kib_s.add(bytes as f64 / 1024.0 / seconds);
    }

    /// Adds the rates of a job that ran at the same time.
    pub(crate) fn join(&mut self, other: &Rates) {
        self.iops.join(&other.iops);
        self.kib_s.join(&other.kib_s);
    }
}
