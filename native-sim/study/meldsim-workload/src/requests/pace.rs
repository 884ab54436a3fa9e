//! When the requests of a job arrive.

use crate::job::{Job, Rate};
use meldsim::engine::Random;
use meldsim::nvme::{Completion, Status};
use meldsim::{Duration, Instant};
use meldsim_host::{Direction, Ended};

const PS_PER_S: u128 = 1_000_000_000_000;

/// What is known of a request that is outstanding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Submitted {
    /// When it was there to be submitted.
    pub(crate) arrived: Instant,
    /// When its submission began.
    pub(crate) begun: Instant,
    pub(crate) bytes: u64,
    pub(crate) direction: Direction,
    /// It is the flush of a write that ends with one: it was submitted when the write was.
    pub(crate) ends_write: bool,
    /// Of a job on zones, the zone that it goes to.
    pub(crate) zone: u32,
}

impl Submitted {
    #[inline(always)]
    pub(crate) fn ended(self, completion: &Completion) -> Ended {
        Ended {
            submitted: match self.ends_write {
                true => self.begun,
                false => completion.submitted,
            },
            failed: completion.status != Status::SUCCESS,
            ..self.ended_at(completion.completed)
        }
    }

    /// As if it had been submitted at once, and had completed then.
    pub(crate) fn ended_at(self, completed: Instant) -> Ended {
        Ended {
            arrived: self.arrived,
            begun: self.begun,
            submitted: self.begun,
            completed,
            bytes: self.bytes,
            direction: self.direction,
            failed: false,
        }
    }
}

/// The arrivals of one direction's requests.
#[derive(Clone, Debug)]
struct Arrivals {
    rate: Rate,
    start: Instant,
    /// Bytes or requests that have arrived so far.
    arrived: u128,
    random: Option<(Random, f64)>,
}

impl Arrivals {
    fn next(&self) -> Instant {
        let after_ps = match self.random {
            Some((_, after_ps)) => after_ps as u64,
            None => {
                let (Rate::Bytes(per_second) | Rate::Requests(per_second)) = self.rate;
                // Reckoned from the start every time, so that no rounding adds up.
                let ps = self.arrived * PS_PER_S / u128::from(per_second);
                u64::try_from(ps).unwrap_or(u64::MAX)
            }
        };
        self.start + Duration::from_ps(after_ps)
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

/// The arrivals of a job's reads, writes and trims; without a rate, at any time.
#[derive(Clone, Debug)]
pub(crate) struct Pace([Option<Arrivals>; 3]);

impl Pace {
    pub(crate) fn new(job: &Job, start: Instant) -> Pace {
        let arrivals = |rate: Option<Rate>, seed: u64| {
            rate.map(|rate| Arrivals {
                rate,
                start,
                arrived: 0,
                random: job.poisson.then(|| (Random::new(seed), 0.0)),
            })
        };
        let seed = job.seed.wrapping_add(job.thread.into());
        Pace([
            arrivals(job.rate_read, seed.rotate_left(16)),
            arrivals(job.rate_write, seed.rotate_left(48)),
            arrivals(job.rate_trim, seed.rotate_left(24)),
        ])
    }

    /// When the next request of this direction arrives; `None` when it is there as soon as it is wanted.
    pub(crate) fn next(&self, direction: Direction) -> Option<Instant> {
        self.0.get(direction as usize)?.as_ref().map(Arrivals::next)
    }

    /// Of reads and writes, the direction whose next request comes first, or has come while the other's has not: fio's
    /// `rate_ddir`, by which a direction that is ahead of its rate yields to the other. `None` where both have come, and the mix
    /// decides.
    pub(crate) fn first(&self, now: Instant) -> Option<Direction> {
        let [read, write] = [Direction::Read, Direction::Write]
            .map(|direction| self.next(direction).map_or(now, |at| at.max(now)));
        (read != write).then_some(match read < write {
            true => Direction::Read,
            false => Direction::Write,
        })
    }

    /// The next request of this direction has arrived.
    pub(crate) fn take(&mut self, direction: Direction, bytes: u64) {
        if let Some(Some(arrivals)) = self.0.get_mut(direction as usize) {
            arrivals.take(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(job: &Job, count: u64) -> Vec<u64> {
        let mut pace = Pace::new(job, Instant::START + Duration::from_us(5));
        (0..count)
            .map(|_| {
                let at = pace.next(Direction::Read).unwrap();
                pace.take(Direction::Read, 4096);
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
        assert_eq!(Pace::new(&job, Instant::START).next(Direction::Write), None);
    }

    #[test]
    fn a_direction_ahead_of_its_rate_yields() {
        let mut job = Job::new("j");
        let at = |ms| Instant::START + Duration::from_ms(ms);
        job.rate_read = Some(Rate::Requests(100));
        let mut pace = Pace::new(&job, at(0));
        assert_eq!(pace.first(at(0)), None);
        pace.take(Direction::Read, 4096);
        // Writes may come at any time.
        assert_eq!(pace.first(at(9)), Some(Direction::Write));
        assert_eq!(pace.first(at(10)), None);
        job.rate_write = Some(Rate::Requests(50));
        let mut pace = Pace::new(&job, at(0));
        pace.take(Direction::Read, 4096);
        assert_eq!(pace.first(at(0)), Some(Direction::Write));
        pace.take(Direction::Write, 4096);
        // Reads come after 10 ms, writes after 20.
        assert_eq!(pace.first(at(5)), Some(Direction::Read));
        assert_eq!(pace.first(at(10)), Some(Direction::Read));
        assert_eq!(pace.first(at(20)), None);
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
        let variance = gaps
            .iter()
            .map(|gap| libm::pow(gap - mean, 2.0))
            .sum::<f64>()
            / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{variance}");
    }
}
