//! Data that was written long ago: the same layout, in no simulated time.

use super::blocks::State;
use super::lane::Lane;
use super::layer::Ftl;
use super::mapping::{Entry, Place, Run};
use super::numbering::Ppn;
use super::order::PLACED;
use super::scheduler::{EMPTY, Fill, Partial, Stripe};
use super::stream::{Layout, Stream};
use crate::engine::NIL;

/// What a preload gathers for a lane, apart from what the host's streams do; fills are of places.
#[derive(Debug, Default)]
struct Gathering {
    stripe: Stripe,
    leftovers: Partial,
}

impl Ftl {
    /// Maps the pages to flash as if the host had written them in order and flushed. Nothing is
    /// counted: that was before the counting began. False when there is no room for all of them.
    pub(crate) fn preload(&mut self, space: u32, first: u64, end: u64, layout: Layout) -> bool {
        if !self.has_room(space, first, end, layout) {
            return false;
        }
        let mut page = first;
        while page < end {
            match self.preload_at_once(space, page, end - page, layout) {
                None => return false,
                // Up to where what follows is again worth placing at once.
                Some(0) => {
                    let pages = (end - page).min(self.rest_of_row_pages(layout));
                    if !self.preload_by_page(space, page, page + pages, layout) {
                        return false;
                    }
                    page += pages;
                }
                Some(pages) => page += pages,
            }
        }
        true
    }

    /// Pages that can be placed one by one before the next row begins.
    fn rest_of_row_pages(&mut self, layout: Layout) -> u64 {
        if self.numbering.lanes > 1 {
            return u64::MAX; // lanes begin with whole wordlines: it is the end, or melded
        }
        match layout {
            Layout::Normal => {
                let stream = Stream::Host(0, layout);
                let rest = self.lanes[0].rest_of_row(stream, &self.numbering);
                u64::from(rest * self.numbering.pages_per_wordline)
            }
            Layout::Melded if self.numbering.is_shadow() => u64::MAX,
            Layout::Melded => u64::from(self.numbering.pages_per_wordline) - 1,
        }
    }

    /// Places as many pages as fill whole rows of the lanes' open groups, if the next ones do. `None`
    /// when there is no room.
    fn preload_at_once(
        &mut self,
        space: u32,
        page: u64,
        pages: u64,
        layout: Layout,
    ) -> Option<u64> {
        let numbering = &self.numbering;
        let lanes = numbering.lanes;
        let stream = Stream::Host(0, layout);
        let unit = match layout {
            Layout::Normal if numbering.is_shadow() => 1,
            Layout::Normal => numbering.pages_per_row,
            // Consecutive pages of one wordline have no consecutive numbers in several lanes.
            Layout::Melded if numbering.is_shadow() || lanes > 1 => return Some(0),
            Layout::Melded => numbering.pages_per_wordline,
        };
        let next = |lane: &Lane| lane.blocks.next_position(stream);
        let aligned = self.lanes.iter().all(|lane| next(lane) % unit == 0);
        let rest = numbering.pages_per_group - self.lanes.iter().map(next).max()?;
        let positions = (pages / u64::from(lanes)).min(u64::from(rest)) as u32 / unit * unit;
        if !aligned || positions == 0 {
            return Some(0);
        }
        for lane in 0..lanes {
            self.make_room(lane, stream, unit)?;
        }
        let mut starts = Vec::with_capacity(lanes as usize);
        for lane in &mut self.lanes {
            let taken = lane.blocks.take(stream, positions, &self.numbering)?;
            debug_assert_eq!(taken.pages, positions);
            starts.push((taken.group, taken.position));
        }
        let all = u64::from(positions) * u64::from(lanes);
        let mapped = self.map_rows(space, page, all, &starts);
        let lanes = u64::from(lanes);
        for (number, (lane, &(group, _))) in (0..).zip(self.lanes.iter_mut().zip(&starts)) {
            // Of the pages, which go to the lanes in turn.
            let before = (number + lanes - page % lanes) % lanes;
            let valid = (mapped + lanes - 1 - before) / lanes;
            lane.live += valid;
            lane.blocks.validate(group, valid as u32);
            lane.blocks.programmed(group, positions);
        }
        (mapped == all).then_some(all)
    }

    /// Maps pages to the lanes in turn, from a group's position in each on. Returns how many were
    /// mapped: fewer when the mapping's memory is used up.
    fn map_rows(&mut self, space: u32, first: u64, pages: u64, starts: &[(u32, u32)]) -> u64 {
        let lanes = starts.len() as u64;
        let in_step = starts.iter().all(|start| *start == starts[0]);
        let mut done = 0;
        while done < pages {
            let page = first + done;
            let lane = page % lanes;
            let (group, position) = starts[lane as usize];
            let row = (done / lanes) as u32;
            let to = self.numbering.number(lane as u32, group, position + row);
            // Up to where numbers are not consecutive: another group or position, the last lane, or the
            // end of the row.
            let run = if in_step && first % lanes == 0 {
                pages - done
            } else {
                let same = starts[lane as usize..].iter();
                let same = same.take_while(|start| **start == (group, position));
                (same.count() as u64).min(lanes - done % lanes)
            };
            let mapped = self.remap(space, page, run, Some(to));
            if mapped == 0 {
                break;
            }
            #[cfg(test)]
            for page in 0..mapped as u32 {
                self.witness.preloaded(Ppn(to.0 + page));
            }
            done += mapped;
        }
        done
    }

    /// Gathers pages like the host's streams do, and places the wordlines.
    fn preload_by_page(&mut self, space: u32, first: u64, end: u64, layout: Layout) -> bool {
        let stream = Stream::Host(0, layout);
        let all = self.numbering.pages_per_wordline;
        let mut runs = self.new_runs();
        let mut lanes: Vec<Gathering> = Vec::new();
        lanes.resize_with(self.numbering.lanes as usize, Gathering::default);
        let mut gathered = Vec::new();
        for page in first..end {
            let Some(place) = self.mapping.find_or_make(space, page) else {
                return false;
            };
            match layout {
                Layout::Normal if self.numbering.is_shadow() => {
                    let lane = self.numbering.lane_of(page, layout);
                    let mut fill = EMPTY;
                    fill[0] = place.0;
                    if !self.place_now(lane, stream, fill) {
                        return false;
                    }
                }
                Layout::Normal => {
                    let lane = self.numbering.lane_of(page, layout);
                    let stripe = &mut lanes[lane as usize].stripe;
                    if stripe.is_empty() {
                        let log = &mut self.lanes[lane as usize];
                        stripe.begin(log.rest_of_row(stream, &self.numbering));
                    }
                    if let Some(fill) = stripe.push(place.0, all) {
                        if !self.place_now(lane, stream, fill) {
                            return false;
                        }
                    }
                }
                Layout::Melded => runs.push(space, page, place.0, |pages| gathered.push(pages)),
            }
            for pages in gathered.drain(..) {
                if pages.whole && !self.place_now(pages.lane, stream, pages.pages) {
                    return false;
                }
                if !pages.whole && !self.preload_leftovers(&mut lanes, pages.lane, pages.pages) {
                    return false;
                }
            }
        }
        let mut rest = Vec::new();
        runs.close(|pages| rest.push(pages));
        for pages in rest {
            if !self.preload_leftovers(&mut lanes, pages.lane, pages.pages) {
                return false;
            }
        }
        for (lane, mut gathering) in (0..).zip(lanes) {
            let mut fills = Vec::new();
            gathering.stripe.close(all, |fill| fills.push(fill));
            fills.extend(gathering.leftovers.take());
            for fill in fills {
                if !self.place_now(lane, stream, fill) {
                    return false;
                }
            }
        }
        true
    }

    fn preload_leftovers(&mut self, lanes: &mut [Gathering], lane: u32, pages: Fill) -> bool {
        let all = self.numbering.pages_per_wordline;
        let leftovers = &mut lanes[lane as usize].leftovers;
        pages.into_iter().filter(|&page| page != NIL).all(|page| {
            let complete = leftovers.push(page, all);
            complete.is_none_or(|fill| self.place_now(lane, Stream::Host(0, Layout::Melded), fill))
        })
    }

    /// Collects until the stream can be given so many pages. `None` when that cannot be.
    fn make_room(&mut self, lane: u32, stream: Stream, pages: u32) -> Option<()> {
        while self.lanes[lane as usize].blocks.available(stream) < u64::from(pages) {
            self.collect_now(lane).then_some(())?;
        }
        Some(())
    }

    /// Gives a fill, whose pages are places in the mapping, a wordline of a stream of the host's.
    fn place_now(&mut self, lane: u32, stream: Stream, fill: Fill) -> bool {
        let all = self.numbering.pages_per_wordline;
        self.make_room(lane, stream, all).is_some() && self.program_now(lane, stream, fill)
    }

    /// Gives a fill, whose pages are places in the mapping, a wordline.
    fn program_now(&mut self, lane: u32, stream: Stream, fill: Fill) -> bool {
        let numbering = &self.numbering;
        let layout = stream.layout();
        let by_page = numbering.is_shadow() && layout == Layout::Normal;
        let pages = if by_page {
            1
        } else {
            numbering.pages_per_wordline
        };
        let blocks = &mut self.lanes[lane as usize].blocks;
        let Some(taken) = blocks.take(stream, pages, numbering) else {
            return false;
        };
        let (group, position) = (taken.group, taken.position);
        let wordline = position / numbering.pages_per_wordline;
        let (first, step) = match layout {
            Layout::Normal if !by_page => (
                wordline / numbering.units * numbering.pages_per_row + wordline % numbering.units,
                numbering.units,
            ),
            _ => (position, 1),
        };
        if numbering.is_shadow() && layout == Layout::Melded {
            self.place_open_wordline(lane, stream, position);
        } else {
            blocks.programmed(group, pages);
        }
        for (index, &place) in (0..pages).zip(&fill) {
            if place == NIL {
                continue;
            }
            let ppn = self.numbering.number(lane, group, first + index * step);
            self.move_now(lane, stream, Place(place), ppn);
            self.lanes[lane as usize].blocks.validate(group, 1);
        }
        true
    }

    /// The data of `place` is now at `ppn`.
    fn move_now(&mut self, lane: u32, stream: Stream, place: Place, ppn: Ppn) {
        let before = self.mapping.get(place);
        #[cfg(test)]
        match (stream, before) {
            (Stream::Gc(_), Entry::Flash(from)) => self.witness.moved(from, ppn),
            _ => self.witness.preloaded(ppn),
        }
        debug_assert!(matches!(stream, Stream::Host(..)) || before != Entry::Unmapped);
        self.forget(Run {
            entry: before,
            pages: 1,
        });
        self.lanes[lane as usize].live += 1;
        self.mapping.set(place, Entry::Flash(ppn));
    }

    /// In shadow order: pages that waited for a wordline are programmed, those placed are already.
    fn place_open_wordline(&mut self, lane: u32, stream: Stream, position: u32) {
        let unit = self.numbering.spot(Layout::Melded, position).unit;
        let fill = [PLACED; EMPTY.len()];
        self.fill_open_wordline(lane, stream, unit, fill, &mut |ftl, program, _| {
            ftl.complete(program);
        });
    }

    /// Collects one group of the lane in no time. False when there is none to collect.
    fn collect_now(&mut self, lane: u32) -> bool {
        let pages = self.numbering.pages_per_group;
        let Some(victim) = self.choose_victim(lane, pages) else {
            return false;
        };
        let layout = self.lanes[lane as usize].blocks.get(victim).layout;
        let stream = Stream::Gc(layout);
        let mut places = self.noted_places(lane, victim).into_vec();
        self.confirm(lane, victim, 0, &mut places);
        places.retain(|&place| place != Place::NONE);
        let fills = self.fills_of(lane, stream, &places);
        let all = self.numbering.pages_per_wordline;
        let needed = match self.numbering.is_shadow() && layout == Layout::Normal {
            true => fills.len() as u64,
            false => fills.len() as u64 * u64::from(all),
        };
        let log = &mut self.lanes[lane as usize];
        if needed >= u64::from(pages) || log.blocks.available(stream) < needed {
            return false; // padding would eat what collecting it gains
        }
        log.blocks.get_mut(victim).state = State::Collected;
        let placed = fills
            .into_iter()
            .all(|fill| self.program_now(lane, stream, fill));
        self.lanes[lane as usize].blocks.erased(victim);
        #[cfg(test)]
        self.witness_erased(lane, victim);
        placed
    }

    /// The pages at these places, in wordlines. The last stripe is made narrower, so that at most
    /// one wordline is padded.
    fn fills_of(&mut self, lane: u32, stream: Stream, places: &[Place]) -> Vec<Fill> {
        let all = self.numbering.pages_per_wordline;
        let layout = stream.layout();
        let mut fills: Vec<Fill> = Vec::new();
        let mut row = match layout {
            Layout::Normal if self.numbering.is_shadow() => {
                return places
                    .iter()
                    .map(|place| [place.0, NIL, NIL, NIL])
                    .collect();
            }
            Layout::Normal => self.lanes[lane as usize].rest_of_row(stream, &self.numbering),
            Layout::Melded => 1,
        };
        let mut places = places;
        while !places.is_empty() {
            let (stripe, rest) = places.split_at(places.len().min((row * all) as usize));
            let mut gathering = Stripe::default();
            gathering.begin((stripe.len() as u32).div_ceil(all));
            fills.extend(
                stripe
                    .iter()
                    .filter_map(|place| gathering.push(place.0, all)),
            );
            gathering.close(all, |fill| fills.push(fill));
            places = rest;
            if layout == Layout::Normal {
                row = self.numbering.units;
            }
        }
        fills
    }
}
