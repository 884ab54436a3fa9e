//! Mutations without coverage feedback, for the tests: what finds the easy defects in seconds, on any toolchain.

use meldsim::engine::Random;

fn below(random: &mut Random, bound: usize) -> usize {
    random.below(bound.max(1) as u64) as usize
}

fn pick<'a, T: AsRef<[u8]>>(random: &mut Random, of: &'a [T]) -> &'a [u8] {
    match of.len() {
        0 => &[],
        len => of[below(random, len)].as_ref(),
    }
}

/// Bytes and numbers at the edges of what parsers expect.
const EDGES: [&[u8]; 14] = [
    b"0",
    b"-1",
    b"1",
    b"4294967296",
    b"18446744073709551615",
    b"18446744073709551616",
    b"1e308",
    b"nan",
    b"\xFF\xFF\xFF\xFF",
    b"\0\0\0\0",
    b"\"",
    b"\n",
    b"\xC3\xA4",
    b"\xC3",
];

/// A mutation of one of `corpus`, one to eight steps away.
pub fn mutate(random: &mut Random, corpus: &[Vec<u8>], dictionary: &[Vec<u8>]) -> Vec<u8> {
    let mut data = pick(random, corpus).to_vec();
    for _ in 0..=below(random, 8) {
        let at = below(random, data.len() + 1);
        let end = (at + 1 + below(random, 16)).min(data.len());
        match below(random, 8) {
            0 if at < data.len() => data[at] ^= 1 << below(random, 8),
            1 if at < data.len() => data[at] = random.next_u64() as u8,
            2 => drop(data.drain(at..end)),
            3 => data.truncate(at),
            4 => insert(&mut data, at, pick(random, &EDGES)),
            5 => insert(&mut data, at, pick(random, dictionary)),
            6 => {
                let copy = data[at..end].to_vec();
                insert(&mut data, below(random, at + 1), &copy);
            }
            _ => {
                // The rest of another entry.
                let other = pick(random, corpus);
                let from = below(random, other.len() + 1);
                data.truncate(at);
                data.extend_from_slice(&other[from..]);
            }
        }
    }
    data
}

fn insert(data: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    data.splice(at..at, bytes.iter().copied());
}
