//! Mutations without coverage feedback, for the tests: what finds the easy defects in seconds, on any toolchain.

/// SplitMix64: the same seed gives the same mutations on every machine.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn pick<'a, T: AsRef<[u8]>>(&mut self, of: &'a [T]) -> &'a [u8] {
        match of.len() {
            0 => &[],
            len => of[self.below(len)].as_ref(),
        }
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
    let mut data = random.pick(corpus).to_vec();
    for _ in 0..=random.below(8) {
        let at = random.below(data.len() + 1);
        let end = (at + 1 + random.below(16)).min(data.len());
        match random.below(8) {
            0 if at < data.len() => data[at] ^= 1 << random.below(8),
            1 if at < data.len() => data[at] = random.next() as u8,
            2 => drop(data.drain(at..end)),
            3 => data.truncate(at),
            4 => insert(&mut data, at, random.pick(&EDGES)),
            5 => insert(&mut data, at, random.pick(dictionary)),
            6 => {
                let copy = data[at..end].to_vec();
                insert(&mut data, random.below(at + 1), &copy);
            }
            _ => {
                // The rest of another entry.
                let other = random.pick(corpus);
                let from = random.below(other.len() + 1);
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
