//! What a host says about ranges of logical blocks: the DSM field of a read or a write, the ranges of
//! Dataset Management, and sets of ranges.
//!
//! Bits are those of the NVM Command Set specification 1.0, checked against the public headers of
//! Linux, SPDK and libnvme.

use std::collections::BTreeMap;

/// The most ranges of one Dataset Management command: Number of Ranges (NR) has eight bits.
pub const MAX_DSM_RANGES: usize = 256;

/// The DSM field of a Read or a Write, CDW13 bits 7:0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DsmByte(pub u8);

impl DsmByte {
    /// Access frequency 3h: infrequent writes, frequent reads.
    pub const AF_READ_MOSTLY: u8 = 3;

    /// From its fields: access frequency 3:0, access latency 5:4, sequential request 6.
    pub const fn new(frequency: u8, latency: u8, sequential: bool) -> DsmByte {
        DsmByte(frequency & 0xF | (latency & 0x3) << 4 | (sequential as u8) << 6)
    }

    /// Access Frequency, bits 3:0: 0 none, 1 typical, 2 infrequent both, 3 infrequent writes and
    /// frequent reads, 4 frequent writes and infrequent reads, 5 frequent both, 6 one-time read,
    /// 7 speculative read, 8 will be overwritten soon.
    pub const fn frequency(self) -> u8 {
        self.0 & 0xF
    }

    /// Sequential Request, bit 6.
    pub const fn sequential(self) -> bool {
        self.0 & 1 << 6 != 0
    }
}

/// One range of a Dataset Management command (Range Definition).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DsmRange {
    /// Context Attributes, bytes 3:0; see [`DsmRange::attributes_of`].
    pub attributes: u32,
    /// Length in Logical Blocks, bytes 7:4: a count, not zero-based.
    pub length: u32,
    /// Starting LBA, bytes 15:8.
    pub slba: u64,
}

impl DsmRange {
    /// Context attributes: access frequency 3:0, access latency 5:4, sequential read range 8,
    /// sequential write range 9, write prepare 10, command access size 31:24.
    pub const fn attributes_of(
        frequency: u8,
        latency: u8,
        sequential_read: bool,
        sequential_write: bool,
        write_prepare: bool,
        access_lbas: u8,
    ) -> u32 {
        (frequency & 0xF) as u32
            | ((latency & 0x3) as u32) << 4
            | (sequential_read as u32) << 8
            | (sequential_write as u32) << 9
            | (write_prepare as u32) << 10
            | (access_lbas as u32) << 24
    }

    /// Sequential Read Range (SR), bit 8.
    pub const fn sequential_read(&self) -> bool {
        self.attributes & 1 << 8 != 0
    }

    /// Command Access Size, bits 31:24: logical blocks of one command; zero says nothing.
    pub const fn access_lbas(&self) -> u8 {
        (self.attributes >> 24) as u8
    }

    /// The first logical block after it.
    pub(crate) const fn end(&self) -> u64 {
        self.slba.saturating_add(self.length as u64)
    }
}

/// Ranges kept at most: a hint that would need more is dropped, as hints may be.
pub(crate) const MAX_RANGES: usize = 4096;

/// A set of `u64` as disjoint ranges that do not touch.
#[derive(Clone, Debug, Default)]
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

    proptest! {
        #[test]
        fn the_dsm_field_holds_what_it_is_made_of(frequency in 0..16u8, latency in 0..4u8, sequential: bool) {
            let dsm = DsmByte::new(frequency, latency, sequential);
            prop_assert_eq!((dsm.frequency(), dsm.sequential()), (frequency, sequential));
            prop_assert_eq!(dsm.0 >> 4 & 3, latency);
            prop_assert_eq!(dsm.0 & 0x80, 0, "incompressible");
        }

        #[test]
        fn context_attributes_hold_what_they_are_made_of(sequential: bool, others: bool, access_lbas: u8) {
            let attributes = DsmRange::attributes_of(5, 2, sequential, others, others, access_lbas);
            let range = DsmRange { attributes, ..DsmRange::default() };
            prop_assert_eq!((range.sequential_read(), range.access_lbas()), (sequential, access_lbas));
            prop_assert_eq!(attributes & 0xFF, 0x25);
            prop_assert_eq!(attributes >> 9 & 3, if others { 3 } else { 0 });
        }
    }

    /// The bits as the specification draws them.
    #[test]
    fn bits_are_where_the_specification_has_them() {
        assert_eq!(
            DsmByte::new(DsmByte::AF_READ_MOSTLY, 2, true),
            DsmByte(0x63)
        );
        let attributes = DsmRange::attributes_of(3, 1, true, false, true, 255);
        assert_eq!(attributes, 0xFF00_0513);
        assert_eq!(DsmRange::attributes_of(0, 0, false, true, false, 0), 0x200);
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
