//! Sets of logical blocks, kept as few ranges.

use std::collections::BTreeMap;

/// Ranges kept at most: a hint that would need more is dropped, as hints may be.
pub(crate) const MAX_RANGES: usize = 4096;

/// A set of `u64` as disjoint ranges that do not touch.
#[derive(Debug, Default)]
pub(crate) struct RangeSet {
    /// End by start.
    ranges: BTreeMap<u64, u64>,
}

impl RangeSet {
    /// Whether all of the range is in the set.
    #[inline]
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        // Most sets are empty, and this is asked for every write.
        !self.ranges.is_empty()
            && start < end
            && self.last_before(start + 1).is_some_and(|(_, to)| end <= to)
    }

    /// Adds a range, unless it cannot be joined to another and there are too many already.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let (mut from, mut to) = (start, end);
        while let Some((first, last)) = self.last_before(to.saturating_add(1)) {
            if last < from {
                break;
            }
            self.ranges.remove(&first);
            (from, to) = (from.min(first), to.max(last));
        }
        if self.ranges.len() < MAX_RANGES {
            self.ranges.insert(from, to);
        }
    }

    /// Removes a range. What is left on both sides of it may be one range too many: then the
    /// smaller one goes as well.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        while let Some((first, last)) = self.last_before(end) {
            if last <= start {
                return;
            }
            self.ranges.remove(&first);
            let (mut before, mut after) = (start.saturating_sub(first), last.saturating_sub(end));
            if before > 0 && after > 0 && self.ranges.len() + 2 > MAX_RANGES {
                *(if before < after {
                    &mut before
                } else {
                    &mut after
                }) = 0;
            }
            if before > 0 {
                self.ranges.insert(first, first + before);
            }
            if after > 0 {
                self.ranges.insert(end, end + after);
            }
        }
    }

    /// The last range that starts before `limit`.
    fn last_before(&self, limit: u64) -> Option<(u64, u64)> {
        let range = self.ranges.range(..limit).next_back();
        range.map(|(&start, &end)| (start, end))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SPACE: usize = 100;

    proptest! {
        #[test]
        fn behaves_like_a_set(steps in prop::collection::vec((any::<bool>(), 0..SPACE, 0..SPACE / 3), 1..60)) {
            let mut set = RangeSet::default();
            let mut model = [false; SPACE];
            for (add, start, length) in steps {
                let end = (start + length).min(SPACE);
                match add {
                    true => set.insert(start as u64, end as u64),
                    false => set.remove(start as u64, end as u64),
                }
                model[start..end].fill(add);
                for from in 0..SPACE {
                    for to in from + 1..=SPACE {
                        let all = model[from..to].iter().all(|&present| present);
                        prop_assert_eq!(set.covers(from as u64, to as u64), all);
                    }
                }
                let runs = model.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
                prop_assert_eq!(set.ranges.len(), runs);
            }
        }
    }

    #[test]
    fn is_bounded() {
        let mut set = RangeSet::default();
        for index in 0..MAX_RANGES as u64 + 10 {
            set.insert(index * 10, index * 10 + 5);
        }
        assert_eq!(set.ranges.len(), MAX_RANGES);
        assert!(!set.covers(MAX_RANGES as u64 * 10, MAX_RANGES as u64 * 10 + 1));
        // A range that joins others is taken; a hole keeps the larger part.
        set.insert(3, 12);
        assert!(set.covers(0, 15));
        set.insert(1 << 40, (1 << 40) + 1);
        assert_eq!(set.ranges.len(), MAX_RANGES);
        set.remove(4, 6);
        assert_eq!(set.ranges.len(), MAX_RANGES);
        assert!(!set.covers(0, 1) && set.covers(6, 15));
    }

    #[test]
    fn the_far_end_is_no_special_place() {
        let mut set = RangeSet::default();
        set.insert(5, u64::MAX);
        assert!(set.covers(u64::MAX - 1, u64::MAX));
        set.remove(0, u64::MAX);
        assert!(!set.covers(5, 6));
    }
}
