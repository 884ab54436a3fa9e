//! Entries of the mapping, runs of them, and their encoding.
//!
//! In come runs of consecutive pages, out go bytes, and back: which leaf it is, then two bytes or three
//! a run: where it begins, after the one before it, and its length unless that is the same, as when
//! several writers take turns.

use std::fmt::Debug;

use crate::ftl::address::Ppn;
use crate::profile::limits::{PPN_LIMIT, SHORT_PPN_LIMIT};

/// Where a logical page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Unmapped,
    /// In this slot of the write buffer.
    Buffered(u32),
    Flash(Ppn),
}

impl Entry {
    /// The entry `pages` further in a run.
    pub(crate) fn plus(self, pages: u32) -> Entry {
        match self {
            Entry::Flash(first) => Entry::Flash(Ppn(first.0 + u64::from(pages))),
            other => other,
        }
    }
}

/// An entry as it is stored: page numbers from below, then slots, and nothing at the top.
pub(crate) trait Raw: Copy + Debug + PartialEq {
    const UNMAPPED: Self;
    /// No page's number, and the first slot.
    const FIRST_SLOT: u64;

    fn from_number(number: u64) -> Self;

    fn number(self) -> u64;

    fn new(entry: Entry) -> Self {
        match entry {
            Entry::Unmapped => Self::UNMAPPED,
            Entry::Buffered(slot) => Self::from_number(Self::FIRST_SLOT + u64::from(slot)),
            Entry::Flash(ppn) => Self::from_number(ppn.0),
        }
    }

    fn entry(self) -> Entry {
        if self.number() < Self::FIRST_SLOT {
            Entry::Flash(Ppn(self.number()))
        } else if self == Self::UNMAPPED {
            Entry::Unmapped
        } else {
            Entry::Buffered((self.number() - Self::FIRST_SLOT) as u32)
        }
    }

    fn is_slot(self) -> bool {
        self.number() >= Self::FIRST_SLOT && self != Self::UNMAPPED
    }

    /// Whether it goes on where `before` ends, in one run.
    fn follows(self, before: Self) -> bool;
}

/// Of a set whose pages 32 bits number.
impl Raw for u32 {
    const UNMAPPED: u32 = u32::MAX;
    const FIRST_SLOT: u64 = SHORT_PPN_LIMIT;

    fn from_number(number: u64) -> u32 {
        debug_assert!(number <= u64::from(u32::MAX));
        number as u32
    }

    fn number(self) -> u64 {
        u64::from(self)
    }

    fn follows(self, before: u32) -> bool {
        // Without branches: the host's writes decide them.
        (before < u32::FIRST_SLOT as u32 - 1) & (self == before.wrapping_add(1))
            | (self & before == u32::UNMAPPED)
    }
}

/// Of a larger set: 40 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, packed)]
pub(crate) struct Long {
    low: u32,
    high: u8,
}

impl Raw for Long {
    const UNMAPPED: Long = Long {
        low: u32::MAX,
        high: u8::MAX,
    };
    const FIRST_SLOT: u64 = PPN_LIMIT;

    fn from_number(number: u64) -> Long {
        Long {
            low: number as u32,
            high: (number >> 32) as u8,
        }
    }

    fn number(self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }

    fn follows(self, before: Long) -> bool {
        let (number, before) = (self.number(), before.number());
        (before < Long::FIRST_SLOT - 1) & (number == before + 1)
            | (number & before == Long::UNMAPPED.number())
    }
}

/// Consecutive pages with consecutive numbers, or with none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryRun {
    /// Where the first page is; the others follow it.
    pub(crate) entry: Entry,
    pub(crate) pages: u32,
}

/// The logical pages a leaf maps: its space and its number among the leaves of the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeafId {
    pub(crate) space: u32,
    pub(crate) number: u32,
}

/// The bytes of a leaf of these runs, none of which is buffered; those of no pages are left out.
pub(crate) fn encode(id: LeafId, runs: &[EntryRun]) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(8 + 4 * runs.len());
    write_varint(&mut bytes, u64::from(id.space));
    write_varint(&mut bytes, u64::from(id.number));
    let (mut length, mut end) = (0, 0i64);
    for run in runs.iter().filter(|run| run.pages > 0) {
        let gap = match run.entry {
            Entry::Flash(first) => {
                let gap = first.0 as i64 - end;
                end = first.0 as i64 + i64::from(run.pages);
                Some(gap)
            }
            Entry::Unmapped | Entry::Buffered(_) => None,
        };
        let has_length = run.pages != length;
        write_varint(&mut bytes, gap_code(gap) << 1 | u64::from(has_length));
        if has_length {
            write_varint(&mut bytes, u64::from(run.pages));
        }
        length = run.pages;
    }
    bytes.into_boxed_slice()
}

/// How far from the end of the last mapped run another begins, as a code; nothing when it is not mapped.
fn gap_code(gap: Option<i64>) -> u64 {
    // Zigzag: small gaps of either sign are small codes.
    gap.map_or(0, |gap| 1 + ((gap << 1) ^ (gap >> 63)) as u64)
}

fn gap_from(code: u64) -> Option<i64> {
    let zigzag = code.checked_sub(1)?;
    Some((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
}

/// The runs of a leaf, read from its bytes.
pub(crate) struct Decode<'a> {
    bytes: &'a [u8],
    length: u32,
    end: i64,
}

/// The runs that [`encode`] was given.
pub(crate) fn decode(bytes: &[u8]) -> Decode<'_> {
    Decode {
        bytes: read_id(bytes).1,
        length: 0,
        end: 0,
    }
}

impl Iterator for Decode<'_> {
    type Item = EntryRun;

    #[inline]
    fn next(&mut self) -> Option<EntryRun> {
        if self.bytes.is_empty() {
            return None;
        }
        let code = read_varint(&mut self.bytes);
        if code & 1 != 0 {
            self.length = read_varint(&mut self.bytes) as u32;
        }
        let pages = self.length;
        let entry = match gap_from(code >> 1) {
            None => Entry::Unmapped,
            Some(gap) => {
                let first = self.end + gap;
                self.end = first + i64::from(pages);
                Entry::Flash(Ppn(first as u64))
            }
        };
        Some(EntryRun { entry, pages })
    }
}

/// Where one page of a leaf is.
pub(crate) fn entry_at(bytes: &[u8], page: u32) -> Entry {
    let mut first = 0;
    for run in decode(bytes) {
        if page - first < run.pages {
            return run.entry.plus(page - first);
        }
        first += run.pages;
    }
    Entry::Unmapped
}

/// Which leaf it is, and the bytes of its runs.
pub(crate) fn read_id(mut bytes: &[u8]) -> (LeafId, &[u8]) {
    let space = read_varint(&mut bytes) as u32;
    let number = read_varint(&mut bytes) as u32;
    (LeafId { space, number }, bytes)
}

/// Seven bits a byte, the lowest first; the top bit says that more follow.
fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[inline]
fn read_varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    value
}
