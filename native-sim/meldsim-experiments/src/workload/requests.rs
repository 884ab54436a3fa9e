//! The requests of a job: which range each touches, whether it reads or writes it, and when it arrives.

use super::distribution::Popularity;
use super::job::{Job, Rate, ReadWrite};
use super::tally::Ended;
use meldsim::engine::Random;
use meldsim::nvme::{Completion, Status};
use meldsim::{Duration, Instant};

const PS_PER_S: u128 = 1_000_000_000_000;

/// The sequence of a job's requests.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    unit_bytes: u64,
    units: u64,
    offset_bytes: u64,
    /// Bytes still to transfer; `None` is without end.
    left_bytes: Option<u64>,
    order: Order,
    /// Sizes with their shares, and what chooses; no shares when all are of `unit_bytes`.
    sizes: Vec<(u64, u32)>,
    choose_size: Random,
    mix: Option<(Random, u64)>,
    writes: bool,
}

#[derive(Clone, Debug)]
enum Order {
    /// Where the next request begins, in bytes from the region's start.
    Sequential(u64),
    Random(Popularity, Random),
}

/// One request, in bytes of the namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) write: bool,
}

impl Requests {
    pub(super) fn new(job: &Job) -> Requests {
        let (units, seed) = (job.units(), job.seed);
        let mixed = matches!(job.rw, ReadWrite::ReadWrite | ReadWrite::RandReadWrite);
        let shares = job.block_split.iter();
        Requests {
            unit_bytes: job.unit_bytes(),
            units,
            offset_bytes: job.offset_bytes,
            left_bytes: (!job.time_based).then(|| job.total_bytes()),
            // Seeds of their own, so that one choice does not follow another.
            order: match job.rw.is_random() {
                true => Order::Random(
                    Popularity::new(&job.distribution, units, seed),
                    Random::new(seed.rotate_left(32)),
                ),
                false => Order::Sequential(0),
            },
            sizes: shares.map(|share| (share.bytes, share.percent)).collect(),
            choose_size: Random::new(!seed.rotate_left(32)),
            mix: mixed.then(|| (Random::new(!seed), u64::from(job.rwmixread))),
            writes: job.rw.writes(),
        }
    }

    fn choose_bytes(&mut self) -> u64 {
        if self.sizes.is_empty() {
            return self.unit_bytes;
        }
        let mut ticket = self.choose_size.below(100) as u32;
        for (bytes, percent) in &self.sizes {
            if ticket < *percent {
                return *bytes;
            }
            ticket -= percent;
        }
        self.unit_bytes
    }
}

impl Iterator for Requests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let left = self.left_bytes.unwrap_or(u64::MAX);
        if left < self.unit_bytes {
            return None;
        }
        let region = self.units * self.unit_bytes;
        let wanted = self.choose_bytes();
        let start = match &mut self.order {
            Order::Sequential(next) => {
                if *next + self.unit_bytes > region {
                    *next = 0;
                }
                *next
            }
            Order::Random(popularity, random) => {
                popularity.next(self.units, random) * self.unit_bytes
            }
        };
        // What would pass the region's end, or the bytes to transfer, is made shorter.
        let whole = left - left % self.unit_bytes;
        let bytes = wanted.min(region - start).min(whole);
        if let Order::Sequential(next) = &mut self.order {
            *next += bytes;
        }
        if let Some(left) = &mut self.left_bytes {
            *left -= bytes;
        }
        let write = match &mut self.mix {
            Some((random, reads_percent)) => random.below(100) >= *reads_percent,
            None => self.writes,
        };
        Some(Request {
            start: self.offset_bytes + start,
            bytes,
            write,
        })
    }
}

/// What is known of a request that is outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Submitted {
    /// When it was there to be submitted.
    pub(super) arrived: Instant,
    pub(super) bytes: u64,
    pub(super) write: bool,
}

impl Submitted {
    pub(super) fn ended(self, completion: &Completion) -> Ended {
        Ended {
            arrived: self.arrived,
            submitted: completion.submitted,
            completed: completion.completed,
            bytes: self.bytes,
            write: self.write,
            failed: completion.status != Status::Success,
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

/// The arrivals of a job's reads and of its writes; without a rate, at any time.
#[derive(Clone, Debug)]
pub(super) struct Pace([Option<Arrivals>; 2]);

impl Pace {
    pub(super) fn new(job: &Job, start: Instant) -> Pace {
        let arrivals = |rate: Option<Rate>, seed: u64| {
            rate.map(|rate| Arrivals {
                rate,
                start,
                arrived: 0,
                random: job.poisson.then(|| (Random::new(seed), 0.0)),
            })
        };
        Pace([
            arrivals(job.rate_read, job.seed.rotate_left(16)),
            arrivals(job.rate_write, job.seed.rotate_left(48)),
        ])
    }

    /// When the next request of this direction arrives; `None` when it is there as soon as it is wanted.
    pub(super) fn next(&self, write: bool) -> Option<Instant> {
        self.0[usize::from(write)].as_ref().map(Arrivals::next)
    }

    /// The next request of this direction has arrived.
    pub(super) fn take(&mut self, write: bool, bytes: u64) {
        if let Some(arrivals) = &mut self.0[usize::from(write)] {
            arrivals.take(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::job::BlockShare;
    use super::*;

    fn job(rw: ReadWrite) -> Job {
        Job {
            rw,
            size_bytes: 1000 * 4096,
            ..Job::new("j")
        }
    }

    fn starts(job: &Job) -> Vec<u64> {
        Requests::new(job).map(|request| request.start).collect()
    }

    #[test]
    fn one_pass_touches_every_block_once() {
        for rw in [
            ReadWrite::Read,
            ReadWrite::RandRead,
            ReadWrite::RandReadWrite,
        ] {
            let mut blocks = starts(&job(rw));
            assert_eq!(blocks.is_sorted(), !rw.is_random());
            blocks.sort_unstable();
            assert!(blocks.into_iter().eq((0..1000).map(|block| block * 4096)));
        }
    }

    #[test]
    fn the_mix_is_near_the_percentage() {
        let mut mixed = job(ReadWrite::RandReadWrite);
        mixed.rwmixread = 70;
        let reads = Requests::new(&mixed)
            .filter(|request| !request.write)
            .count();
        assert!((650..750).contains(&reads), "{reads}");
        mixed.rwmixread = 100;
        assert!(Requests::new(&mixed).all(|request| !request.write));
        mixed.rwmixread = 0;
        assert!(Requests::new(&mixed).all(|request| request.write));
    }

    #[test]
    fn time_based_goes_round_again_in_another_order() {
        let mut again = job(ReadWrite::RandRead);
        again.time_based = true;
        let starts: Vec<u64> = Requests::new(&again)
            .take(2000)
            .map(|request| request.start)
            .collect();
        assert_ne!(starts[..1000], starts[1000..]);
    }

    #[test]
    fn io_size_ends_early_or_goes_round() {
        let mut part = job(ReadWrite::Read);
        part.io_bytes = Some(10 * 4096);
        assert_eq!(starts(&part).len(), 10);
        part.io_bytes = Some(1500 * 4096);
        let round = starts(&part);
        assert_eq!(
            (round.len(), round[1000], round[1499]),
            (1500, 0, 499 * 4096)
        );
    }

    #[test]
    fn an_offset_moves_the_region() {
        let mut moved = job(ReadWrite::RandRead);
        moved.offset_bytes = 8192;
        let starts = starts(&moved);
        assert_eq!(starts.iter().min(), Some(&8192));
        assert_eq!(starts.iter().max(), Some(&(999 * 4096 + 8192)));
    }

    #[test]
    fn sizes_come_in_their_shares_and_stay_in_the_region() {
        for rw in [ReadWrite::Read, ReadWrite::RandRead] {
            let mut split = job(rw);
            split.io_bytes = Some(64 << 20);
            split.block_split = vec![
                BlockShare {
                    bytes: 4096,
                    percent: 75,
                },
                BlockShare {
                    bytes: 65_536,
                    percent: 25,
                },
            ];
            let requests: Vec<Request> = Requests::new(&split).collect();
            let large = requests.iter().filter(|request| request.bytes == 65_536);
            let share = large.count() as f64 / requests.len() as f64;
            assert!((0.2..0.3).contains(&share), "{share}");
            assert_eq!(
                requests.iter().map(|request| request.bytes).sum::<u64>(),
                64 << 20
            );
            assert!(
                requests
                    .iter()
                    .all(|r| r.start + r.bytes <= split.end_bytes())
            );
        }
    }

    fn arrivals(job: &Job, count: u64) -> Vec<u64> {
        let mut pace = Pace::new(job, Instant::START + Duration::from_us(5));
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
        assert_eq!(Pace::new(&job, Instant::START).next(true), None);
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
