//! When the requests of a job with a rate arrive.

use super::job::{Job, Rate};
use meldsim::engine::Random;
use meldsim::engine::Time;

const PS_PER_S: u128 = 1_000_000_000_000;

/// The arrivals of one direction's requests.
#[derive(Clone, Debug)]
struct Arrivals {
    rate: Rate,
    start: Time,
    /// Bytes or requests that have arrived so far.
    arrived: u128,
    random: Option<(Random, f64)>,
}

impl Arrivals {
    fn next(&self) -> Time {
        match self.random {
            Some((_, after_ps)) => self.start + Time::from_ps(after_ps as u64),
            None => {
                let (Rate::Bytes(per_second) | Rate::Requests(per_second)) = self.rate;
                // Reckoned from the start every time, so that no rounding adds up.
                let ps = self.arrived * PS_PER_S / u128::from(per_second);
                self.start + Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
            }
        }
    }

    fn take(&mut self, bytes: u64) {
        let (amount, per_second) = match self.rate {
            Rate::Bytes(per_second) => (bytes, per_second),
            Rate::Requests(per_second) => (1, per_second),
        };
        self.arrived += u128::from(amount);
        if let Some((random, after_ps)) = &mut self.random {
            let mean_ps = amount as f64 * PS_PER_S as f64 / per_second as f64;
            *after_ps += mean_ps * random.exponential();
        }
    }
}

/// The arrivals of a job's requests; without a rate, at any time.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    read: Option<Arrivals>,
    write: Option<Arrivals>,
}

impl Pace {
    pub(super) fn new(job: &Job, start: Time) -> Pace {
        let arrivals = |rate: Option<Rate>, seed: u64| {
            rate.map(|rate| Arrivals {
                rate,
                start,
                arrived: 0,
                random: job.poisson.then(|| (Random::new(seed), 0.0)),
            })
        };
        Pace {
            read: arrivals(job.rate_read, job.seed.rotate_left(16)),
            write: arrivals(job.rate_write, job.seed.rotate_left(48)),
        }
    }

    /// When the next request of this direction arrives; `None` when it is there as soon as it is wanted.
    pub(super) fn next(&self, write: bool) -> Option<Time> {
        let arrivals = if write { &self.write } else { &self.read };
        arrivals.as_ref().map(Arrivals::next)
    }

    /// The next request of this direction has arrived.
    pub(super) fn take(&mut self, write: bool, bytes: u64) {
        let arrivals = if write {
            &mut self.write
        } else {
            &mut self.read
        };
        if let Some(arrivals) = arrivals {
            arrivals.take(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(job: &Job, count: u64) -> Vec<u64> {
        let mut pace = Pace::new(job, Time::from_us(5));
        (0..count)
            .map(|_| {
                let at = pace.next(false).unwrap();
                pace.take(false, 4096);
                at.as_ps()
            })
            .collect()
    }

    #[test]
    fn a_linear_rate_is_exact() {
        let mut job = Job::new("j");
        job.rate_read = Some(Rate::Requests(30_000));
        let at = arrivals(&job, 30_001);
        assert_eq!(at[0], 5_000_000);
        assert_eq!(at[30_000], 5_000_000 + 1_000_000_000_000);
        job.rate_read = Some(Rate::Bytes(4096 * 1000));
        assert_eq!(arrivals(&job, 2)[1], 5_000_000 + 1_000_000_000);
        assert_eq!(Pace::new(&job, Time::ZERO).next(true), None);
    }

    #[test]
    fn a_poisson_rate_has_its_mean_and_deviation() {
        let mut job = Job::new("j");
        job.rate_read = Some(Rate::Requests(1_000_000));
        job.poisson = true;
        let at = arrivals(&job, 100_001);
        let gaps: Vec<f64> = at
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64 / 1e6)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{variance}");
    }
}
