//! Data that was written long ago, placed in no simulated time: in order, or at random until garbage
//! collection came to its steady state.
//!
//! In come pages of a space; out goes the state that writing and flushing them would have led to.
//! Nothing is counted: that was before the counting began.

use std::ops::Range;

use super::address::Ppn;
use super::blocks::{Blocks, PRELOADED, State};
use super::layer::Ftl;
use super::ledger::Spot;
use super::log::Log;
use super::mapping::{Entry, EntryRun, LEAF, MapIndex};
use super::reverse_map;
use super::steady_state::{StratifiedShuffle, valid_by_age, write_amplification};
use super::stream::{Gatherer, Layout, RunPages, Stream, Stripe, WordlinePages};

/// What a space holds, from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    pub(crate) space: u32,
    pub(crate) pages: u64,
    /// Of these, pages that were overwritten at random until collection was in steady state.
    pub(crate) random: u64,
}

/// Places pages as the host's writes would, in the order of a stream. What it gathers is apart from
/// what the host's streams do, and is of entries of the mapping and not of slots.
pub(super) struct Preload<'a> {
    pub(super) ftl: &'a mut Ftl,
    pub(super) stream: Stream,
    /// By log.
    gatherers: Vec<Gatherer<MapIndex>>,
}

/// Maps the pages to flash as if the host had written them in order and flushed. Nothing when there is
/// no room for all of them.
pub(crate) fn in_order(
    ftl: &mut Ftl,
    space: u32,
    first: u64,
    end: u64,
    layout: Layout,
) -> Option<()> {
    ftl.has_room(space, first, end, layout).then_some(())?;
    // What is placed would take the rest of a stripe that the host fills, and leave it a few dies again and again.
    let is_apart = layout == Layout::Normal
        && ftl.logs.iter().any(Log::fills_stripe)
        && ftl.logs.iter().all(Log::spares_past);
    let stream = match is_apart {
        _ if Some(space) == ftl.map_space => Stream::MAP[0],
        true => Stream::PAST,
        false => Stream::Host(0, layout),
    };
    let mut preload = Preload::new(ftl, stream);
    let mut page = first;
    while page < end {
        let mut pages = preload.place_rows(space, page, end - page)?;
        if pages == 0 {
            // Up to where what follows is again worth placing at once.
            pages = preload.rest_of_stripe_pages().min(end - page);
            preload.place_pages(space, page, page + pages)?;
        }
        page += pages;
    }
    Some(())
}

impl<'a> Preload<'a> {
    pub(super) fn new(ftl: &'a mut Ftl, stream: Stream) -> Preload<'a> {
        let mut gatherers = Vec::new();
        gatherers.resize_with(ftl.logs.len(), Gatherer::default);
        Preload {
            ftl,
            stream,
            gatherers,
        }
    }

    /// Pages that can be placed one by one before the next stripe begins.
    fn rest_of_stripe_pages(&mut self) -> u64 {
        let addressing = &self.ftl.addressing;
        if addressing.logs > 1 {
            return u64::MAX; // logs begin with whole wordlines: it is the end, or melded
        }
        match self.stream.layout() {
            Layout::Normal => {
                let rest = self.ftl.logs[0].rest_of_stripe(self.stream, addressing);
                u64::from(rest * addressing.pages_per_wordline)
            }
            Layout::Melded if addressing.is_shadow() => u64::MAX,
            Layout::Melded => u64::from(addressing.pages_per_wordline) - 1,
        }
    }

    /// Places as many pages as fill whole stripes of the logs' open superblocks, if the next ones do. Returns
    /// how many; nothing when there is no room.
    fn place_rows(&mut self, space: u32, page: u64, pages: u64) -> Option<u64> {
        let (addressing, stream) = (&self.ftl.addressing, self.stream);
        let (count, logs) = (addressing.logs, u64::from(addressing.logs));
        let unit = match (stream.layout(), addressing.is_shadow()) {
            (Layout::Normal, true) => addressing.subpages(),
            (Layout::Normal, false) => addressing.pages_per_stripe,
            // Consecutive pages of one wordline have no consecutive numbers in several logs.
            (Layout::Melded, is_shadow) if is_shadow || count > 1 => return Some(0),
            (Layout::Melded, _) => addressing.pages_per_wordline,
        };
        let next = self.ftl.logs.iter();
        let next = next.map(|log| log.blocks.next_position(stream));
        let aligned = next.clone().all(|next| next % unit == 0);
        let rest = addressing.pages_per_superblock - next.max()?;
        let positions = (pages / logs).min(u64::from(rest)) as u32 / unit * unit;
        if !aligned || positions == 0 {
            return Some(0);
        }
        for log_id in 0..count {
            self.make_room(log_id, stream, unit)?;
        }
        let mut starts = Vec::with_capacity(self.ftl.logs.len());
        for log in &mut self.ftl.logs {
            starts.push(log.blocks.take(stream, positions, &self.ftl.addressing)?);
        }
        let all = u64::from(positions) * logs;
        let mapped = self.map_rows(space, page, all, &starts);
        let ftl = &mut *self.ftl;
        for ((number, log), (superblock, _)) in (0..).zip(&mut ftl.logs).zip(starts) {
            // Of the pages, which go to the logs in turn.
            let before = (number + logs - page % logs) % logs;
            let valid = (mapped + logs - 1 - before) / logs;
            log.blocks.place(
                &mut ftl.melded,
                space,
                valid as u32,
                Spot::Flash(superblock),
            );
            log.blocks.programmed(superblock, positions);
        }
        (mapped == all).then_some(all)
    }

    /// Maps pages to the logs in turn, from a superblock's position in each on. Returns how many were
    /// mapped: fewer when the mapping's memory is used up.
    fn map_rows(&mut self, space: u32, first: u64, pages: u64, starts: &[(u32, u32)]) -> u64 {
        let logs = starts.len() as u64;
        let in_step = starts.iter().all(|start| *start == starts[0]);
        let mut done = 0;
        while done < pages {
            let page = first + done;
            let log_id = page % logs;
            let start = starts[log_id as usize];
            let (superblock, position) = (start.0, start.1 + (done / logs) as u32);
            let to = self.ftl.addressing.ppn(log_id as u32, superblock, position);
            // Up to where numbers are not consecutive: another superblock or position, the last log, or the
            // end of the stripe.
            let run = if in_step && first % logs == 0 {
                pages - done
            } else {
                let same = starts[log_id as usize..].iter();
                let same = same.take_while(|next| **next == start);
                (same.count() as u64).min(logs - done % logs)
            };
            let mapped = self.ftl.remap(space, page, run, Some(to));
            if mapped == 0 {
                break;
            }
            self.ftl.oracle.preloaded(to, mapped as u32);
            done += mapped;
        }
        done
    }

    /// Gathers pages like the host's streams do, and places the wordlines.
    fn place_pages(&mut self, space: u32, first: u64, end: u64) -> Option<()> {
        let layout = self.stream.layout();
        let mut runs = self.ftl.new_runs();
        let mut gathered = Vec::new();
        for page in first..end {
            let index = self.ftl.mapping.find_or_make(space, page)?;
            match layout {
                Layout::Normal => {
                    let log_id = self.ftl.addressing.log_of(page, layout);
                    if let Some(pages) = self.gather(log_id, index) {
                        self.place_wordline(log_id, pages)?;
                    }
                }
                Layout::Melded => runs.push(space, page, index, &mut gathered),
            }
            self.place_gathered(&mut gathered)?;
        }
        runs.close(&mut gathered);
        self.place_gathered(&mut gathered)?;
        for log_id in 0..self.ftl.addressing.logs {
            for pages in self.gatherers[log_id as usize].close() {
                self.place_wordline(log_id, pages)?;
            }
        }
        Some(())
    }

    /// Adds a page in the normal layout; returns what is to be placed now.
    pub(super) fn gather(
        &mut self,
        log_id: u32,
        index: MapIndex,
    ) -> Option<WordlinePages<MapIndex>> {
        let addressing = &self.ftl.addressing;
        let gatherer = &mut self.gatherers[log_id as usize];
        if addressing.is_shadow() {
            return gatherer.leftovers.complete(index, addressing.subpages());
        }
        let stripe = &mut gatherer.stripe;
        if stripe.is_empty() {
            let log = &mut self.ftl.logs[log_id as usize];
            let wordlines = log.rest_of_stripe(self.stream, addressing);
            stripe.begin(
                wordlines,
                addressing.pages_per_wordline,
                addressing.subpages(),
            );
        }
        stripe.push(index)
    }

    /// Places what runs have handed over.
    fn place_gathered(&mut self, gathered: &mut Vec<RunPages<MapIndex>>) -> Option<()> {
        let all = self.ftl.addressing.pages_per_wordline;
        for RunPages {
            log_id,
            pages,
            whole,
        } in gathered.drain(..)
        {
            if whole {
                self.place_wordline(log_id, pages)?;
                continue;
            }
            for &page in pages.as_slice() {
                let leftovers = &mut self.gatherers[log_id as usize].leftovers;
                if let Some(pages) = leftovers.complete(page, all) {
                    self.place_wordline(log_id, pages)?;
                }
            }
        }
        Some(())
    }

    /// Gives pages a wordline of the stream.
    pub(super) fn place_wordline(
        &mut self,
        log_id: u32,
        pages: WordlinePages<MapIndex>,
    ) -> Option<()> {
        let all = self.ftl.addressing.pages_per_wordline;
        self.make_room(log_id, self.stream, all)?;
        self.program(log_id, self.stream, pages)
    }

    /// Collects until a stream can be given so many pages.
    fn make_room(&mut self, log_id: u32, stream: Stream, pages: u32) -> Option<()> {
        while self.ftl.logs[log_id as usize].blocks.available(stream) < u64::from(pages) {
            self.collect(log_id)?;
        }
        Some(())
    }

    /// Gives pages a wordline of any stream.
    fn program(
        &mut self,
        log_id: u32,
        stream: Stream,
        pages: WordlinePages<MapIndex>,
    ) -> Option<()> {
        let ftl = &mut *self.ftl;
        let log = &mut ftl.logs[log_id as usize];
        let (_, place) = log.allocate(stream, &ftl.addressing)?;
        let addressing = &ftl.addressing;
        if addressing.fills_wordlines(stream.layout()) {
            // Pages that waited for a wordline are programmed, those placed are already.
            let unit = addressing.page_addr(Layout::Melded, place.position).unit;
            let all = addressing.pages_per_wordline as usize;
            let slots = std::iter::repeat_n(PRELOADED, all).collect();
            let mut due = Vec::new();
            let programs = &mut ftl.programs;
            log.fill_wordline(stream, unit, slots, addressing, programs, &mut due);
            for (token, place) in due {
                ftl.program_at_once(token, place);
            }
        } else {
            log.blocks
                .programmed(place.superblock, u32::from(place.pages));
        }
        for (n, &index) in (0..).zip(pages.as_slice()) {
            let position = place.position + ftl.addressing.offset(place.step, n);
            let ppn = ftl.addressing.ppn(log_id, place.superblock, position);
            let before = ftl.mapping.get(index);
            match (stream, before) {
                (Stream::Gc(..), Entry::Flash(from)) => ftl.oracle.moved(from, ppn),
                _ => ftl.oracle.preloaded(ppn, 1),
            }
            debug_assert!(matches!(stream, Stream::Host(..)) || before != Entry::Unmapped);
            let (entry, pages, space) = (before, 1, ftl.mapping.space_of(index));
            ftl.invalidate(space, EntryRun { entry, pages });
            ftl.mapping.set(index, Entry::Flash(ppn));
            let log = &mut ftl.logs[log_id as usize];
            log.blocks
                .place(&mut ftl.melded, space, pages, Spot::Flash(place.superblock));
        }
        Some(())
    }

    /// Collects one superblock of the log in no time. Nothing when there is none to collect.
    fn collect(&mut self, log_id: u32) -> Option<()> {
        let ftl = &mut *self.ftl;
        let pages = ftl.addressing.pages_per_superblock;
        let blocks = &mut ftl.logs[log_id as usize].blocks;
        let victim = ftl.selection.choose(blocks, pages)?;
        let superblock = blocks.get(victim);
        let needed = superblock
            .valid
            .next_multiple_of(ftl.addressing.pages_at_once(superblock.layout));
        if needed >= pages {
            return None; // padding would eat what collecting it gains
        }
        self.empty(log_id, victim)
    }

    /// Moves what a superblock holds and erases it. Nothing when there is no room for it.
    pub(super) fn empty(&mut self, log_id: u32, victim: u32) -> Option<()> {
        let ftl = &mut *self.ftl;
        let layout = ftl.logs[log_id as usize].blocks.get(victim).layout;
        let mut p2l = ftl.p2l(log_id, victim).into_vec();
        let first = ftl.addressing.ppn(log_id, victim, 0u32);
        ftl.mapping.prefetch_all(p2l.iter().copied());
        reverse_map::confirm(&mut p2l, first, ftl.addressing.logs, &ftl.mapping);
        p2l.retain(|&index| index != MapIndex::NONE);
        let stream = match p2l.first() {
            Some(&index) if ftl.is_of_map(index) && ftl.has_map_room(log_id) => Stream::MAP[1],
            _ => Stream::Gc(0, layout),
        };
        let wordlines = wordlines_of(ftl, log_id, stream, &p2l);
        let needed = wordlines.len() as u64 * u64::from(ftl.addressing.pages_at_once(layout));
        let blocks = &mut ftl.logs[log_id as usize].blocks;
        if blocks.available(stream) < needed {
            return None;
        }
        blocks.get_mut(victim).state = State::Collected;
        let placed = wordlines
            .into_iter()
            .try_for_each(|pages| self.program(log_id, stream, pages));
        let ftl = &mut *self.ftl;
        ftl.logs[log_id as usize].blocks.erased(victim);
        ftl.oracle.erased(&ftl.addressing, log_id, victim);
        placed
    }
}

/// The pages of these entries, in wordlines. The last stripe is made narrower, so that at most one
/// wordline is padded.
fn wordlines_of(
    ftl: &mut Ftl,
    log_id: u32,
    stream: Stream,
    indices: &[MapIndex],
) -> Vec<WordlinePages<MapIndex>> {
    let addressing = &ftl.addressing;
    let all = addressing.pages_per_wordline;
    let together = |pages: &[MapIndex]| pages.iter().copied().collect();
    let (mut row, rows) = match stream.layout() {
        Layout::Normal if !addressing.is_shadow() => {
            let rest = ftl.logs[log_id as usize].rest_of_stripe(stream, addressing);
            (rest, addressing.units)
        }
        layout => {
            let at_once = addressing.pages_at_once(layout) as usize;
            return indices.chunks(at_once).map(together).collect();
        }
    };
    let mut wordlines = Vec::new();
    let mut indices = indices;
    while !indices.is_empty() {
        let (pages, rest) = indices.split_at(indices.len().min((row * all) as usize));
        let mut stripe = Stripe::default();
        let width = (pages.len() as u32).div_ceil(all);
        stripe.begin(width, all, addressing.subpages());
        wordlines.extend(pages.iter().filter_map(|&index| stripe.push(index)));
        wordlines.extend(stripe.close());
        indices = rest;
        row = rows;
    }
    wordlines
}

/// A log in steady state.
struct SteadyLog {
    shuffle: StratifiedShuffle,
    /// The superblock of the oldest block.
    first: u32,
}

/// Fills a layer that was never used. Nothing when there is no room. `of_map`: the translation pages that random overwrites
/// of what is filled changed.
pub(crate) fn precondition(ftl: &mut Ftl, filled: &[Filled], of_map: &[Range<u64>]) -> Option<()> {
    // What was written in order and never again first: it is the oldest.
    for &Filled {
        space,
        pages,
        random,
    } in filled
    {
        if pages > random {
            in_order(ftl, space, random, pages, Layout::Normal)?;
        }
    }
    if let Some(space) = ftl.map_space {
        let mut logs = steady_logs(ftl, Stream::MAP[0], of_map)?;
        let mut pages = of_map.iter().cloned();
        pages.try_for_each(|pages| place_random(ftl, &mut logs, space, pages))?;
    }
    let random: Vec<_> = filled.iter().map(|filled| 0..filled.random).collect();
    let mut logs = steady_logs(ftl, Stream::Host(0, Layout::Normal), &random)?;
    let mut filled = filled.iter().zip(random);
    filled.try_for_each(|(filled, pages)| place_random(ftl, &mut logs, filled.space, pages))
}

impl Ftl {
    /// Write amplification of uniform overwrites of what is mapped; nothing where that is nothing, or leaves no room. Of so many
    /// of the pages that are programmed the translation page is programmed, too; these and data are collected in superblocks
    /// of their own:
    ///
    /// ```text
    ///   data's (1 + missed x translation pages')
    /// ```
    pub(crate) fn uniform_write_amplification(&self, missed: f64) -> Option<f64> {
        let blocks = || self.logs.iter().map(|log| &log.blocks);
        let amplification = |pages: u64, superblocks: u64| {
            let room = superblocks * u64::from(self.addressing.pages_per_superblock);
            (0 < pages && pages < room).then(|| write_amplification(pages as f64 / room as f64))
        };
        let steady = self.pacing.steady_superblocks();
        let of_data =
            blocks().map(|blocks| blocks.count.saturating_sub(steady + blocks.map_pool()));
        let of_data = of_data.map(u64::from).sum();
        let data = amplification(blocks().map(Blocks::host_pages).sum(), of_data)?;
        if missed == 0.0 {
            return Some(data);
        }
        // These have few superblocks: the pages of a victim are half a superblock younger than its oldest.
        let of_map = blocks().map(|blocks| u64::from(2 * blocks.map_pool() - 3));
        let map = amplification(
            2 * blocks().map(|blocks| blocks.of_map).sum::<u64>(),
            of_map.sum(),
        )?;
        Some(data * (1.0 + missed * map))
    }

    /// Pages that can be programmed before more is emptied, of all streams; nothing while a log has more than collection keeps.
    pub(crate) fn kept_room(&self) -> Option<u64> {
        let pages = u64::from(self.addressing.pages_per_superblock);
        let enough = u64::from(self.pacing.steady_superblocks() + 1) * pages;
        let is_low = |log: &Log| log.room(&self.addressing) <= enough;
        let rooms = self.logs.iter().map(|log| log.unfilled(&self.addressing));
        self.logs.iter().any(is_low).then(|| rooms.sum())
    }
}

/// Makes the superblocks of each log that a stream has filled with these pages.
fn steady_logs(ftl: &mut Ftl, stream: Stream, random: &[Range<u64>]) -> Option<Vec<SteadyLog>> {
    let pages_per_superblock = ftl.addressing.pages_per_superblock;
    let count = u64::from(ftl.addressing.logs);
    let mut logs = Vec::new();
    for (number, log) in (0..).zip(&mut ftl.logs) {
        // Of the first pages of a space every log takes one in turn.
        let before = |end: u64| (end + count - 1).saturating_sub(number) / count;
        let of_log = |pages: &Range<u64>| before(pages.end) - before(pages.start);
        let pages = random.iter().map(of_log).sum::<u64>();
        let superblocks = match pages {
            0 => 0,
            _ if stream.is_of_map() => log.blocks.left_of_map_pool(),
            _ => {
                let unused = log.blocks.unused().min(log.blocks.free_beside_map());
                unused.saturating_sub(ftl.pacing.steady_superblocks())
            }
        };
        if pages > u64::from(superblocks) * u64::from(pages_per_superblock) {
            return None;
        }
        let valid = valid_by_age(pages, superblocks, pages_per_superblock);
        let first = log.blocks.close_filled(stream, valid.clone());
        let seed = u64::from(ftl.set) << 32 | number;
        let shuffle = StratifiedShuffle::new(valid, pages_per_superblock, seed);
        logs.push(SteadyLog { shuffle, first });
    }
    Some(logs)
}

/// Maps pages of a space.
fn place_random(
    ftl: &mut Ftl,
    logs: &mut [SteadyLog],
    space: u32,
    pages: Range<u64>,
) -> Option<()> {
    let count = logs.len();
    let mut numbers = [Ppn(0); LEAF];
    let mut page = pages.start;
    while page < pages.end {
        // To the end of a leaf.
        let end = pages.end.min((page / LEAF as u64 + 1) * LEAF as u64);
        let numbers = &mut numbers[..(end - page) as usize];
        // Those of a log are as many pages apart as there are logs.
        for first in 0..count.min(numbers.len()) {
            let page = page + first as u64;
            let log_id = ftl.addressing.log_of(page, Layout::Normal);
            let log = &mut logs[log_id as usize];
            let mut numbers = numbers[first..].iter_mut().step_by(count);
            while numbers.len() > 0 {
                let positions = log.shuffle.next(numbers.len());
                for (&position, number) in positions.iter().zip(&mut numbers) {
                    *number = ftl.addressing.ppn(log_id, log.first, position);
                }
            }
        }
        for &number in &*numbers {
            ftl.oracle.preloaded(number, 1);
        }
        ftl.mapping.fill(space, page, numbers).then_some(())?;
        page = end;
    }
    Some(())
}
