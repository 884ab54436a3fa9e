//! A leaf: where 1024 consecutive logical pages are.
//!
//! ```text
//!   Dense  one number for each page, 4 KiB: being written, or written at random
//!   Runs   lengths and gaps of runs of consecutive numbers, in bytes: written sequentially, compacted
//!   Whole  the first number of the one run that all pages make: by one writer
//! ```

use super::runs::{self, Decode, Entry, EntryRun, LeafId, Raw, decode, entry_at, read_id};
use crate::engine::{Block, prefetch};
use crate::ftl::address::Ppn;

pub(crate) const LEAF_BITS: u32 = 10;
pub(crate) const LEAF: usize = 1 << LEAF_BITS;
/// More runs than this stay dense: to find an entry, half of the runs are decoded.
const MAX_RUNS: u16 = 128;
/// Entries of which most often none is looked for.
const TOGETHER: usize = 4;

#[derive(Debug)]
pub(crate) struct Leaf {
    body: Body,
    // Of a dense leaf. Here and not with its entries, because a write at random should miss the
    // processor's cache for the entry only.
    runs: u16,
    pub(crate) mapped: u16,
    pub(crate) buffered: u16,
    /// Is in the queue of leaves that may be compacted.
    pub(crate) queued: bool,
}

#[derive(Debug)]
enum Body {
    Dense(Block<Dense>),
    Runs(Box<[u8]>),
    Whole { id: LeafId, first: Ppn },
}

#[derive(Debug)]
struct Dense {
    raw: [u32; LEAF],
    id: LeafId,
}

impl Dense {
    /// Finds the offsets of entries that are `wanted`, and returns how many. Few are, in no order that a
    /// processor could foresee, so that there is no branch for each. On its own this has all it needs in
    /// registers.
    #[inline(never)]
    fn find(&self, offsets: &mut [u16; LEAF], wanted: impl Fn(Ppn) -> bool) -> usize {
        let mut found = 0;
        for (some, first) in self.raw.chunks_exact(TOGETHER).zip((0..).step_by(TOGETHER)) {
            if !some.iter().fold(false, |any, &raw| any | wanted(Ppn(raw))) {
                continue;
            }
            for (&raw, offset) in some.iter().zip(first..) {
                offsets[found] = offset;
                found += usize::from(wanted(Ppn(raw)));
            }
        }
        found
    }
}

impl Leaf {
    /// A leaf that maps nothing.
    pub(crate) fn empty(id: LeafId) -> Leaf {
        Leaf::new(Leaf::dense(id, [Raw::UNMAPPED.0; LEAF]), 1, 0)
    }

    /// Stands where no leaf is.
    pub(crate) fn free() -> Leaf {
        Leaf::new(Body::Runs(Box::default()), 0, 0)
    }

    /// A leaf of these runs, which cover it whole and none of which is buffered.
    pub(crate) fn of_runs(id: LeafId, runs: &[EntryRun]) -> Leaf {
        if runs.len() > usize::from(MAX_RUNS) {
            return Leaf::dense_of_runs(id, runs.iter().copied());
        }
        let body = match runs.iter().find(|run| run.pages == LEAF as u32) {
            Some(&EntryRun {
                entry: Entry::Flash(first),
                ..
            }) => Body::Whole { id, first },
            _ => Body::Runs(runs::encode(id, runs)),
        };
        Leaf::new(body, 0, 0)
    }

    /// A leaf whose pages are all on flash.
    pub(crate) fn of_numbers(id: LeafId, numbers: &[Ppn; LEAF]) -> Leaf {
        let raw = numbers.map(|number| number.0);
        // A sum and not a count of those that pass a filter, for several at a time.
        let breaks = raw.windows(2).map(|pair| u32::from(pair[0] + 1 != pair[1]));
        let runs = 1 + breaks.sum::<u32>() as u16;
        Leaf::new(Leaf::dense(id, raw), runs, LEAF as u16)
    }

    fn dense_of_runs(id: LeafId, runs: impl Iterator<Item = EntryRun>) -> Leaf {
        let mut raw = [Raw::UNMAPPED.0; LEAF];
        let (mut offset, mut mapped) = (0, 0);
        for run in runs {
            let end = offset + run.pages as usize;
            if let Entry::Flash(first) = run.entry {
                mapped += run.pages as u16;
                for (raw, number) in raw[offset..end].iter_mut().zip(first.0..) {
                    *raw = number;
                }
            }
            offset = end;
        }
        debug_assert_eq!(offset, LEAF);
        // Runs may touch each other, so they are counted anew.
        let runs = 1 + breaks(&raw);
        Leaf::new(Leaf::dense(id, raw), runs, mapped)
    }

    fn new(body: Body, runs: u16, mapped: u16) -> Leaf {
        Leaf {
            body,
            runs,
            mapped,
            buffered: 0,
            queued: false,
        }
    }

    fn dense(id: LeafId, raw: [u32; LEAF]) -> Body {
        Body::Dense(Block::new(Dense { raw, id }))
    }

    pub(crate) fn id(&self) -> LeafId {
        match &self.body {
            Body::Dense(dense) => dense.id,
            Body::Runs(bytes) => read_id(bytes).0,
            Body::Whole { id, .. } => *id,
        }
    }

    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.body, Body::Dense(_))
    }

    /// Whether a dense leaf would be smaller as runs.
    pub(crate) fn is_sequential(&self) -> bool {
        self.runs <= MAX_RUNS
    }

    #[inline]
    pub(crate) fn get(&self, offset: usize) -> Entry {
        match &self.body {
            Body::Dense(dense) => Raw(dense.raw[offset]).entry(),
            Body::Runs(bytes) => entry_at(bytes, offset as u32),
            Body::Whole { first, .. } => Entry::Flash(Ppn(first.0 + offset as u32)),
        }
    }

    /// An entry will be used soon.
    #[inline]
    pub(crate) fn prefetch(&self, offset: usize) {
        match &self.body {
            Body::Dense(dense) => prefetch(&dense.raw[offset]),
            Body::Runs(bytes) => {
                if let Some(first) = bytes.first() {
                    prefetch(first);
                }
            }
            Body::Whole { .. } => {}
        }
    }

    /// Sets one entry, in the dense form, and returns what it was.
    pub(crate) fn set(&mut self, offset: usize, raw: Raw) -> Raw {
        let before = Raw::new(self.get(offset));
        self.change(offset, before, raw);
        before
    }

    /// Sets one entry, in the dense form, that is known to be `before`.
    #[inline(always)]
    pub(crate) fn change(&mut self, offset: usize, before: Raw, raw: Raw) {
        let entries = self.entries_mut();
        debug_assert_eq!(Raw(entries[offset]), before);
        // Where there is none, what makes a run with nothing stands for it.
        let beside = |at| Raw(*entries.get(at).unwrap_or(&Raw::FIRST_SLOT));
        let (previous, next) = (beside(offset.wrapping_sub(1)), beside(offset + 1));
        entries[offset] = raw.0;
        // How many of its two neighbours the entry does not make a run with.
        let breaks = |raw: Raw| match raw.is_slot() {
            true => 2,
            false => u16::from(!raw.follows(previous)) + u16::from(!next.follows(raw)),
        };
        self.runs = self.runs - breaks(before) + breaks(raw);
        if (before == Raw::UNMAPPED) != (raw == Raw::UNMAPPED) {
            self.mapped -= u16::from(before != Raw::UNMAPPED);
            self.mapped += u16::from(raw != Raw::UNMAPPED);
        }
        self.buffered -= u16::from(before.is_slot());
        self.buffered += u16::from(raw.is_slot());
    }

    /// Puts pages that are not mapped into slots of the buffer, in the dense form. Returns whether the
    /// leaf was smaller as runs after the first of them: it has the fewest runs then.
    #[inline]
    pub(crate) fn buffer(&mut self, offset: usize, slots: &[u32]) -> bool {
        let entries = self.entries_mut();
        let (first, end) = (offset, offset + slots.len());
        let is_mapped = |raw: Option<&u32>| raw.is_some_and(|&raw| raw != Raw::UNMAPPED.0);
        let left = first.checked_sub(1).and_then(|left| entries.get(left));
        // A slot makes a run with nothing; what is not mapped does with its like.
        let before = u16::from(is_mapped(left)) + u16::from(is_mapped(entries.get(end)));
        for (entry, &slot) in entries[first..end].iter_mut().zip(slots) {
            *entry = Raw::FIRST_SLOT + slot;
        }
        let runs = self.runs - before;
        let pages = slots.len() as u16;
        self.runs = runs + breaks_of_slots(first, end);
        self.mapped += pages;
        self.buffered += pages;
        runs + breaks_of_slots(first, first + 1) <= MAX_RUNS
    }

    /// Puts pages that are in slots of the buffer on flash.
    #[inline]
    pub(crate) fn program(&mut self, offset: usize, numbers: &[Ppn]) {
        let end = offset + numbers.len();
        self.buffered -= numbers.len() as u16;
        self.runs -= breaks_of_slots(offset, end);
        let entries = self.entries_mut();
        for (entry, number) in entries[offset..end].iter_mut().zip(numbers) {
            debug_assert!(Raw(*entry).is_slot());
            *entry = number.0;
        }
        let around = &entries[offset.saturating_sub(1)..(end + 1).min(LEAF)];
        self.runs += breaks(around);
    }

    /// The entries, in the dense form.
    #[inline]
    fn entries_mut(&mut self) -> &mut [u32; LEAF] {
        if !self.is_dense() {
            self.make_dense();
        }
        let Body::Dense(dense) = &mut self.body else {
            unreachable!("it was made dense");
        };
        &mut dense.raw
    }

    /// Pages that map nothing, from `offset` on, `most` at most.
    #[inline]
    pub(crate) fn unmapped(&self, offset: usize, most: usize) -> usize {
        match &self.body {
            Body::Dense(dense) => {
                let rest = dense.raw[offset..(offset + most).min(LEAF)].iter();
                rest.take_while(|&&raw| raw == Raw::UNMAPPED.0).count()
            }
            Body::Runs(_) | Body::Whole { .. } => {
                let runs = self.runs(offset, most.min(LEAF - offset));
                let unmapped = runs.take_while(|run| run.entry == Entry::Unmapped);
                unmapped.map(|run| run.pages as usize).sum()
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn make_dense(&mut self) {
        let id = self.id();
        let dense = match &self.body {
            Body::Dense(_) => return,
            Body::Runs(bytes) => Leaf::dense_of_runs(id, decode(bytes)),
            Body::Whole { .. } => Leaf::dense_of_runs(id, self.runs(0, LEAF)),
        };
        *self = dense;
    }

    /// The runs of the pages from `offset` on, `pages` of them.
    #[inline]
    pub(crate) fn runs(&self, offset: usize, pages: usize) -> LeafRuns<'_> {
        match &self.body {
            Body::Dense(dense) => LeafRuns::Dense(&dense.raw[offset..offset + pages]),
            Body::Runs(bytes) => LeafRuns::Runs {
                runs: decode(bytes),
                skip: offset as u32,
                left: pages as u32,
            },
            Body::Whole { first, .. } => LeafRuns::Whole(Some(EntryRun {
                entry: Entry::Flash(Ppn(first.0 + offset as u32)),
                pages: pages as u32,
            })),
        }
    }

    /// The runs of pages on flash; of a dense leaf only single pages that are `wanted`, for their
    /// neighbours in a run may not be. What is no page's number is not wanted either.
    #[inline]
    pub(crate) fn for_each_flash_run(
        &self,
        wanted: impl Fn(Ppn) -> bool + Copy,
        mut visit: impl FnMut(usize, Ppn, u32),
    ) {
        match &self.body {
            Body::Dense(dense) => {
                let mut offsets = [0; LEAF];
                let found = dense.find(&mut offsets, wanted);
                for offset in offsets[..found].iter().map(|&offset| usize::from(offset)) {
                    visit(offset, Ppn(dense.raw[offset]), 1);
                }
            }
            Body::Runs(bytes) => {
                let mut offset = 0;
                for run in decode(bytes) {
                    if let Entry::Flash(first) = run.entry {
                        visit(offset, first, run.pages);
                    }
                    offset += run.pages as usize;
                }
            }
            Body::Whole { first, .. } => visit(0, *first, LEAF as u32),
        }
    }

    /// Bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        match &self.body {
            Body::Dense(_) => size_of::<Dense>(),
            Body::Runs(bytes) => bytes.len(),
            Body::Whole { .. } => 0,
        }
    }
}

/// How many entries from `first` up to `end`, and the one after them, do not make a run with the one
/// before, when those are slots.
#[inline]
fn breaks_of_slots(first: usize, end: usize) -> u16 {
    (end - first) as u16 - u16::from(first == 0) + u16::from(end < LEAF)
}

/// How many of these entries do not make a run with the one before.
#[inline]
fn breaks(entries: &[u32]) -> u16 {
    let pairs = entries.windows(2);
    pairs
        .map(|pair| u16::from(!Raw(pair[1]).follows(Raw(pair[0]))))
        .sum()
}

/// The runs of some pages of a leaf.
pub(crate) enum LeafRuns<'a> {
    Dense(&'a [u32]),
    Runs {
        runs: Decode<'a>,
        skip: u32,
        left: u32,
    },
    Whole(Option<EntryRun>),
}

impl Iterator for LeafRuns<'_> {
    type Item = EntryRun;

    #[inline]
    fn next(&mut self) -> Option<EntryRun> {
        match self {
            LeafRuns::Dense(raw) => {
                let first = Raw(*raw.first()?);
                let mut pages = 1;
                while pages < raw.len() && Raw(raw[pages]).follows(Raw(raw[pages - 1])) {
                    pages += 1;
                }
                *raw = &raw[pages..];
                Some(EntryRun {
                    entry: first.entry(),
                    pages: pages as u32,
                })
            }
            LeafRuns::Runs { runs, skip, left } => {
                if *left == 0 {
                    return None;
                }
                let mut run = runs.next()?;
                while *skip >= run.pages {
                    *skip -= run.pages;
                    run = runs.next()?;
                }
                let pages = (run.pages - *skip).min(*left);
                let entry = run.entry.plus(*skip);
                *skip = 0;
                *left -= pages;
                Some(EntryRun { entry, pages })
            }
            LeafRuns::Whole(run) => run.take().filter(|run| run.pages > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id() -> LeafId {
        LeafId {
            space: 3,
            number: 1 << 29,
        }
    }

    fn run() -> impl Strategy<Value = (Option<u32>, u32)> {
        let first = prop_oneof![
            Just(None),
            (0..5000u32).prop_map(Some),
            (0..Raw::FIRST_SLOT - 2000).prop_map(Some)
        ];
        (first, prop_oneof![Just(16), 1..200u32])
    }

    /// As much of the runs as a leaf has pages, and nothing after them.
    fn covering(runs: &[(Option<u32>, u32)]) -> Vec<EntryRun> {
        let mut covering = Vec::new();
        let mut left = LEAF as u32;
        for &(first, pages) in runs.iter().chain(&[(None, LEAF as u32)]) {
            let pages = pages.min(left);
            if pages > 0 {
                let entry = first.map_or(Entry::Unmapped, |first| Entry::Flash(Ppn(first)));
                covering.push(EntryRun { entry, pages });
                left -= pages;
            }
        }
        covering
    }

    /// What a leaf counts, and its entries.
    fn state(leaf: &Leaf) -> (u16, u16, u16, Vec<Raw>) {
        let entries = (0..LEAF).map(|offset| Raw::new(leaf.get(offset))).collect();
        (leaf.runs, leaf.mapped, leaf.buffered, entries)
    }

    proptest! {
        /// Pages that are buffered and programmed together end as those that are one by one.
        #[test]
        fn pages_together_are_as_pages_one_by_one(
            runs in prop::collection::vec(run(), 0..140),
            offset in 0..LEAF,
            most in 1..80usize,
            slot in 0..1000u32,
            programmed in 0.0..1.0,
            number in 0..1000u32,
            step in 1..3u32,
        ) {
            let covering = covering(&runs);
            let (mut together, mut single) =
                (Leaf::of_runs(id(), &covering), Leaf::of_runs(id(), &covering));
            let pages = together.unmapped(offset, most);
            let is_unmapped = |at: &usize| single.get(*at) == Entry::Unmapped;
            let end = (offset + most).min(LEAF);
            prop_assert_eq!(pages, (offset..end).take_while(is_unmapped).count());
            if pages == 0 {
                return Ok(());
            }

            let slots: Vec<u32> = (slot..).take(pages).collect();
            let mut sequential = Vec::new();
            for (at, &slot) in (offset..).zip(&slots) {
                single.set(at, Raw::new(Entry::Buffered(slot)));
                sequential.push(single.is_sequential());
            }
            prop_assert_eq!(together.buffer(offset, &slots), sequential.contains(&true));
            prop_assert_eq!(state(&together), state(&single));

            let skipped = (programmed * pages as f64) as usize;
            let numbers = (number..).step_by(step as usize).take(pages - skipped).map(Ppn);
            for (at, ppn) in (offset + skipped..).zip(numbers.clone()) {
                single.set(at, Raw::new(Entry::Flash(ppn)));
            }
            let numbers: Vec<Ppn> = numbers.collect();
            together.program(offset + skipped, &numbers);
            prop_assert_eq!(state(&together), state(&single));
        }

        /// Runs in, the same entries out, in both forms and back.
        #[test]
        fn both_forms_hold_the_same(runs in prop::collection::vec(run(), 0..140)) {
            let covering = covering(&runs);
            let expected: Vec<Entry> = covering
                .iter()
                .flat_map(|run| (0..run.pages).map(|page| run.entry.plus(page)))
                .collect();
            let mut leaf = Leaf::of_runs(id(), &covering);
            for round in 0..2 {
                prop_assert_eq!(leaf.id(), id());
                for (offset, &entry) in expected.iter().enumerate() {
                    prop_assert_eq!(leaf.get(offset), entry);
                }
                let (from, pages) = (LEAF / 3, LEAF / 2);
                let some: Vec<Entry> = leaf
                    .runs(from, pages)
                    .flat_map(|run| (0..run.pages).map(move |page| run.entry.plus(page)))
                    .collect();
                prop_assert_eq!(&some, &expected[from..from + pages]);
                if round == 0 {
                    let last = Raw::new(expected[LEAF - 1]);
                    prop_assert_eq!(leaf.set(LEAF - 1, last), last);
                    prop_assert!(leaf.is_dense());
                }
            }
        }
    }

    #[test]
    fn writers_that_take_turns_cost_two_bytes_a_run() {
        let runs: Vec<EntryRun> = (0..64)
            .map(|piece| EntryRun {
                entry: Entry::Flash(Ppn(1_000_000 + piece * 16 * 7)),
                pages: 16,
            })
            .collect();
        assert!(Leaf::of_runs(id(), &runs).bytes() < 2 * 64 + 16);
    }
}
