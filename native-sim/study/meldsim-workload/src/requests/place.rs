//! Where each request of a job begins.

use super::map::{Lfsr, RandomMap};
use super::popularity::{Popularity, ZoneIndex};
use super::tausworthe::{Choice, Seeds, Tausworthe, hash};
use crate::distribution::Distribution;
use crate::job::{Generator, Job};
use crate::options::Strided;
use meldsim_host::Direction;

/// No request so far.
const NONE: u64 = u64::MAX;

/// The places of a job's requests. All are bytes of the namespace.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The region.
    offset: u64,
    end: u64,
    /// Where its file ends.
    file_end: u64,
    step_bytes: i64,
    is_random: bool,
    time_based: bool,
    trims_and_writes: bool,
    /// By direction: where random requests may begin, and their smallest size.
    align: [u64; 3],
    least: [u64; 3],
    random_percent: [u32; 3],
    /// Of random requests that follow one another: how many do, how many are still to come, and whether all begin where the
    /// first does.
    run: u32,
    run_left: u32,
    identical: bool,
    zone: Option<Zone>,
    /// Of zones of the device: from the start of one to that of the next, and what can be written of it.
    device_zone: Option<(u64, u64)>,
    /// Where the region begins; with zones, the one that is on.
    base: u64,
    /// Of the request that was looked for last.
    is_unnoticed: bool,
    /// By direction, of the request before.
    last_start: [u64; 3],
    last_end: [u64; 3],
    seeds: Seeds,
    is_long: bool,
    block: Tausworthe,
    order: [Tausworthe; 3],
    zone_choice: Tausworthe,
    cover: Cover,
    popularity: Option<Popularity>,
    zones: [Option<ZoneIndex>; 3],
}

/// What keeps random requests from blocks that were touched.
#[derive(Clone, Debug)]
enum Cover {
    Nothing,
    Map(RandomMap),
    Lfsr(Lfsr),
}

/// The zone that is worked on.
#[derive(Clone, Copy, Debug)]
struct Zone {
    strided: Strided,
    done_bytes: u64,
}

/// Where a request begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) start: u64,
    /// Its size, where the place decides that, too.
    pub(super) bytes: Option<u64>,
    pub(super) is_random: bool,
}

impl Places {
    pub(super) fn new(job: &Job) -> Places {
        let seeds = Seeds::of_job(job);
        let is_long = job.is_long();
        let least = least(job);
        let align = match job.align_bytes {
            Some(align) if job.rw.is_random() => [0, 1, 2].map(|index| match align[index] {
                0 => least[index],
                align => align,
            }),
            _ => least,
        };
        let region = job.size_bytes;
        let blocks = blocks(job);
        let block_seed = seeds.of(Choice::Block, 0);
        let cover = match (job.generator, &job.distribution) {
            _ if !job.rw.is_random() => Cover::Nothing,
            (_, Distribution::Zipf(_) | Distribution::Pareto(_) | Distribution::Normal(_)) => {
                Cover::Nothing
            }
            (Generator::Lfsr, _) => Cover::Lfsr(Lfsr::new(blocks, block_seed)),
            _ if has_map(job) => Cover::Map(RandomMap::new(blocks)),
            _ => Cover::Nothing,
        };
        let preferred = region.div_ceil(least[0].min(least[1]));
        let popularity_seed = match seeds.repeats {
            true => hash(&job.file_name()).wrapping_mul(job.thread),
            false => block_seed as u32,
        };
        let zones = job.distribution.zones();
        let zones_of = |index: usize| {
            let (zones, in_bytes) = zones?;
            ZoneIndex::new(
                Some(&zones[index]).filter(|zones| !zones.is_empty()),
                in_bytes,
            )
        };
        let mut places = Places {
            offset: job.offset_bytes,
            end: job.offset_bytes + region,
            file_end: job.file_end_bytes(),
            step_bytes: job.step_bytes,
            is_random: job.rw.is_random(),
            time_based: job.time_based,
            trims_and_writes: job.rw.trims() && job.rw.writes(),
            align,
            least,
            random_percent: job.random_percent,
            run: job.repeat.map_or(1, |repeat| repeat.requests.max(1)),
            run_left: 1,
            identical: job.repeat.is_some_and(|repeat| repeat.identical),
            device_zone: job
                .zoned
                .map(|zoned| (zoned.zone_bytes, zoned.capacity_bytes)),
            zone: job.strided.map(|strided| Zone {
                strided,
                done_bytes: 0,
            }),
            base: job.offset_bytes,
            is_unnoticed: false,
            last_start: [NONE; 3],
            last_end: [job.offset_bytes; 3],
            seeds,
            is_long,
            block: Tausworthe::new(block_seed, is_long),
            order: [0, 1, 2].map(|_| Tausworthe::short(0)),
            zone_choice: Tausworthe::short(0),
            cover,
            popularity: Popularity::new(&job.distribution, preferred.max(1), popularity_seed),
            zones: [0, 1, 2].map(zones_of),
        };
        places.reseed();
        places
    }

    pub(super) fn seeds(&self) -> &Seeds {
        &self.seeds
    }

    /// Whether nothing can be drawn, so that fio does not begin.
    pub(super) fn are_stuck(&self) -> bool {
        matches!(&self.cover, Cover::Lfsr(lfsr) if lfsr.is_stuck())
    }

    /// Whether each pass has the same random numbers.
    pub(super) fn repeats(&self) -> bool {
        self.seeds.repeats
    }

    /// The same random numbers again.
    pub(super) fn reseed(&mut self) {
        self.block = Tausworthe::new(self.seeds.of(Choice::Block, 0), self.is_long);
        let order = Tausworthe::short(self.seeds.of(Choice::Order, 0) as u32);
        self.order = [0, 1, 2].map(|_| order.clone());
        self.zone_choice = Tausworthe::short(self.seeds.of(Choice::Zone, 0) as u32);
    }

    /// Other random numbers; what is popular stays so.
    pub(super) fn draw_otherwise(&mut self, seed: u64) {
        self.block = Tausworthe::new(seed, self.is_long);
        self.zone_choice = Tausworthe::short(seed as u32);
        if let Some(popularity) = &mut self.popularity {
            popularity.draw_otherwise(seed as u32);
        }
    }

    /// A pass begins.
    pub(super) fn restart(&mut self) {
        self.base = self.offset;
        if let Some(zone) = &mut self.zone {
            zone.done_bytes = 0;
        }
        self.forget();
    }

    /// Nothing of the region was touched.
    fn forget(&mut self) {
        self.last_start = [NONE; 3];
        self.last_end = [self.base; 3];
        match &mut self.cover {
            Cover::Nothing => {}
            Cover::Map(map) => map.clear(),
            Cover::Lfsr(lfsr) => lfsr.restart(),
        }
    }

    /// Bytes from there to the region's end.
    #[inline(always)]
    pub(super) fn room(&self, start: u64) -> u64 {
        self.end.saturating_sub(start)
    }

    /// Bytes from there to the file's end, which one size for all may reach, as in fio.
    #[inline(always)]
    pub(super) fn room_in_file(&self, start: u64) -> u64 {
        self.file_end.saturating_sub(start)
    }

    /// Places at which a random request of the direction may begin.
    #[inline(always)]
    pub(super) fn count(&self, direction: Direction) -> u64 {
        let index = direction as usize;
        let (align, least) = (self.align[index], self.least[index]);
        let span = match &self.zone {
            Some(zone) => zone.strided.range_bytes,
            None => self.end - self.offset,
        };
        // What is aligned more finely than its size must still fit.
        let span = span.saturating_sub(least.saturating_sub(align));
        match align.is_power_of_two() {
            true => span >> align.trailing_zeros(),
            false => span / align,
        }
    }

    /// Of a job that trims what it writes: what comes next.
    pub(super) fn trim_or_write(&self) -> Direction {
        match self.last_start[1] == self.last_start[2] {
            true => Direction::Trim,
            false => Direction::Write,
        }
    }

    /// Where the next request of the direction begins; `None` when the pass has no more places.
    #[inline(always)]
    pub(super) fn next(&mut self, direction: Direction) -> Option<Place> {
        let index = direction as usize;
        if self.zone.is_some() {
            self.turn_zone(index);
        }
        self.run_left -= 1;
        let is_first = self.run_left == 0;
        if is_first {
            self.run_left = self.run;
        }
        let percent = self.random_percent[index];
        let (mut is_random, mut bytes) = (false, None);
        self.is_unnoticed = self.is_random;
        let at = if self.is_random && self.trims_and_writes && index == 1 {
            let (start, end) = (self.last_start[2], self.last_end[2]);
            (is_random, bytes) = (true, Some(end.wrapping_sub(start)));
            start
        } else if !self.is_random {
            self.following(index)?
        } else if is_first && (percent == 100 || self.order[index].percent() <= percent) {
            (is_random, self.is_unnoticed) = (true, false);
            self.random(direction)?
        } else if !is_first && self.identical {
            let last = Some(self.last_start[index]).filter(|last| *last != NONE);
            last.map_or(0, |last| last.wrapping_sub(self.base))
        } else {
            let at = self.following(index);
            at.or_else(|| self.random(direction))?
        };
        if at >= self.end - self.offset {
            return None;
        }
        let start = at.saturating_add(self.base);
        if start >= self.file_end {
            return None;
        }
        if self.is_random && self.trims_and_writes && index == 2 && self.last_start[2] == start {
            // A trim where the one before was: what follows is a write all the same.
            self.last_start[1] = self.last_start[1].wrapping_sub(1);
        }
        Some(Place {
            start,
            bytes,
            is_random,
        })
    }

    /// Whether requests of a direction may begin anywhere, each drawn by itself.
    pub(super) fn are_anywhere(&self, index: usize) -> bool {
        let is_free = matches!(self.cover, Cover::Nothing) && self.popularity.is_none();
        let is_whole = self.zone.is_none() && self.zones[index].is_none();
        let is_random = self.is_random && self.random_percent[index] == 100 && self.run == 1;
        is_free && is_whole && is_random && self.count(Direction::ALL[index]) > 0
    }

    /// Where the next of those begins; `None` as of [`Places::next`].
    #[inline(always)]
    pub(super) fn anywhere(&mut self, direction: Direction) -> Option<u64> {
        let places = self.count(direction);
        let place = self.block.below(places);
        (place < places).then(|| self.offset + place * self.align[direction as usize])
    }

    /// Whether the random map takes no notice of the request that was looked for last, found or not.
    pub(super) fn is_unnoticed(&self) -> bool {
        self.is_unnoticed
    }

    /// Bytes from the base at which a request begins that follows the one before.
    fn following(&mut self, index: usize) -> Option<u64> {
        let (region, end) = (self.end - self.offset, self.file_end);
        if self.last_end[index] >= self.end && self.time_based {
            self.last_end[index] = self.base;
        }
        if self.last_end[index] >= end {
            return None;
        }
        // Backwards from the end of what does not begin at the file's start, as in fio.
        if self.step_bytes < 0 && self.base > 0 && self.last_end[index] == self.base {
            self.last_end[index] = region;
        }
        if let Some((zone, capacity)) = self.device_zone.filter(|_| index < 2) {
            // Nothing is beyond what can be written of a zone.
            let in_zone = self.last_end[index] % zone;
            if in_zone + self.least[index] > capacity {
                self.last_end[index] += zone - in_zone;
            }
        }
        let at = self.last_end[index].wrapping_sub(self.base);
        if at == 0 || self.step_bytes == 0 {
            return Some(at);
        }
        let stepped = at.wrapping_add_signed(self.step_bytes);
        Some(match (stepped >= end, self.step_bytes > 0) {
            (false, _) => stepped,
            (true, true) => self.base,
            (true, false) => region.wrapping_add_signed(self.step_bytes),
        })
    }

    /// Bytes from the base at which a random request begins.
    #[inline(always)]
    fn random(&mut self, direction: Direction) -> Option<u64> {
        let place = match self.draw(direction) {
            Some(place) => place,
            None if self.time_based => {
                self.forget();
                self.draw(direction)?
            }
            None => return None,
        };
        Some(place.saturating_mul(self.align[direction as usize]))
    }

    #[inline(always)]
    fn draw(&mut self, direction: Direction) -> Option<u64> {
        if let Some(popularity) = &mut self.popularity {
            return Some(popularity.next());
        }
        let mut places = self.count(direction);
        if places == 0 {
            return None;
        }
        let mut first = 0;
        if let Some(zones) = &self.zones[direction as usize] {
            let hundredth = self.zone_choice.percent();
            let distance = self.align[direction as usize];
            (first, places) = zones.zone(hundredth, places, distance)?;
        }
        let place = match &mut self.cover {
            Cover::Lfsr(lfsr) => lfsr.next()?,
            _ => self.block.below(places),
        };
        let place = match &self.cover {
            Cover::Map(map) => map.free(place)?,
            _ => place,
        };
        Some(first + place)
    }

    /// Goes on to the next zone when this one is done.
    fn turn_zone(&mut self, index: usize) {
        let Some(zone) = &mut self.zone else {
            return;
        };
        let Strided {
            range_bytes,
            size_bytes,
            skip_bytes,
        } = zone.strided;
        if zone.done_bytes >= size_bytes {
            zone.done_bytes = 0;
            let next = self
                .base
                .saturating_add(range_bytes)
                .saturating_add(skip_bytes);
            self.base = if next >= self.file_end {
                self.offset
            } else {
                next
            };
            self.last_end[index] = self.base;
        }
        if self.last_end[index] >= self.base.saturating_add(range_bytes) {
            self.last_end[index] = self.base;
        }
        if zone.done_bytes % range_bytes == 0 {
            self.forget();
        }
    }

    /// Marks what a random request touches; gives how much of it was not touched before.
    #[inline(always)]
    pub(super) fn touch(&mut self, direction: Direction, start: u64, bytes: u64) -> u64 {
        let Cover::Map(map) = &mut self.cover else {
            return bytes;
        };
        let least = self.least[direction as usize];
        let (first, blocks) = match least.is_power_of_two() {
            true => {
                let shift = least.trailing_zeros();
                ((start - self.base) >> shift, (bytes + least - 1) >> shift)
            }
            false => ((start - self.base) / least, bytes.div_ceil(least)),
        };
        bytes.min(map.touch(first, blocks) * least)
    }

    /// A request was made.
    #[inline(always)]
    pub(super) fn took(&mut self, direction: Direction, start: u64, bytes: u64) {
        let index = direction as usize;
        self.last_start[index] = start;
        self.last_end[index] = start + bytes;
        if let Some(zone) = &mut self.zone {
            zone.done_bytes += bytes;
        }
    }
}

/// By direction, the smallest request.
fn least(job: &Job) -> [u64; 3] {
    [0, 1, 2].map(|index| job.block_sizes(Direction::ALL[index]).least.max(1))
}

/// Blocks that its random requests are among.
fn blocks(job: &Job) -> u64 {
    let span = job.strided.map_or(job.size_bytes, |zone| zone.range_bytes);
    span / least(job).iter().min().unwrap_or(&1)
}

/// Whether a map keeps its random requests from blocks that were touched.
fn has_map(job: &Job) -> bool {
    job.rw.is_random() && job.generator != Generator::Lfsr && !job.repeats_blocks()
}

/// Bytes of the host's memory that a job's map takes once its requests have been everywhere.
pub(crate) fn map_bytes(job: &Job) -> u64 {
    match has_map(job) {
        true => RandomMap::bytes(blocks(job)),
        false => 0,
    }
}
