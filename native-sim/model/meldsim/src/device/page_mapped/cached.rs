//! A mapping of which a part is cached: lines of consecutive entries, the least recently used evicted first.
//!
//! ```text
//!   look, fetched --> lines (LRU) --evicted--> changed? its translation page is due
//!   changed       --> not cached?              its translation page is due, to be read and merged
//!   due           --> written: what has changed of the page is on flash
//! ```
//!
//! It is the cached mapping table of DFTL (Gupta and others, ASPLOS 2009), where a line is one entry; there the directory of
//! translation pages is in SRAM, as it is here. LRU is what MQSim has, and what its hit share is known of in closed form
//! (Che's approximation). What has changed is written when it is evicted, with all that has changed of its translation page
//! (`map_update`), or, of what is not cached when it changes, at once: that is what collection moves.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Range;

use super::map::{Map, MapCounts, TranslationPage};
use crate::engine::NIL;
use crate::profile::{MapUpdate, Profile};

/// Lines in the order of their last use.
#[derive(Debug)]
struct Lru {
    /// Where each line is.
    places: HashMap<u64, u32>,
    /// The line, and the places of the one used just after it and just before; in a ring, whose first place is of none.
    ring: Vec<(u64, [u32; 2])>,
    capacity: usize,
}

const NEWER: usize = 0;
const OLDER: usize = 1;

impl Lru {
    fn new(capacity: u64) -> Lru {
        Lru {
            places: HashMap::new(),
            ring: vec![(u64::MAX, [0, 0])],
            capacity: capacity as usize,
        }
    }

    fn contains(&self, line: u64) -> bool {
        self.places.contains_key(&line)
    }

    fn unlink(&mut self, place: u32) {
        let [newer, older] = self.ring[place as usize].1;
        self.ring[newer as usize].1[OLDER] = older;
        self.ring[older as usize].1[NEWER] = newer;
    }

    fn link_newest(&mut self, place: u32) {
        let before = std::mem::replace(&mut self.ring[0].1[OLDER], place);
        self.ring[before as usize].1[NEWER] = place;
        self.ring[place as usize].1 = [0, before];
    }

    /// A line is used, if it is there.
    fn uses(&mut self, line: u64) -> bool {
        let Some(&place) = self.places.get(&line) else {
            return false;
        };
        self.unlink(place);
        self.link_newest(place);
        true
    }

    /// Adds a line that is not there. Returns the one that had to go.
    fn insert(&mut self, line: u64) -> Option<u64> {
        let (place, evicted) = match self.places.len() < self.capacity {
            true => {
                self.ring.push((line, [NIL, NIL]));
                (self.ring.len() as u32 - 1, None)
            }
            false => {
                let oldest = self.ring[0].1[NEWER];
                self.unlink(oldest);
                let evicted = std::mem::replace(&mut self.ring[oldest as usize].0, line);
                self.places.remove(&evicted);
                (oldest, Some(evicted))
            }
        };
        self.places.insert(line, place);
        self.link_newest(place);
        evicted
    }
}

/// The cached mapping of an NVM set.
#[derive(Debug)]
pub(in crate::device) struct Cached {
    entries_per_line: u64,
    lines_per_page: u64,
    /// Of each space of the host's the first translation page, and its pages.
    spaces: Vec<(u64, u64)>,
    pages: u64,
    lru: Lru,
    is_lazy: bool,
    /// Lines that have changed and are not on flash; cached or not.
    changed: BTreeSet<u64>,
    /// Translation pages to be written, in order; and whether all of each is at hand.
    due: VecDeque<u64>,
    is_whole: BTreeMap<u64, bool>,
    counts: MapCounts,
}

impl Cached {
    /// The line of a page. Spaces of the host's are numbered from 1, behind that of the translation pages.
    fn line(&self, space: u32, page: u64) -> u64 {
        let (first, _) = self.spaces[space as usize - 1];
        first * self.lines_per_page + page / self.entries_per_line
    }

    /// The first page of a space whose entry is not in the line of this one.
    fn end_of_line(&self, page: u64) -> u64 {
        (page / self.entries_per_line + 1) * self.entries_per_line
    }

    fn entries_per_page(&self) -> u64 {
        self.entries_per_line * self.lines_per_page
    }

    fn lines_of(&self, page: u64) -> Range<u64> {
        page * self.lines_per_page..(page + 1) * self.lines_per_page
    }

    /// A translation page is to be written. What is whole stays so until then: its entries are kept.
    fn is_due(&mut self, page: u64, is_whole: bool) {
        let due = &mut self.due;
        let known = self.is_whole.entry(page).or_insert_with(|| {
            due.push_back(page);
            false
        });
        *known |= is_whole;
    }

    fn insert(&mut self, line: u64) {
        if let Some(evicted) = self.lru.insert(line) {
            self.counts.evictions += 1;
            if self.changed.contains(&evicted) {
                self.counts.write_backs += 1;
                self.is_due(evicted / self.lines_per_page, self.lines_per_page == 1);
            }
        }
    }

    fn change(&mut self, line: u64) {
        self.changed.insert(line);
        if !self.lru.contains(line) {
            self.is_due(line / self.lines_per_page, false);
        }
    }
}

impl Map for Cached {
    type Miss = TranslationPage;
    const HAS_PAGES: bool = true;

    fn new(profile: &Profile) -> Cached {
        let entries_per_line = profile.map_line_entries();
        Cached {
            entries_per_line,
            lines_per_page: profile.map_entries_per_page() / entries_per_line,
            spaces: Vec::new(),
            pages: 0,
            lru: Lru::new(profile.map_cache_lines()),
            is_lazy: profile.ftl.map_update == MapUpdate::Lazy,
            changed: BTreeSet::new(),
            due: VecDeque::new(),
            is_whole: BTreeMap::new(),
            counts: MapCounts::default(),
        }
    }

    fn add_space(&mut self, pages: u64) {
        self.spaces.push((self.pages, pages));
        self.pages += pages.div_ceil(self.entries_per_page());
    }

    fn pages(&self) -> u64 {
        self.pages
    }

    fn pages_of(&self, space: u32, pages: Range<u64>) -> Range<u64> {
        let page = |page| self.line(space, page) / self.lines_per_page;
        match pages.is_empty() {
            true => 0..0,
            false => page(pages.start)..page(pages.end - 1) + 1,
        }
    }

    fn look(&mut self, space: u32, pages: Range<u64>) -> Result<u64, TranslationPage> {
        let mut next = pages.start;
        while next < pages.end && self.lru.uses(self.line(space, next)) {
            next = self.end_of_line(next);
        }
        if next == pages.start {
            let line = self.line(space, next);
            return Err(TranslationPage(line / self.lines_per_page));
        }
        let found = next.min(pages.end) - pages.start;
        self.counts.lookups += found;
        Ok(found)
    }

    fn fetched(&mut self, space: u32, pages: Range<u64>) -> u64 {
        let of_page = self.entries_per_page();
        let end = pages.end.min((pages.start / of_page + 1) * of_page);
        let mut next = pages.start;
        while next < end {
            let line = self.line(space, next);
            // Another command may have waited for it, too.
            if !self.lru.uses(line) {
                self.insert(line);
            }
            self.counts.misses += 1;
            next = self.end_of_line(next);
        }
        self.counts.lookups += end - pages.start;
        end - pages.start
    }

    fn changed(&mut self, space: u32, page: u64) {
        self.change(self.line(space, page));
    }

    fn deallocated(
        &mut self,
        space: u32,
        pages: Range<u64>,
        exists: impl Fn(u64) -> bool,
    ) -> Range<u64> {
        let of_page = self.entries_per_page();
        let (first, size) = self.spaces[space as usize - 1];
        // Whole translation pages; the last of a space ends with it.
        let end = match pages.end == size {
            true => size.div_ceil(of_page),
            false => pages.end / of_page,
        };
        let whole = pages.start.div_ceil(of_page)..end;
        let mut next = pages.start;
        while next < pages.end {
            let page = next / of_page;
            if whole.contains(&page) {
                next = (whole.end * of_page).min(pages.end);
                continue;
            }
            let of_it = self.lines_of(first + page);
            let was_changed = self.changed.range(of_it).next().is_some();
            if was_changed || exists(first + page) {
                self.change(self.line(space, next));
                next = self.end_of_line(next);
            } else {
                next = (page + 1) * of_page;
            }
        }
        if whole.is_empty() {
            return 0..0;
        }
        let gone = first + whole.start..first + whole.end;
        let lines = gone.start * self.lines_per_page..gone.end * self.lines_per_page;
        while let Some(&line) = self.changed.range(lines.clone()).next() {
            self.changed.remove(&line);
        }
        gone
    }

    fn due(&self, nth: usize) -> Option<TranslationPage> {
        self.due.get(nth).copied().map(TranslationPage)
    }

    fn pages_due(&self) -> usize {
        self.due.len()
    }

    fn is_changed(&self, page: TranslationPage) -> bool {
        let mut lines = self.changed.range(self.lines_of(page.0));
        lines.next().is_some()
    }

    fn holds(&self, page: TranslationPage) -> bool {
        self.is_whole.get(&page.0) == Some(&true)
    }

    fn merges(&mut self, page: TranslationPage) {
        if let Some(is_whole) = self.is_whole.get_mut(&page.0) {
            *is_whole = true;
        }
    }

    fn written(&mut self) {
        let Some(page) = self.due.pop_front() else {
            return;
        };
        self.is_whole.remove(&page);
        let mut lines = self.lines_of(page);
        while let Some(&line) = self.changed.range(lines.clone()).next() {
            lines.start = line + 1;
            if !(self.is_lazy && self.lru.contains(line)) {
                self.changed.remove(&line);
            }
        }
    }

    fn counts(&self) -> MapCounts {
        self.counts
    }

    fn missed(&self, pages: u64) -> f64 {
        let lines = pages.div_ceil(self.entries_per_line).max(1);
        1.0 - (self.lru.capacity as f64 / lines as f64).min(1.0)
    }

    fn memory(&self) -> u64 {
        let lines = self.lru.ring.capacity() * size_of::<(u64, [u32; 2])>()
            + self.lru.places.capacity() * size_of::<(u64, u32)>();
        let changed = self.changed.len() * size_of::<u64>();
        let due = self.due.capacity() * size_of::<u64>() + self.is_whole.len() * 16;
        (lines + changed + due) as u64
    }
}
