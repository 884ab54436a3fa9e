//! Which block a job touches next, and whether it reads or writes it.

use super::job::{Job, ReadWrite};
use super::random::{Permutation, Random};

/// The sequence of a job's requests. Every pass touches each block once, in order or at random.
#[derive(Clone, Debug)]
pub(crate) struct Offsets {
    blocks: u64,
    next: u64,
    pass: u64,
    repeats: bool,
    seed: u64,
    order: Option<Permutation>,
    mix: Option<(Random, u64)>,
    writes: bool,
}

/// One request: block number and direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) block: u64,
    pub(crate) write: bool,
}

impl Offsets {
    pub(crate) fn new(job: &Job) -> Offsets {
        let blocks = job.blocks();
        let mixed = matches!(job.rw, ReadWrite::ReadWrite | ReadWrite::RandReadWrite);
        Offsets {
            blocks,
            next: 0,
            pass: 0,
            repeats: job.time_based,
            seed: job.seed,
            order: job
                .rw
                .is_random()
                .then(|| Permutation::new(blocks, job.seed)),
            // A seed of its own, so that the mix does not follow the order.
            mix: mixed.then(|| (Random::new(!job.seed), u64::from(job.rwmixread))),
            writes: job.rw.writes(),
        }
    }
}

impl Iterator for Offsets {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        if self.next == self.blocks {
            if !self.repeats {
                return None;
            }
            self.next = 0;
            self.pass += 1;
            if let Some(order) = &mut self.order {
                *order = Permutation::new(self.blocks, self.seed.wrapping_add(self.pass));
            }
        }
        let index = self.next;
        self.next += 1;
        let block = self.order.as_ref().map_or(index, |order| order.at(index));
        let write = match &mut self.mix {
            Some((random, reads_percent)) => random.below(100) >= *reads_percent,
            None => self.writes,
        };
        Some(Request { block, write })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(rw: ReadWrite) -> Job {
        Job {
            rw,
            size_bytes: 1000 * 4096,
            ..Job::new("j")
        }
    }

    #[test]
    fn one_pass_touches_every_block_once() {
        for rw in [
            ReadWrite::Read,
            ReadWrite::RandRead,
            ReadWrite::RandReadWrite,
        ] {
            let mut blocks: Vec<u64> = Offsets::new(&job(rw))
                .map(|request| request.block)
                .collect();
            assert_eq!(blocks.is_sorted(), !rw.is_random());
            blocks.sort_unstable();
            assert!(blocks.into_iter().eq(0..1000));
        }
    }

    #[test]
    fn the_mix_is_near_the_percentage() {
        let mut mixed = job(ReadWrite::RandReadWrite);
        mixed.rwmixread = 70;
        let reads = Offsets::new(&mixed)
            .filter(|request| !request.write)
            .count();
        assert!((650..750).contains(&reads), "{reads}");
        mixed.rwmixread = 100;
        assert!(Offsets::new(&mixed).all(|request| !request.write));
        mixed.rwmixread = 0;
        assert!(Offsets::new(&mixed).all(|request| request.write));
    }

    #[test]
    fn time_based_goes_round_again_in_another_order() {
        let mut again = job(ReadWrite::RandRead);
        again.time_based = true;
        let blocks: Vec<u64> = Offsets::new(&again)
            .take(2000)
            .map(|request| request.block)
            .collect();
        assert_ne!(blocks[..1000], blocks[1000..]);
    }
}
