//! Which range a job touches next, and whether it reads or writes it.

use super::job::{Job, ReadWrite};
use super::popularity::Popularity;
use meldsim::engine::Random;

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
}
