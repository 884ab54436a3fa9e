//! The mapping against a naive model: a map from page to entry.

use std::collections::BTreeMap;
use std::iter::successors;

use proptest::prelude::*;

use super::*;

const PAGES: u64 = 3 * LEAF as u64;

#[derive(Clone, Debug)]
enum Step {
    /// Single entries, in order or scattered.
    Set {
        page: u64,
        stride: u64,
        pages: u64,
        first: u32,
    },
    Slot {
        page: u64,
        slot: u32,
    },
    Replace {
        page: u64,
        pages: u64,
        first: Option<u32>,
    },
    /// Many other leaves are written, so that these are compacted.
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    let range = || (0..PAGES, prop_oneof![1..40u64, 1..PAGES]);
    prop_oneof![
        4 => (range(), prop_oneof![Just(1u64), 1..9u64], 0..1000u32).prop_map(
            |((page, pages), stride, first)| Step::Set { page, stride, pages, first: first * 1000 }),
        2 => (0..PAGES, 0..100u32).prop_map(|(page, slot)| Step::Slot { page, slot }),
        4 => (range(), prop::option::of(0..1000u32)).prop_map(
            |((page, pages), first)| Step::Replace { page, pages, first: first.map(|f| f * 1000) }),
        1 => Just(Step::Compact),
    ]
}

fn entries(mapping: &Mapping, page: u64, pages: u64) -> Vec<Entry> {
    let mut entries = Vec::new();
    mapping.for_each_run_in(0, page, page + pages, |entry, pages| {
        entries.extend((0..pages as u32).map(|page| entry.plus(page)));
    });
    entries
}

proptest! {
    #[test]
    fn it_holds_what_was_put_there(
        steps in prop::collection::vec(step(), 1..40),
        is_long: bool,
    ) {
        // The numbers of a set that has more than 32 bits number begin below what these can hold.
        let (flash, base) = if is_long { (1 << 40, (1 << 32) - 300_000) } else { (1 << 20, 0) };
        let mut mapping = Mapping::new(1 << 30, u64::MAX, flash);
        mapping.add_space();
        mapping.add_space();
        let mut model: BTreeMap<u64, Entry> = BTreeMap::new();
        let mut elsewhere = 0;
        for step in steps {
            match step {
                Step::Set { page, stride, pages, first } => {
                    for n in 0..pages {
                        let page = (page + n * stride) % PAGES;
                        let entry = Entry::Flash(Ppn(base + u64::from(first) + n));
                        let index = mapping.find_or_make(0, page).unwrap();
                        prop_assert_eq!(mapping.logical(index), (0, page));
                        mapping.set(index, entry);
                        model.insert(page, entry);
                    }
                }
                Step::Slot { page, slot } => {
                    let index = mapping.find_or_make(0, page).unwrap();
                    mapping.set(index, Entry::Buffered(slot));
                    model.insert(page, Entry::Buffered(slot));
                }
                Step::Replace { page, pages, first } => {
                    let pages = pages.min(PAGES - page);
                    let mut done = 0;
                    let mut replaced = Vec::new();
                    while done < pages {
                        let first = first.map(|first| Ppn(base + u64::from(first) + done));
                        done += mapping.replace(0, page + done, pages - done, first, &mut replaced);
                    }
                    let replaced = replaced
                        .iter()
                        .flat_map(|run| (0..run.pages).map(|page| run.entry.plus(page)));
                    for (n, before) in (0..).zip(replaced) {
                        let expected = model.remove(&(page + n)).unwrap_or(Entry::Unmapped);
                        prop_assert_eq!(before, expected);
                        if let Some(first) = first {
                            model.insert(page + n, Entry::Flash(Ppn(base + u64::from(first) + n)));
                        }
                    }
                }
                Step::Compact => {
                    for _ in 0..RECENT_LEAVES + 4 {
                        let index = mapping.find_or_make(1, elsewhere << LEAF_BITS).unwrap();
                        mapping.set(index, Entry::Flash(Ppn(0)));
                        elsewhere += 1;
                    }
                }
            }
            prop_assert_eq!((mapping.mapped_in(0), mapping.mapped_in(1)), (model.len() as u64, elsewhere));
            prop_assert_eq!(mapping.mapped(), model.len() as u64 + elsewhere);
            let expected: Vec<Entry> = (0..PAGES)
                .map(|page| model.get(&page).copied().unwrap_or(Entry::Unmapped))
                .collect();
            prop_assert!(entries(&mapping, 0, PAGES) == expected);
            let next_gap = |from| mapping.next_unmapped(0, from, PAGES);
            let gaps: Vec<_> = successors(next_gap(0), |gap| next_gap(gap.end)).collect();
            let holes = gaps.iter().cloned().flatten();
            prop_assert!(holes.eq((0..PAGES).filter(|page| !model.contains_key(page))));
            prop_assert!(gaps.windows(2).all(|two| two[0].end < two[1].start));
            prop_assert!(entries(&mapping, 500, 1000) == expected[500..1500]);
            for (page, entry) in (0..).zip(expected) {
                let found = mapping.find(0, page).map_or(Entry::Unmapped, |index| mapping.get(index));
                prop_assert_eq!(found, entry);
            }
        }
    }
}
