//! The requests of a job: which range each touches, whether it reads or writes it, and when it arrives.

use super::job::{BlockShare, Job, Rate, ReadWrite};
use super::options::{Repeat, Strided};
use super::tally::Ended;
use meldsim::engine::Random;
use meldsim::nvme::{Completion, Status};
use meldsim::{Duration, Instant};
use meldsim_drive::{Distribution, Popularity};

const PS_PER_S: u128 = 1_000_000_000_000;

/// The sequence of a job's requests. All its places are bytes from the region's start.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    unit_bytes: u64,
    region_bytes: u64,
    offset_bytes: u64,
    /// Bytes still to transfer; `None` is without end.
    left_bytes: Option<u64>,
    /// Without an end, more than there will ever be.
    left_requests: u64,
    order: Order,
    /// Sizes with their shares of reads and of writes, and what chooses; no shares when all are of one size.
    sizes: [Sizes; 2],
    choose_size: Random,
    mix: Option<(Random, u64)>,
    writes: bool,
    zone: Option<Zone>,
    /// Of random requests that follow one another, how many are still to come, where the next begins, and whether all
    /// begin there.
    run: Option<(Repeat, u32, u64)>,
}

#[derive(Clone, Debug)]
enum Order {
    /// Where the next request begins, and what is skipped after it.
    Sequential { next: u64, step: i64 },
    Random {
        popularity: Popularity,
        random: Random,
        /// Places at which a request may begin, and the distance between two.
        places: u64,
        align_bytes: u64,
    },
}

/// Sizes of one direction's requests.
#[derive(Clone, Debug)]
struct Sizes {
    /// The size when there are no shares.
    bytes: u64,
    shares: Vec<BlockShare>,
    /// Sum of the shares.
    tickets: u64,
}

/// The zone that is worked on.
#[derive(Clone, Copy, Debug)]
struct Zone {
    strided: Strided,
    start: u64,
    done_bytes: u64,
}

/// One request, in bytes of the namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) write: bool,
}

impl Sizes {
    fn new(bytes: u64, shares: &[BlockShare]) -> Sizes {
        Sizes {
            bytes,
            shares: shares.to_vec(),
            tickets: shares.iter().map(|share| u64::from(share.percent)).sum(),
        }
    }

    fn choose(&self, random: &mut Random) -> u64 {
        if self.tickets == 0 {
            return self.bytes;
        }
        let mut ticket = random.below(self.tickets);
        for share in &self.shares {
            if ticket < u64::from(share.percent) {
                return share.bytes;
            }
            ticket -= u64::from(share.percent);
        }
        self.bytes
    }
}

impl Zone {
    /// Goes on to the next zone when this one is done; gives the bytes that are skipped.
    fn turn(&mut self, region_bytes: u64) -> Option<u64> {
        if self.done_bytes < self.strided.size_bytes {
            return None;
        }
        self.done_bytes = 0;
        let to_next = self
            .strided
            .range_bytes
            .saturating_add(self.strided.skip_bytes);
        self.start = self.start.saturating_add(to_next);
        if self.start >= region_bytes {
            self.start = 0;
        }
        Some(self.strided.skip_bytes)
    }

    fn end(&self, region_bytes: u64) -> u64 {
        region_bytes.min(self.start.saturating_add(self.strided.range_bytes))
    }
}

impl Requests {
    pub(super) fn new(job: &Job) -> Requests {
        let seed = job.seed;
        let mixed = matches!(job.rw, ReadWrite::ReadWrite | ReadWrite::RandReadWrite);
        let (unit, region) = (job.unit_bytes(), job.units() * job.unit_bytes());
        let align_bytes = job.align_bytes.unwrap_or(unit);
        let within = job
            .strided
            .map_or(region, |zone| zone.range_bytes.min(region));
        let places = within.saturating_sub(unit) / align_bytes + 1;
        // What begins anywhere has no map of what was touched.
        let distribution = match &job.distribution {
            Distribution::Once if job.align_bytes.is_some() => &Distribution::Uniform,
            distribution => distribution,
        };
        let write_shares = match job.write_block_split.is_empty() {
            true => &job.block_split,
            false => &job.write_block_split,
        };
        Requests {
            unit_bytes: unit,
            region_bytes: region,
            offset_bytes: job.offset_bytes,
            left_bytes: (!job.time_based).then(|| job.total_bytes()),
            left_requests: job.most_requests.unwrap_or(u64::MAX),
            // Seeds of their own, so that one choice does not follow another.
            order: match job.rw.is_random() {
                true => Order::Random {
                    popularity: Popularity::new(distribution, places, seed),
                    random: Random::new(seed.rotate_left(32)),
                    places,
                    align_bytes,
                },
                // Backwards from the end of what does not begin at the file's start, as in fio.
                false => Order::Sequential {
                    next: match job.step_bytes < 0 && job.offset_bytes > 0 {
                        true => region.saturating_add_signed(job.step_bytes),
                        false => 0,
                    },
                    step: job.step_bytes,
                },
            },
            sizes: [
                Sizes::new(job.block_bytes, &job.block_split),
                Sizes::new(job.block_bytes, write_shares),
            ],
            choose_size: Random::new(!seed.rotate_left(32)),
            mix: mixed.then(|| (Random::new(!seed), u64::from(job.rwmixread))),
            writes: job.rw.writes(),
            zone: job.strided.map(|strided| Zone {
                strided,
                start: 0,
                done_bytes: 0,
            }),
            run: job.repeat.map(|repeat| (repeat, 0, 0)),
        }
    }

    /// Random writes as the job's, with that distribution, in the first bytes of its namespace, without an end: what came
    /// before it. `None` when its region begins after those.
    pub(super) fn past(job: &Job, distribution: &Distribution, bytes: u64) -> Option<Requests> {
        let size_bytes = bytes.checked_sub(job.offset_bytes)?.min(job.size_bytes);
        if size_bytes < job.unit_bytes() {
            return None;
        }
        let mut requests = Requests::new(&Job {
            rw: ReadWrite::RandWrite,
            distribution: distribution.clone(),
            size_bytes,
            time_based: true,
            most_requests: None,
            ..job.clone()
        });
        if let Order::Random { random, .. } = &mut requests.order {
            // Popular blocks are the job's, but the draws are others.
            *random = Random::new(job.seed.rotate_left(8));
        }
        Some(requests)
    }

    /// Places at which a random request may begin.
    pub(super) fn places(&self) -> u64 {
        match &self.order {
            Order::Random { places, .. } => *places,
            Order::Sequential { .. } => 0,
        }
    }

    /// Where the zone ends that is worked on; without zones, the region.
    #[inline(always)]
    fn zone_end(&self) -> u64 {
        let region = self.region_bytes;
        self.zone.as_ref().map_or(region, |zone| zone.end(region))
    }

    /// Where the next request begins.
    #[inline(always)]
    fn start(&mut self) -> u64 {
        let (region, unit, end) = (self.region_bytes, self.unit_bytes, self.zone_end());
        match &mut self.order {
            Order::Sequential { next, step } => {
                if next.saturating_add(unit) > end {
                    *next = match (&self.zone, *step < 0) {
                        (Some(zone), _) => zone.start,
                        (None, true) => region.saturating_add_signed(*step),
                        (None, false) => 0,
                    };
                }
                *next
            }
            Order::Random {
                popularity,
                random,
                places,
                align_bytes,
            } => {
                let base = self.zone.map_or(0, |zone| zone.start);
                if let Some((_, left, next)) = &mut self.run {
                    let fits = *next + unit <= end;
                    // As in fio, at a zone's end they go on at its start.
                    if *left > 0 && (fits || self.zone.is_some()) {
                        *left -= 1;
                        return if fits { *next } else { base };
                    }
                }
                let start = base + popularity.next(*places, random) * *align_bytes;
                // The last zone may be cut off.
                let start = if start + unit > region { base } else { start };
                if let Some((repeat, left, next)) = &mut self.run {
                    (*left, *next) = (repeat.requests - 1, start);
                }
                start
            }
        }
    }

    /// The next one begins after these bytes.
    fn advance(&mut self, start: u64, bytes: u64) {
        match &mut self.order {
            Order::Sequential { next, step } => {
                let after = (start + bytes).checked_add_signed(*step);
                // Before the start, too, is beyond the end.
                *next = after.unwrap_or(self.region_bytes);
            }
            Order::Random { .. } => {
                if let Some((repeat, _, next)) = &mut self.run {
                    *next = if repeat.identical {
                        start
                    } else {
                        start + bytes
                    };
                }
            }
        }
    }

    /// Whether there is another request.
    #[inline(always)]
    pub(super) fn has_next(&mut self) -> bool {
        if let Some(zone) = &mut self.zone {
            if let Some(skipped) = zone.turn(self.region_bytes) {
                match (&mut self.order, &mut self.run) {
                    (Order::Sequential { next, .. }, _) => *next = zone.start,
                    // As in fio, requests that follow one another go on at the new zone's start.
                    (Order::Random { .. }, Some((_, _, next))) => *next = zone.start,
                    (Order::Random { .. }, None) => {}
                }
                // As in fio, what is skipped is done.
                self.left_bytes = self.left_bytes.map(|left| left.saturating_sub(skipped));
            }
        }
        self.left_bytes.unwrap_or(u64::MAX) >= self.unit_bytes && self.left_requests > 0
    }

    /// Whether the mix has the next request write.
    #[inline(always)]
    pub(super) fn draw_direction(&mut self) -> bool {
        match &mut self.mix {
            Some((random, reads_percent)) => random.below(100) >= *reads_percent,
            None => self.writes,
        }
    }

    /// The next request, in this direction. There must be another.
    #[inline(always)]
    pub(super) fn draw(&mut self, write: bool) -> Request {
        let wanted = self.sizes[usize::from(write)].choose(&mut self.choose_size);
        let start = self.start();
        let end = self.zone_end();
        // What would pass the region's end, or the bytes to transfer, is made shorter.
        let mut bytes = wanted.min(end - start);
        if let Some(left) = &mut self.left_bytes {
            // Only near the end of them, for a division takes long.
            if bytes > *left - self.unit_bytes {
                bytes = bytes.min(*left - *left % self.unit_bytes);
            }
            *left -= bytes;
        }
        self.advance(start, bytes);
        self.left_requests -= 1;
        if let Some(zone) = &mut self.zone {
            zone.done_bytes += bytes;
        }
        Request {
            start: self.offset_bytes + start,
            bytes,
            write,
        }
    }
}

impl Iterator for Requests {
    type Item = Request;

    #[inline(always)]
    fn next(&mut self) -> Option<Request> {
        if !self.has_next() {
            return None;
        }
        let write = self.draw_direction();
        Some(self.draw(write))
    }
}

/// What is known of a request that is outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Submitted {
    /// When it was there to be submitted.
    pub(super) arrived: Instant,
    /// When its submission began.
    pub(super) begun: Instant,
    pub(super) bytes: u64,
    pub(super) write: bool,
}

impl Submitted {
    pub(super) fn ended(self, completion: &Completion) -> Ended {
        Ended {
            arrived: self.arrived,
            begun: self.begun,
            submitted: completion.submitted,
            completed: completion.completed,
            bytes: self.bytes,
            write: self.write,
            failed: completion.status != Status::SUCCESS,
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

    /// The direction whose next request comes first, or has come while the other's has not: fio's `rate_ddir`, by which a
    /// direction that is ahead of its rate yields to the other. `None` where both have come, and the mix decides.
    pub(super) fn first(&self, now: Instant) -> Option<bool> {
        let [read, write] =
            [false, true].map(|write| self.next(write).map_or(now, |at| at.max(now)));
        (read != write).then_some(write < read)
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

    /// A past and its run draw other blocks in turn, and the same ones most often.
    #[test]
    fn a_past_has_the_popular_blocks_of_its_run() {
        let mut skewed = job(ReadWrite::RandWrite);
        skewed.distribution = Distribution::Zipf { theta: 1_200_000 };
        skewed.offset_bytes = 40 * 4096;
        skewed.time_based = true;
        skewed.seed = 5;
        let bytes = skewed.end_bytes();
        let past = |bytes| Requests::past(&skewed, &skewed.distribution, bytes);
        let starts = |requests: Requests| -> Vec<u64> {
            requests.take(20_000).map(|request| request.start).collect()
        };
        let popular = |starts: &[u64]| {
            let mut counts = std::collections::BTreeMap::new();
            for start in starts {
                *counts.entry(*start).or_insert(0u32) += 1;
            }
            let mut blocks: Vec<(u32, u64)> = counts.into_iter().map(|(at, n)| (n, at)).collect();
            blocks.sort_unstable_by(|a, b| b.cmp(a));
            blocks[..4].iter().map(|(_, at)| *at).collect::<Vec<u64>>()
        };
        let before = starts(past(bytes).unwrap());
        let run = starts(Requests::new(&skewed));
        assert_ne!(before, run);
        assert_eq!(popular(&before), popular(&run));
        // What was overwritten may end before the job's region does, or before it begins.
        let half = starts(past(bytes / 2).unwrap());
        assert!(
            half.iter()
                .all(|start| (40 * 4096..bytes / 2).contains(start))
        );
        assert!(past(40 * 4096).is_none());
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

    #[test]
    fn reads_and_writes_have_sizes_of_their_own() {
        let share = |bytes| BlockShare {
            bytes,
            percent: 100,
        };
        let mut mixed = job(ReadWrite::RandReadWrite);
        mixed.write_block_split = vec![share(16_384)];
        let requests: Vec<Request> = Requests::new(&mixed).collect();
        // The last may be cut off.
        for request in &requests[..requests.len() - 1] {
            let at_end = request.start + request.bytes == mixed.end_bytes();
            let expected = if request.write { 16_384 } else { 4096 };
            assert!(request.bytes == expected || at_end, "{request:?}");
        }
    }

    #[test]
    fn a_step_goes_over_holes_or_back() {
        let blocks = |step_bytes, offset_bytes| {
            let job = Job {
                step_bytes,
                offset_bytes,
                size_bytes: 8 * 4096,
                ..Job::new("j")
            };
            let starts = starts(&job).into_iter();
            starts
                .map(|start| (start - offset_bytes) / 4096)
                .collect::<Vec<u64>>()
        };
        assert_eq!(blocks(4096, 0), [0, 2, 4, 6, 0, 2, 4, 6]);
        assert_eq!(blocks(-8192, 0), [0, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(blocks(-8192, 4096), [6, 5, 4, 3, 2, 1, 0, 6]);
    }

    #[test]
    fn random_requests_may_follow_one_another() {
        for identical in [false, true] {
            let mut runs = job(ReadWrite::RandRead);
            runs.repeat = Some(Repeat {
                requests: 4,
                identical,
            });
            let starts = starts(&runs);
            let (runs, step) = (starts.chunks(4), if identical { 0 } else { 4096 });
            let whole = runs.filter(|run| run.windows(2).all(|pair| pair[1] == pair[0] + step));
            // At the region's end a run is cut off, and those after it are shifted.
            assert!(whole.count() > 100, "{starts:?}");
        }
    }

    #[test]
    fn zones_are_worked_on_one_after_the_other() {
        let zones = |rw, range: u64, size: u64, skip: u64| {
            let job = Job {
                rw,
                size_bytes: 16 * 4096,
                strided: Some(Strided {
                    range_bytes: range * 4096,
                    size_bytes: size * 4096,
                    skip_bytes: skip * 4096,
                }),
                ..Job::new("j")
            };
            let blocks = starts(&job).into_iter().map(|start| start / 4096);
            blocks.collect::<Vec<u64>>()
        };
        // What is skipped counts as done.
        assert_eq!(zones(ReadWrite::Read, 2, 2, 6), [0, 1, 8, 9]);
        assert_eq!(zones(ReadWrite::Read, 4, 1, 4), [0, 8, 0, 8]);
        assert_eq!(zones(ReadWrite::Read, 2, 4, 6)[..6], [0, 1, 0, 1, 8, 9]);
        let random = zones(ReadWrite::RandRead, 4, 4, 4);
        for (zone, blocks) in random.chunks(4).enumerate() {
            let mut blocks = blocks.to_vec();
            blocks.sort_unstable();
            let first = zone as u64 % 2 * 8;
            assert!(blocks.into_iter().eq(first..first + 4), "{random:?}");
        }
    }

    /// As fio's: they go round in their zone, and on at the next one's start.
    #[test]
    fn random_requests_that_follow_one_another_stay_in_their_zone() {
        for (seed, identical) in [1, 2, 3, 4]
            .into_iter()
            .flat_map(|s| [(s, false), (s, true)])
        {
            let zones = Job {
                seed,
                size_bytes: 32 * 4096,
                repeat: Some(Repeat {
                    requests: 8,
                    identical,
                }),
                strided: Some(Strided {
                    range_bytes: 4 * 4096,
                    size_bytes: 4 * 4096,
                    skip_bytes: 4 * 4096,
                }),
                ..job(ReadWrite::RandRead)
            };
            let requests: Vec<Request> = Requests::new(&zones).collect();
            assert_eq!(requests.len(), 16);
            for (zone, requests) in requests.chunks(4).enumerate() {
                let first = zone as u64 * 8;
                let mut blocks: Vec<u64> = requests.iter().map(|r| r.start / 4096).collect();
                blocks.sort_unstable();
                let expected = match (identical, zone % 2) {
                    (false, _) => (first..first + 4).collect(),
                    (true, 1) => vec![first; 4],
                    (true, _) => vec![blocks[0]; 4],
                };
                assert_eq!(blocks, expected, "zone {zone}");
                assert!((first..first + 4).contains(&blocks[0]));
                assert!(requests.iter().all(|request| request.bytes == 4096));
            }
        }
    }

    #[test]
    fn an_alignment_is_where_random_requests_begin() {
        let mut aligned = job(ReadWrite::RandRead);
        aligned.align_bytes = Some(65_536);
        assert!(starts(&aligned).iter().all(|start| start % 65_536 == 0));
        aligned.align_bytes = Some(1024);
        let starts = starts(&aligned);
        assert!(starts.iter().any(|start| start % 4096 != 0));
        assert!(starts.iter().all(|start| start + 4096 <= 1000 * 4096));
    }

    #[test]
    fn loops_and_a_number_of_requests_end_it() {
        let mut counted = job(ReadWrite::Read);
        counted.loops = 3;
        assert_eq!(starts(&counted).len(), 3000);
        counted.most_requests = Some(17);
        assert_eq!(starts(&counted).len(), 17);
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
    fn a_direction_ahead_of_its_rate_yields() {
        let mut job = job(ReadWrite::RandReadWrite);
        let at = |ms| Instant::START + Duration::from_ms(ms);
        job.rate_read = Some(Rate::Requests(100));
        let mut pace = Pace::new(&job, at(0));
        assert_eq!(pace.first(at(0)), None);
        pace.take(false, 4096);
        // Writes may come at any time.
        assert_eq!(pace.first(at(9)), Some(true));
        assert_eq!(pace.first(at(10)), None);
        job.rate_write = Some(Rate::Requests(50));
        let mut pace = Pace::new(&job, at(0));
        pace.take(false, 4096);
        assert_eq!(pace.first(at(0)), Some(true));
        pace.take(true, 4096);
        // Reads come after 10 ms, writes after 20.
        assert_eq!(pace.first(at(5)), Some(false));
        assert_eq!(pace.first(at(10)), Some(false));
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
