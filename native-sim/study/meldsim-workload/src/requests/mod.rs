//! The requests of a job: which range each touches, what it asks for, and when it arrives.
//!
//! They are those of fio 3.33, one by one: the rules are in `io_u.c`, `backend.c` and `filesetup.c` there. A job works in passes. A
//! pass ends when its bytes are transferred, or when there is no next block; `loops`, `io_size` and `time_based` say whether another
//! follows. What is outstanding completes before the next pass begins.

mod descriptors;
mod map;
mod pace;
mod place;
mod popularity;
mod tausworthe;

use super::distribution::Distribution;
use super::job::{BlockSizes, Job};
use descriptors::Descriptors;
use meldsim_host::Direction;
pub(super) use pace::{Pace, Submitted};
use place::Places;
pub(super) use place::map_bytes;
use tausworthe::{Choice, Seeds, Tausworthe};

/// The sequence of a job's requests.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    kind: Kind,
    places: Places,
    sizes: [Sizes; 3],
    mix: Tausworthe,
    /// In a mix: the direction that is on, and when it is drawn again.
    on: Direction,
    on_until: u64,
    rwmixread: u64,
    /// What was done.
    issued: [u64; 3],
    issued_bytes: [u64; 3],
    pass: Pass,
    last_was_sync: bool,
    /// A flush is due at the end of a pass.
    ends_with_sync: bool,
    descriptors: Option<Descriptors>,
    /// Bytes of each request, where all are alike and anywhere: then only their number ends a pass.
    alike: Option<u64>,
    /// So many of them can be drawn before the pass, or the job, may be over.
    alike_left: u64,
}

/// What a job is.
#[derive(Clone, Debug)]
struct Kind {
    reads: bool,
    writes: bool,
    trims: bool,
    is_random: bool,
    sizes_by_order: bool,
    time_based: bool,
    /// Of an engine with one request at a time, a pass has no bytes of its own, as in fio.
    counts_passes: bool,
    /// Bytes that end a pass.
    pass_bytes: u64,
    io_bytes: Option<u64>,
    /// Bytes that end the job.
    all_bytes: u64,
    most_requests: Option<u64>,
    loops: u32,
    largest_block: u64,
    fsync: u64,
    fdatasync: u64,
    end_fsync: bool,
}

/// The pass that is on.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    is_on: bool,
    begun: u32,
    bytes: u64,
    /// It did not end for want of a place.
    goes_on: bool,
    is_last: bool,
    /// Its next request waits for all before.
    waits: bool,
}

/// Sizes of one direction's requests.
#[derive(Clone, Debug)]
struct Sizes {
    least: u64,
    most: u64,
    /// Size and where its share ends, in parts of the random numbers; those of small shares first.
    shares: Vec<(u64, u128)>,
    random: Tausworthe,
}

/// One request, in bytes of the namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) direction: Direction,
    /// All before it must have completed.
    pub(super) waits: bool,
}

/// What may come next.
pub(super) enum Upcoming {
    /// A flush.
    Sync,
    /// A request with data, of a direction to be drawn.
    Data,
}

impl Sizes {
    fn new(sizes: &BlockSizes, random: Tausworthe) -> Sizes {
        let part = u128::from(random.largest() / 100) + 1;
        let mut shares: Vec<_> = sizes.split.clone();
        shares.sort_by_key(|share| share.percent);
        let mut sum = 0;
        let shares = shares.into_iter().filter(|share| share.percent > 0);
        let shares = shares.map(|share| {
            sum += u128::from(share.percent);
            (share.bytes, sum * part)
        });
        Sizes {
            least: sizes.least,
            most: sizes.most,
            shares: shares.collect(),
            random,
        }
    }

    /// The next size, of a request that has so many bytes of room; 0 when none fits.
    #[inline(always)]
    fn choose(&mut self, room: u64) -> u64 {
        if self.least == self.most {
            return self.least;
        }
        self.choose_any(room)
    }

    fn choose_any(&mut self, room: u64) -> u64 {
        let rounded = |bytes: u64| (bytes - bytes % self.least).min(self.most);
        let last = self.shares.last().map_or(0, |(bytes, _)| *bytes);
        // fio would try for ever where none fits.
        let fits = self.shares.iter().any(|(bytes, _)| *bytes <= room) || rounded(last) <= room;
        if self.least > room || !fits {
            return 0;
        }
        loop {
            let number = self.random.next();
            let bytes = if self.shares.is_empty() {
                let share = number as f64 / (self.random.largest() as f64 + 1.0);
                self.least + (self.most as f64 * share) as u64
            } else {
                let fitting = self.shares.iter();
                let mut fitting =
                    fitting.filter(|(bytes, end)| u128::from(number) < *end && *bytes <= room);
                fitting.next().map_or(last, |(bytes, _)| *bytes)
            };
            let bytes = rounded(bytes);
            if bytes <= room {
                return bytes;
            }
        }
    }
}

impl Requests {
    pub(super) fn new(job: &Job) -> Requests {
        let seeds = Seeds::of_job(job);
        let is_long = job.is_long();
        let pass_bytes = job.pass_bytes();
        let trims_and_writes = job.rw.trims() && job.rw.writes();
        let all_bytes = job.io_bytes.unwrap_or(pass_bytes);
        let mut all_in_pass = pass_bytes;
        if job.rw.writes() && job.rw.is_random() && job.repeats_blocks() {
            all_in_pass = all_in_pass.max(job.io_bytes.unwrap_or(0));
        }
        if trims_and_writes {
            all_in_pass = all_in_pass.saturating_add(all_bytes.saturating_mul(job.loops.into()));
        }
        let size = |direction: usize| {
            // What is trimmed is written, in the same sizes.
            let seed = if trims_and_writes && direction == 2 {
                1
            } else {
                direction
            };
            let random = Tausworthe::new(seeds.of(Choice::Size, seed as u64), is_long);
            Sizes::new(&job.block_sizes(Direction::ALL[direction]), random)
        };
        let places = Places::new(job);
        let pass = Pass {
            is_last: places.are_stuck(),
            ..Pass::default()
        };
        let mut requests = Requests {
            kind: Kind {
                reads: job.rw.reads(),
                writes: job.rw.writes(),
                trims: job.rw.trims(),
                is_random: job.rw.is_random(),
                sizes_by_order: job.sizes_by_order,
                time_based: job.time_based,
                counts_passes: !job.is_synchronous(),
                pass_bytes: all_in_pass,
                io_bytes: job.io_bytes,
                all_bytes,
                most_requests: job.most_requests,
                loops: job.loops,
                largest_block: job.largest_block_bytes(),
                // As in fio, the next trim or write goes before a flush.
                fsync: if trims_and_writes {
                    0
                } else {
                    job.fsync.into()
                },
                fdatasync: if trims_and_writes {
                    0
                } else {
                    job.fdatasync.into()
                },
                end_fsync: job.end_fsync,
            },
            places,
            sizes: [0, 1, 2].map(size),
            mix: Tausworthe::short(seeds.of(Choice::Mix, 0) as u32),
            on: Direction::Read,
            on_until: 0,
            rwmixread: job.rwmixread.into(),
            issued: [0; 3],
            issued_bytes: [0; 3],
            pass,
            last_was_sync: false,
            ends_with_sync: false,
            descriptors: Descriptors::new(job),
            alike: None,
            alike_left: 0,
        };
        requests.alike = requests.bytes_alike();
        requests
    }

    /// The bytes of each request, if nothing but the block and the direction is drawn for one.
    fn bytes_alike(&self) -> Option<u64> {
        let Kind {
            reads,
            writes,
            trims,
            sizes_by_order,
            fsync,
            fdatasync,
            ..
        } = self.kind;
        let used = match (reads, writes, trims) {
            (true, true, false) => 0..2,
            (true, false, false) => 0..1,
            (false, true, false) => 1..2,
            _ => return None,
        };
        let bytes = self.sizes[used.start].least;
        let is_alike = |index: usize| {
            let Sizes { least, most, .. } = self.sizes[index];
            least == bytes && most == bytes && self.places.are_anywhere(index)
        };
        let is_plain = fsync == 0 && fdatasync == 0 && self.descriptors.is_none();
        (is_plain && !sizes_by_order && bytes > 0 && used.clone().all(is_alike)).then_some(bytes)
    }

    /// How many requests of so many bytes the pass goes on for at least.
    fn count_alike(&self, bytes: u64) -> u64 {
        let kind = &self.kind;
        if kind.time_based || !self.pass.is_on {
            return u64::from(self.pass.is_on) << 32;
        }
        let loops = u64::from(kind.loops);
        let all = kind.all_bytes.saturating_mul(loops);
        let mut left = all.saturating_sub(self.directed(&self.issued_bytes));
        if kind.counts_passes {
            left = left.min(kind.pass_bytes.saturating_sub(self.pass.bytes));
        }
        let most = kind
            .most_requests
            .map_or(u64::MAX, |most| most.saturating_mul(loops));
        (left / bytes).min(most.saturating_sub(self.issued.iter().sum()))
    }

    /// The next request of those that are alike.
    #[inline(always)]
    fn draw_alike(&mut self, bytes: u64) -> Option<Request> {
        let direction = self.draw_direction();
        let start = self.places.anywhere(direction);
        if start.is_none() {
            (self.alike_left, self.pass.goes_on) = (0, false);
        }
        let start = start?;
        self.alike_left -= 1;
        self.issued[direction as usize] += 1;
        self.issued_bytes[direction as usize] += bytes;
        self.pass.bytes += bytes;
        Some(Request {
            start,
            bytes,
            direction,
            waits: false,
        })
    }

    /// Random writes as the job's, with that distribution, in the first bytes of its namespace, without an end: what came
    /// before it. `None` when its region begins after those.
    pub(super) fn past(job: &Job, distribution: &Distribution, bytes: u64) -> Option<Requests> {
        let size_bytes = bytes.checked_sub(job.offset_bytes)?.min(job.size_bytes);
        if size_bytes < job.unit_bytes() {
            return None;
        }
        let mut requests = Requests::new(&Job {
            rw: super::job::ReadWrite::RandWrite,
            distribution: distribution.clone(),
            size_bytes,
            pass_bytes: None,
            pass_percent: None,
            io_bytes: None,
            time_based: true,
            most_requests: None,
            random_percent: [100; 3],
            fsync: 0,
            fdatasync: 0,
            ..job.clone()
        });
        // Popular blocks are the job's, but the draws are others.
        requests.places.draw_otherwise(job.seed.rotate_left(8));
        Some(requests)
    }

    /// Places at which a random write may begin.
    pub(super) fn places(&self) -> u64 {
        self.places.count(Direction::Write)
    }

    /// What comes next, if anything does.
    #[inline(always)]
    pub(super) fn upcoming(&mut self) -> Option<Upcoming> {
        loop {
            if self.pass.is_on {
                if self.goes_on() {
                    let is_sync = self.kind.writes && !self.last_was_sync && self.is_sync_due();
                    return Some(if is_sync {
                        Upcoming::Sync
                    } else {
                        Upcoming::Data
                    });
                }
                self.end_pass();
            }
            if self.ends_with_sync {
                return Some(Upcoming::Sync);
            }
            if !self.begin_pass() {
                return None;
            }
        }
    }

    /// The flush that is due.
    pub(super) fn sync(&mut self) -> Request {
        self.last_was_sync = true;
        let waits = std::mem::take(&mut self.ends_with_sync);
        match &mut self.descriptors {
            Some(descriptors) if waits => descriptors.flush(),
            Some(descriptors) => descriptors.take(),
            None => {}
        }
        Request {
            direction: Direction::Sync,
            waits,
            ..Request::default()
        }
    }

    fn is_sync_due(&self) -> bool {
        let written = self.issued[Direction::Write as usize];
        let due = |every: u64| every > 0 && written > 0 && written % every == 0;
        due(self.kind.fsync) || due(self.kind.fdatasync)
    }

    /// Whether the pass has another request.
    #[inline(always)]
    fn goes_on(&self) -> bool {
        let kind = &self.kind;
        if !self.pass.goes_on {
            return false;
        }
        kind.time_based || {
            let is_over = kind.counts_passes && self.pass.bytes >= kind.pass_bytes;
            let loops = u64::from(kind.loops);
            let bytes = self.directed(&self.issued_bytes);
            let is_done = bytes >= kind.all_bytes.saturating_mul(loops);
            !(is_over || is_done || self.has_most_requests())
        }
    }

    /// What counts against the job's bytes.
    #[inline(always)]
    fn directed(&self, bytes: &[u64; 3]) -> u64 {
        match (self.kind.reads, self.kind.writes) {
            (true, true) => bytes[0] + bytes[1],
            (_, true) => bytes[1],
            (true, _) => bytes[0],
            _ => bytes[2],
        }
    }

    #[inline(always)]
    fn has_most_requests(&self) -> bool {
        let most = self.kind.most_requests;
        most.is_some_and(|most| {
            let loops = u64::from(self.kind.loops);
            self.issued.iter().sum::<u64>() >= most.saturating_mul(loops)
        })
    }

    /// Begins a pass, if another is to be done.
    fn begin_pass(&mut self) -> bool {
        let kind = &mut self.kind;
        let begun = self.pass.begun;
        if self.pass.is_last {
            return false;
        }
        if !kind.time_based && begun >= kind.loops {
            let done: u64 = self.issued_bytes.iter().sum();
            let left = kind.all_bytes.saturating_sub(done);
            // Passes after the last are for what `io_size` has more than they did.
            let has_more = kind.io_bytes.is_some() || self.pass.goes_on;
            if left == 0 || left < kind.largest_block || !has_more || self.has_most_requests() {
                return false;
            }
        }
        let kind = &mut self.kind;
        if kind.trims && kind.writes {
            kind.most_requests = kind.most_requests.map(|most| most.saturating_mul(2));
        }
        if begun > 0 {
            self.last_was_sync = false;
            self.on_until = 0;
            if self.places.repeats() {
                self.reseed();
            }
        }
        self.places.restart();
        self.pass = Pass {
            is_on: true,
            begun: begun.saturating_add(1),
            bytes: 0,
            goes_on: true,
            is_last: false,
            waits: begun > 0,
        };
        true
    }

    fn end_pass(&mut self) {
        self.pass.is_on = false;
        if let Some(descriptors) = &mut self.descriptors {
            descriptors.complete();
        }
        // As in fio, nothing follows a pass that did nothing.
        self.pass.is_last = self.pass.bytes == 0;
        self.ends_with_sync = self.kind.end_fsync && self.kind.writes && !self.last_was_sync;
    }

    /// The same random numbers again.
    fn reseed(&mut self) {
        let seeds = *self.places.seeds();
        for (direction, sizes) in self.sizes.iter_mut().enumerate() {
            let trims_and_writes = self.kind.trims && self.kind.writes;
            let seed = if trims_and_writes && direction == 2 {
                1
            } else {
                direction
            };
            let is_long = matches!(sizes.random, Tausworthe::Long(_));
            sizes.random = Tausworthe::new(seeds.of(Choice::Size, seed as u64), is_long);
        }
        self.mix = Tausworthe::short(seeds.of(Choice::Mix, 0) as u32);
        self.places.reseed();
    }

    /// The direction of the next request, as far as no rate decides it.
    #[inline(always)]
    pub(super) fn draw_direction(&mut self) -> Direction {
        let kind = &self.kind;
        match (kind.reads, kind.writes, kind.trims) {
            (true, true, _) => self.draw_mixed(),
            (_, true, true) => self.places.trim_or_write(),
            (true, ..) => Direction::Read,
            (_, true, _) => Direction::Write,
            _ => Direction::Trim,
        }
    }

    fn draw_mixed(&mut self) -> Direction {
        let on = self.on as usize;
        if self.issued[on] >= self.on_until {
            let drawn = match u64::from(self.mix.percent()) <= self.rwmixread {
                true => Direction::Read,
                false => Direction::Write,
            };
            if drawn != self.on {
                let share = match self.on {
                    Direction::Read => 100 - self.rwmixread,
                    _ => self.rwmixread,
                };
                self.on_until = self.issued[on] * share / 100;
            }
            self.on = drawn;
        }
        self.on
    }

    /// The next request, in this direction. `None` ends the pass: ask anew what comes.
    #[inline(always)]
    pub(super) fn draw(&mut self, direction: Direction) -> Option<Request> {
        let request = self.find(direction);
        if request.is_none() {
            self.pass.goes_on = false;
            if let Some(descriptors) = &mut self.descriptors {
                descriptors.leave(self.places.is_unnoticed());
            }
        }
        request
    }

    #[inline(always)]
    fn find(&mut self, direction: Direction) -> Option<Request> {
        let index = direction as usize;
        if self.kind.reads && self.kind.writes {
            self.on = direction;
        }
        let place = self.places.next(direction)?;
        let bytes = match place.bytes {
            Some(bytes) => bytes,
            None => {
                let of = match (self.kind.sizes_by_order, place.is_random) {
                    (true, true) => 1,
                    (true, false) => 0,
                    _ => index,
                };
                self.sizes[of].choose(self.places.room(place.start))
            }
        };
        if bytes == 0 || bytes > self.places.room_in_file(place.start) {
            return None;
        }
        let mut is_noticed = self.kind.is_random && !self.places.is_unnoticed();
        if let Some(descriptors) = &mut self.descriptors {
            is_noticed &= !descriptors.is_marked();
            descriptors.take();
        }
        let bytes = match is_noticed {
            true => self.places.touch(direction, place.start, bytes),
            false => bytes,
        };
        self.places.took(direction, place.start, bytes);
        self.issued[index] += 1;
        self.issued_bytes[index] += bytes;
        self.pass.bytes += bytes;
        self.last_was_sync = false;
        Some(Request {
            start: place.start,
            bytes,
            direction,
            waits: std::mem::take(&mut self.pass.waits),
        })
    }
}

impl Requests {
    /// Puts the next request there, piece by piece: one that is put together before is copied through memory. False when there
    /// is none.
    #[inline(always)]
    pub(super) fn put_next(&mut self, to: &mut Request) -> bool {
        if let (Some(bytes), 1..) = (self.alike, self.alike_left) {
            if let Some(request) = self.draw_alike(bytes) {
                *to = request;
                return true;
            }
        }
        match self.next_of_any() {
            Some(request) => *to = request,
            None => return false,
        }
        true
    }

    #[inline(never)]
    fn next_of_any(&mut self) -> Option<Request> {
        let request = loop {
            match self.upcoming()? {
                Upcoming::Sync => return Some(self.sync()),
                Upcoming::Data => {
                    let direction = self.draw_direction();
                    if let Some(request) = self.draw(direction) {
                        break request;
                    }
                }
            }
        };
        if let Some(bytes) = self.alike {
            self.alike_left = self.count_alike(bytes);
        }
        Some(request)
    }
}

impl Iterator for Requests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let mut next = Request::default();
        self.put_next(&mut next).then_some(next)
    }
}

#[cfg(test)]
mod tests;
