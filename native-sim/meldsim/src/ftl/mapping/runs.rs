//! The runs of a leaf in bytes.
//!
//! The leaf's home, then two bytes or three a run: where it begins, after the one before it, and its
//! length unless that is the same, as when several writers take turns.

use super::leaf::{Home, Run};
use super::{Entry, Raw};

/// The bytes of a leaf of these runs, none of which is buffered.
pub(super) fn encode(home: Home, runs: &[Run]) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(8 + 4 * runs.len());
    write_varint(&mut bytes, u64::from(home.space));
    write_varint(&mut bytes, u64::from(home.number));
    let (mut length, mut end) = (0, 0i64);
    for run in runs {
        let gap = match run.entry {
            Entry::Flash(first) => {
                let gap = i64::from(first.0) - end;
                end = i64::from(first.0) + i64::from(run.pages);
                Gap::Numbers(gap)
            }
            Entry::Unmapped | Entry::Buffered(_) => Gap::Unmapped,
        };
        let has_length = run.pages != length;
        write_varint(&mut bytes, gap.code() << 1 | u64::from(has_length));
        if has_length {
            write_varint(&mut bytes, u64::from(run.pages));
        }
        length = run.pages;
    }
    bytes.into_boxed_slice()
}

/// How a run follows the last mapped one before it.
enum Gap {
    Unmapped,
    Numbers(i64),
}

impl Gap {
    fn code(self) -> u64 {
        match self {
            Gap::Unmapped => 0,
            // Zigzag: small gaps of either sign are small codes.
            Gap::Numbers(gap) => 1 + ((gap << 1) ^ (gap >> 63)) as u64,
        }
    }

    #[inline]
    fn from_code(code: u64) -> Gap {
        match code.checked_sub(1) {
            None => Gap::Unmapped,
            Some(zigzag) => Gap::Numbers((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64)),
        }
    }
}

/// The runs of a leaf, read from its bytes.
pub(super) struct Decode<'a> {
    bytes: &'a [u8],
    length: u32,
    end: i64,
}

/// The runs that [`encode`] was given.
pub(super) fn decode(bytes: &[u8]) -> Decode<'_> {
    Decode {
        bytes: read_home(bytes).1,
        length: 0,
        end: 0,
    }
}

impl Iterator for Decode<'_> {
    type Item = Run;

    #[inline]
    fn next(&mut self) -> Option<Run> {
        if self.bytes.is_empty() {
            return None;
        }
        let code = read_varint(&mut self.bytes);
        if code & 1 != 0 {
            self.length = read_varint(&mut self.bytes) as u32;
        }
        let pages = self.length;
        let entry = match Gap::from_code(code >> 1) {
            Gap::Unmapped => Entry::Unmapped,
            Gap::Numbers(gap) => {
                let first = self.end + gap;
                self.end = first + i64::from(pages);
                Raw(first as u32).entry()
            }
        };
        Some(Run { entry, pages })
    }
}

/// The leaf's home, and the bytes of its runs.
pub(super) fn read_home(mut bytes: &[u8]) -> (Home, &[u8]) {
    let space = read_varint(&mut bytes) as u32;
    let number = read_varint(&mut bytes) as u32;
    (Home { space, number }, bytes)
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
