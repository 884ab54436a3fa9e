//! A leaf: where 1024 consecutive logical pages are.
//!
//! ```text
//!   Dense  one number for each page, 4 KiB: being written, or written at random
//!   Long   the same in 5 KiB, in sets of more pages than 32 bits number
//!   Runs   lengths and gaps of runs of consecutive numbers, in bytes: written sequentially, compacted
//!   Whole  the first number of the one run that all pages make: by one writer
//! ```

use std::ops::Range;

use super::runs::{self, Decode, Entry, EntryRun, LeafId, Long, Raw, decode, entry_at, read_id};
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
    // Here and not with the entries, because a write at random should miss the processor's cache for the entry only.
    pub(crate) counts: Counts,
    /// Is in the queue of leaves that may be compacted.
    pub(crate) queued: bool,
    /// Its dense form is long.
    is_long: bool,
}

/// What a leaf in the dense form counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    runs: u16,
    pub(crate) mapped: u16,
    pub(crate) buffered: u16,
}

#[derive(Debug)]
enum Body {
    Dense(Block<Dense<u32>>),
    Long(Box<Dense<Long>>),
    Runs(Box<[u8]>),
    Whole { id: LeafId, first: Ppn },
}

#[derive(Debug)]
struct Dense<N> {
    raw: [N; LEAF],
    id: LeafId,
}

impl Body {
    /// Where a page is. Not inlined: beside it the way of a dense leaf, which is short, would not be either.
    #[inline(never)]
    fn get(&self, offset: usize) -> Entry {
        match self {
            Body::Dense(dense) => dense.raw[offset].entry(),
            Body::Long(dense) => dense.raw[offset].entry(),
            Body::Runs(bytes) => entry_at(bytes, offset as u32),
            Body::Whole { first, .. } => Entry::Flash(Ppn(first.0 + offset as u64)),
        }
    }
}

/// Does something with a leaf in the dense form, of either width, and something else with others.
macro_rules! if_dense {
    ($leaf:ident, $dense:ident => $then:expr, $otherwise:expr) => {
        match $leaf.body {
            Body::Dense(ref mut $dense) => $then,
            Body::Long(ref mut $dense) => $then,
            _ => $otherwise,
        }
    };
}

/// The dense form, of the width that entries of the set have.
macro_rules! dense {
    ($is_long:expr, $dense:expr) => {
        match $is_long {
            false => Body::Dense(Block::new($dense)),
            true => Body::Long(Box::new($dense)),
        }
    };
}

impl<N: Raw> Dense<N> {
    fn empty(id: LeafId) -> Dense<N> {
        let raw = [N::UNMAPPED; LEAF];
        Dense { raw, id }
    }

    fn of_numbers(id: LeafId, numbers: &[Ppn; LEAF]) -> Dense<N> {
        let raw = numbers.map(|number| N::from_number(number.0));
        Dense { raw, id }
    }

    /// The entries of these runs, which cover a leaf whole and none of which is buffered.
    fn of_runs(id: LeafId, runs: impl Iterator<Item = EntryRun>) -> Dense<N> {
        let mut dense = Dense::empty(id);
        let mut offset = 0;
        for run in runs {
            let end = offset + run.pages as usize;
            if let Entry::Flash(first) = run.entry {
                for (raw, number) in dense.raw[offset..end].iter_mut().zip(first.0..) {
                    *raw = N::from_number(number);
                }
            }
            offset = end;
        }
        debug_assert_eq!(offset, LEAF);
        dense
    }

    /// What is counted of entries none of which is buffered.
    fn counts(&self) -> Counts {
        let unmapped = self.raw.iter().filter(|&&raw| raw == N::UNMAPPED);
        Counts {
            runs: 1 + breaks(&self.raw),
            mapped: (LEAF - unmapped.count()) as u16,
            buffered: 0,
        }
    }

    /// Finds the offsets of entries that are `wanted`, and returns how many. Few are, in no order that a
    /// processor could foresee, so that there is no branch for each. On its own this has all it needs in
    /// registers.
    #[inline(never)]
    fn find(&self, offsets: &mut [u16; LEAF], wanted: impl Fn(Ppn) -> bool) -> usize {
        let mut found = 0;
        for (some, first) in self.raw.chunks_exact(TOGETHER).zip((0..).step_by(TOGETHER)) {
            let wanted = |raw: N| wanted(Ppn(raw.number()));
            if !some.iter().fold(false, |any, &raw| any | wanted(raw)) {
                continue;
            }
            for (&raw, offset) in some.iter().zip(first..) {
                offsets[found] = offset;
                found += usize::from(wanted(raw));
            }
        }
        found
    }

    fn unmapped(&self, offsets: Range<usize>) -> usize {
        let rest = self.raw[offsets].iter();
        rest.take_while(|&&raw| raw == N::UNMAPPED).count()
    }

    /// Visits single entries that are `wanted`.
    #[inline]
    fn for_each(
        &self,
        wanted: impl Fn(Ppn) -> bool + Copy,
        mut visit: impl FnMut(usize, Ppn, u32),
    ) {
        let mut offsets = [0; LEAF];
        let found = self.find(&mut offsets, wanted);
        for offset in offsets[..found].iter().map(|&offset| usize::from(offset)) {
            visit(offset, Ppn(self.raw[offset].number()), 1);
        }
    }

    /// Sets one entry that is known to be `before`.
    #[inline(always)]
    fn change(&mut self, counts: &mut Counts, offset: usize, before: Entry, entry: Entry) {
        let entries = &mut self.raw;
        let (before, raw) = (N::new(before), N::new(entry));
        debug_assert_eq!(entries[offset], before);
        // Where there is none, what makes a run with nothing stands for it.
        let none = N::from_number(N::FIRST_SLOT);
        let beside = |at| *entries.get(at).unwrap_or(&none);
        let (previous, next) = (beside(offset.wrapping_sub(1)), beside(offset + 1));
        entries[offset] = raw;
        // How many of its two neighbours the entry does not make a run with.
        let breaks = |raw: N| match raw.is_slot() {
            true => 2,
            false => u16::from(!raw.follows(previous)) + u16::from(!next.follows(raw)),
        };
        counts.runs = counts.runs - breaks(before) + breaks(raw);
        if (before == N::UNMAPPED) != (raw == N::UNMAPPED) {
            counts.mapped -= u16::from(before != N::UNMAPPED);
            counts.mapped += u16::from(raw != N::UNMAPPED);
        }
        counts.buffered -= u16::from(before.is_slot());
        counts.buffered += u16::from(raw.is_slot());
    }

    /// As [`Leaf::buffer`].
    #[inline]
    fn buffer(&mut self, counts: &mut Counts, offset: usize, slots: &[u32]) -> bool {
        let entries = &mut self.raw;
        let (first, end) = (offset, offset + slots.len());
        let is_mapped = |raw: Option<&N>| raw.is_some_and(|&raw| raw != N::UNMAPPED);
        let left = first.checked_sub(1).and_then(|left| entries.get(left));
        // A slot makes a run with nothing; what is not mapped does with its like.
        let before = u16::from(is_mapped(left)) + u16::from(is_mapped(entries.get(end)));
        for (entry, &slot) in entries[first..end].iter_mut().zip(slots) {
            *entry = N::new(Entry::Buffered(slot));
        }
        let runs = counts.runs - before;
        let pages = slots.len() as u16;
        counts.runs = runs + breaks_of_slots(first, end);
        counts.mapped += pages;
        counts.buffered += pages;
        runs + breaks_of_slots(first, first + 1) <= MAX_RUNS
    }

    /// As [`Leaf::program`].
    #[inline]
    fn program(&mut self, counts: &mut Counts, offset: usize, numbers: &[Ppn]) {
        let end = offset + numbers.len();
        counts.buffered -= numbers.len() as u16;
        counts.runs -= breaks_of_slots(offset, end);
        for (entry, number) in self.raw[offset..end].iter_mut().zip(numbers) {
            debug_assert!(entry.is_slot());
            *entry = N::from_number(number.0);
        }
        let around = &self.raw[offset.saturating_sub(1)..(end + 1).min(LEAF)];
        counts.runs += breaks(around);
    }
}

impl Leaf {
    /// A leaf that maps nothing.
    pub(crate) fn empty(id: LeafId, is_long: bool) -> Leaf {
        let counts = Counts {
            runs: 1,
            ..Counts::default()
        };
        Leaf::new(dense!(is_long, Dense::empty(id)), is_long, counts)
    }

    /// Stands where no leaf is.
    pub(crate) fn free() -> Leaf {
        Leaf::new(Body::Runs(Box::default()), false, Counts::default())
    }

    /// A leaf of these runs, which cover it whole and none of which is buffered.
    pub(crate) fn of_runs(id: LeafId, is_long: bool, runs: &[EntryRun]) -> Leaf {
        if runs.len() > usize::from(MAX_RUNS) {
            return Leaf::dense_of_runs(id, is_long, runs.iter().copied());
        }
        let body = match runs.iter().find(|run| run.pages == LEAF as u32) {
            Some(&EntryRun {
                entry: Entry::Flash(first),
                ..
            }) => Body::Whole { id, first },
            _ => Body::Runs(runs::encode(id, runs)),
        };
        Leaf::new(body, is_long, Counts::default())
    }

    /// A leaf whose pages are all on flash.
    pub(crate) fn of_numbers(id: LeafId, is_long: bool, numbers: &[Ppn; LEAF]) -> Leaf {
        // Told by the sign and not by a comparison, for several at a time.
        let off = numbers
            .windows(2)
            .map(|pair| pair[1].0.wrapping_sub(pair[0].0 + 1));
        let breaks = off.map(|off| (off | off.wrapping_neg()) >> 63);
        let counts = Counts {
            runs: 1 + breaks.sum::<u64>() as u16,
            mapped: LEAF as u16,
            buffered: 0,
        };
        let body = dense!(is_long, Dense::of_numbers(id, numbers));
        Leaf::new(body, is_long, counts)
    }

    fn dense_of_runs(id: LeafId, is_long: bool, runs: impl Iterator<Item = EntryRun>) -> Leaf {
        let mut leaf = Leaf::new(
            dense!(is_long, Dense::of_runs(id, runs)),
            is_long,
            Counts::default(),
        );
        // Runs may touch each other, so they are counted anew.
        leaf.counts = if_dense!(leaf, dense => dense.counts(), Counts::default());
        leaf
    }

    fn new(body: Body, is_long: bool, counts: Counts) -> Leaf {
        Leaf {
            body,
            counts,
            queued: false,
            is_long,
        }
    }

    pub(crate) fn id(&self) -> LeafId {
        match &self.body {
            Body::Dense(dense) => dense.id,
            Body::Long(dense) => dense.id,
            Body::Runs(bytes) => read_id(bytes).0,
            Body::Whole { id, .. } => *id,
        }
    }

    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.body, Body::Dense(_) | Body::Long(_))
    }

    /// Whether a dense leaf would be smaller as runs.
    pub(crate) fn is_sequential(&self) -> bool {
        self.counts.runs <= MAX_RUNS
    }

    #[inline(always)]
    pub(crate) fn get(&self, offset: usize) -> Entry {
        match &self.body {
            Body::Dense(dense) => dense.raw[offset].entry(),
            Body::Whole { first, .. } => Entry::Flash(Ppn(first.0 + offset as u64)),
            other => other.get(offset),
        }
    }

    /// An entry will be used soon.
    #[inline]
    pub(crate) fn prefetch(&self, offset: usize) {
        match &self.body {
            Body::Dense(dense) => prefetch(&dense.raw[offset]),
            Body::Long(dense) => prefetch(&dense.raw[offset]),
            Body::Runs(bytes) => {
                if let Some(first) = bytes.first() {
                    prefetch(first);
                }
            }
            Body::Whole { .. } => {}
        }
    }

    /// Sets one entry, in the dense form, and returns what it was.
    pub(crate) fn set(&mut self, offset: usize, entry: Entry) -> Entry {
        let before = self.get(offset);
        self.change(offset, before, entry);
        before
    }

    /// Sets one entry, in the dense form, that is known to be `before`.
    #[inline(always)]
    pub(crate) fn change(&mut self, offset: usize, before: Entry, entry: Entry) {
        if_dense!(self, dense => dense.change(&mut self.counts, offset, before, entry), {
            self.make_dense();
            self.change(offset, before, entry);
        });
    }

    /// Puts pages that are not mapped into slots of the buffer, in the dense form. Returns whether the
    /// leaf was smaller as runs after the first of them: it has the fewest runs then.
    #[inline]
    pub(crate) fn buffer(&mut self, offset: usize, slots: &[u32]) -> bool {
        if_dense!(self, dense => dense.buffer(&mut self.counts, offset, slots), {
            self.make_dense();
            self.buffer(offset, slots)
        })
    }

    /// Puts pages that are in slots of the buffer on flash.
    #[inline]
    pub(crate) fn program(&mut self, offset: usize, numbers: &[Ppn]) {
        if_dense!(self, dense => dense.program(&mut self.counts, offset, numbers), {
            self.make_dense();
            self.program(offset, numbers);
        });
    }

    /// Pages that map nothing, from `offset` on, `most` at most.
    #[inline]
    pub(crate) fn unmapped(&self, offset: usize, most: usize) -> usize {
        let end = (offset + most).min(LEAF);
        match &self.body {
            Body::Dense(dense) => dense.unmapped(offset..end),
            Body::Long(dense) => dense.unmapped(offset..end),
            Body::Runs(_) | Body::Whole { .. } => {
                let runs = self.runs(offset, end - offset);
                let unmapped = runs.take_while(|run| run.entry == Entry::Unmapped);
                unmapped.map(|run| run.pages as usize).sum()
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn make_dense(&mut self) {
        *self = Leaf::dense_of_runs(self.id(), self.is_long, self.runs(0, LEAF));
    }

    /// The runs of the pages from `offset` on, `pages` of them.
    #[inline]
    pub(crate) fn runs(&self, offset: usize, pages: usize) -> LeafRuns<'_> {
        match &self.body {
            Body::Dense(dense) => LeafRuns::Dense(&dense.raw[offset..offset + pages]),
            Body::Long(dense) => LeafRuns::Long(&dense.raw[offset..offset + pages]),
            Body::Runs(bytes) => LeafRuns::Runs {
                runs: decode(bytes),
                skip: offset as u32,
                left: pages as u32,
            },
            Body::Whole { first, .. } => LeafRuns::Whole(Some(EntryRun {
                entry: Entry::Flash(Ppn(first.0 + offset as u64)),
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
            Body::Dense(dense) => dense.for_each(wanted, visit),
            Body::Long(dense) => dense.for_each(wanted, visit),
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
            Body::Dense(_) => size_of::<Dense<u32>>(),
            Body::Long(_) => size_of::<Dense<Long>>(),
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
fn breaks<N: Raw>(entries: &[N]) -> u16 {
    let pairs = entries.windows(2);
    pairs.map(|pair| u16::from(!pair[1].follows(pair[0]))).sum()
}

/// The first run of these entries, which are those after it then.
#[inline]
fn next_run<N: Raw>(raw: &mut &[N]) -> Option<EntryRun> {
    let first = *raw.first()?;
    let mut pages = 1;
    while pages < raw.len() && raw[pages].follows(raw[pages - 1]) {
        pages += 1;
    }
    *raw = &raw[pages..];
    Some(EntryRun {
        entry: first.entry(),
        pages: pages as u32,
    })
}

/// The runs of some pages of a leaf.
pub(crate) enum LeafRuns<'a> {
    Dense(&'a [u32]),
    Long(&'a [Long]),
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
            LeafRuns::Dense(raw) => next_run(raw),
            LeafRuns::Long(raw) => next_run(raw),
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

    /// The first number of a run, and its pages; and whether leaves are long, which far numbers need.
    type Run = (Option<u64>, u32);

    fn runs() -> impl Strategy<Value = (bool, Vec<Run>)> {
        any::<bool>().prop_flat_map(|is_long| {
            let end = if is_long {
                Long::FIRST_SLOT
            } else {
                u32::FIRST_SLOT
            };
            let first = prop_oneof![
                Just(None),
                (0..5000u64).prop_map(Some),
                (0..end - 2000).prop_map(Some),
                (end - 3000..end - 2000).prop_map(Some),
            ];
            let run = (first, prop_oneof![Just(16), 1..200u32]);
            (Just(is_long), prop::collection::vec(run, 0..140))
        })
    }

    /// As much of the runs as a leaf has pages, and nothing after them.
    fn covering(runs: &[Run]) -> Vec<EntryRun> {
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
    fn state(leaf: &Leaf) -> (Counts, Vec<Entry>) {
        let entries = (0..LEAF).map(|offset| leaf.get(offset)).collect();
        (leaf.counts, entries)
    }

    proptest! {
        /// Pages that are buffered and programmed together end as those that are one by one.
        #[test]
        fn pages_together_are_as_pages_one_by_one(
            (is_long, runs) in runs(),
            offset in 0..LEAF,
            most in 1..80usize,
            slot in 0..1000u32,
            programmed in 0.0..1.0,
            number in 0..1000u64,
            step in 1..3usize,
        ) {
            let covering = covering(&runs);
            let (mut together, mut single) =
                (Leaf::of_runs(id(), is_long, &covering), Leaf::of_runs(id(), is_long, &covering));
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
                single.set(at, Entry::Buffered(slot));
                sequential.push(single.is_sequential());
            }
            prop_assert_eq!(together.buffer(offset, &slots), sequential.contains(&true));
            prop_assert_eq!(state(&together), state(&single));

            let skipped = (programmed * pages as f64) as usize;
            let numbers = (number..).step_by(step).take(pages - skipped).map(Ppn);
            for (at, ppn) in (offset + skipped..).zip(numbers.clone()) {
                single.set(at, Entry::Flash(ppn));
            }
            let numbers: Vec<Ppn> = numbers.collect();
            together.program(offset + skipped, &numbers);
            prop_assert_eq!(state(&together), state(&single));
        }

        /// Runs in, the same entries out, in both forms and back.
        #[test]
        fn both_forms_hold_the_same((is_long, runs) in runs()) {
            let covering = covering(&runs);
            let expected: Vec<Entry> = covering
                .iter()
                .flat_map(|run| (0..run.pages).map(|page| run.entry.plus(page)))
                .collect();
            let mut leaf = Leaf::of_runs(id(), is_long, &covering);
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
                    let last = expected[LEAF - 1];
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
        assert!(Leaf::of_runs(id(), false, &runs).bytes() < 2 * 64 + 16);
    }
}
