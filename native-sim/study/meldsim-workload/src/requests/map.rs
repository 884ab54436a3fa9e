//! Which blocks of a region are still to be touched in this pass: fio's random map, or the register that needs none.
//!
//! The map takes one bit for each block, and 1.6 % of that. The system gives memory only to what requests reach: large tables are
//! made anew and not filled.

/// Blocks of a word.
const WORD: u64 = 64;
/// Words of a table that are filled sooner than a new one is had.
const FILLED: usize = 1 << 14;

/// The blocks that were touched. A set bit of a level stands for a full word of the level below.
#[derive(Clone, Debug)]
pub(super) struct RandomMap {
    levels: Vec<Vec<u64>>,
    blocks: u64,
}

impl RandomMap {
    pub(super) fn new(blocks: u64) -> RandomMap {
        let mut levels = Vec::new();
        let mut words = blocks;
        loop {
            words = words.div_ceil(WORD);
            levels.push(vec![0; words as usize]);
            if words <= 1 {
                return RandomMap { levels, blocks };
            }
        }
    }

    pub(super) fn clear(&mut self) {
        for level in &mut self.levels {
            match level.len() {
                ..=FILLED => level.fill(0),
                words => *level = vec![0; words],
            }
        }
    }

    /// Bytes that the map of so many blocks takes.
    pub(super) fn bytes(blocks: u64) -> u64 {
        blocks / 8 + blocks / 500
    }

    #[inline(always)]
    fn is_touched(&self, block: u64) -> bool {
        let word = self.levels[0].get((block / WORD) as usize);
        word.is_some_and(|word| word >> (block % WORD) & 1 != 0)
    }

    /// The block, or the next one that is free, from the start again after the last; `None` when all were touched.
    #[inline(always)]
    pub(super) fn free(&self, block: u64) -> Option<u64> {
        match self.is_touched(block) {
            false => Some(block),
            true => self.next_free(block),
        }
    }

    fn next_free(&self, block: u64) -> Option<u64> {
        if block >= self.blocks {
            return None;
        }
        let next = (block + 1) % self.blocks;
        let found = self.first_free(next);
        found.or_else(|| self.first_free(0).filter(|_| next != 0))
    }

    /// The first free block from this one on.
    fn first_free(&self, from: u64) -> Option<u64> {
        let mut index = 0;
        for (level, words) in self.levels.iter().enumerate().rev() {
            index = (index * WORD).max(from >> (6 * level));
            let mut word = (index / WORD) as usize;
            let mut free = !*words.get(word)? & (u64::MAX << (index % WORD));
            while free == 0 {
                word += 1;
                free = !*words.get(word)?;
            }
            index = word as u64 * WORD + u64::from(free.trailing_zeros());
        }
        Some(index).filter(|index| *index < self.blocks)
    }

    /// Touches these blocks up to the first that was touched before; gives how many.
    #[inline(always)]
    pub(super) fn touch(&mut self, first: u64, blocks: u64) -> u64 {
        let mut done = 0;
        while done < blocks {
            let at = first + done;
            let wanted = (blocks - done).min(WORD - at % WORD);
            let got = self.touch_word(at, wanted);
            done += got;
            if got < wanted {
                break;
            }
        }
        done
    }

    /// The same within a word.
    #[inline(always)]
    fn touch_word(&mut self, at: u64, blocks: u64) -> u64 {
        let Some(word) = self.levels[0].get_mut((at / WORD) as usize) else {
            return 0;
        };
        let free = u64::from((*word >> (at % WORD)).trailing_zeros());
        let blocks = blocks.min(free);
        if blocks == 0 {
            return 0;
        }
        *word |= u64::MAX >> (WORD - blocks) << (at % WORD);
        let mut is_full = *word == u64::MAX;
        let mut index = at / WORD;
        for words in &mut self.levels[1..] {
            if !is_full {
                break;
            }
            let word = &mut words[(index / WORD) as usize];
            *word |= 1 << (index % WORD);
            is_full = *word == u64::MAX;
            index /= WORD;
        }
        blocks
    }
}

/// Taps of the shortest registers of maximum length with 3 to 63 bits (P. Alfke: Xilinx application note XAPP052).
const TAPS: [&[u8]; 61] = [
    &[3, 2],
    &[4, 3],
    &[5, 3],
    &[6, 5],
    &[7, 6],
    &[8, 6, 5, 4],
    &[9, 5],
    &[10, 7],
    &[11, 9],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 5, 3, 1],
    &[15, 14],
    &[16, 15, 13, 4],
    &[17, 14],
    &[18, 11],
    &[19, 6, 2, 1],
    &[20, 17],
    &[21, 19],
    &[22, 21],
    &[23, 18],
    &[24, 23, 22, 17],
    &[25, 22],
    &[26, 6, 2, 1],
    &[27, 5, 2, 1],
    &[28, 25],
    &[29, 27],
    &[30, 6, 4, 1],
    &[31, 28],
    &[32, 31, 29, 1],
    &[33, 20],
    &[34, 27, 2, 1],
    &[35, 33],
    &[36, 25],
    &[37, 5, 4, 3, 2, 1],
    &[38, 6, 5, 1],
    &[39, 35],
    &[40, 38, 21, 19],
    &[41, 38],
    &[42, 41, 20, 19],
    &[43, 42, 38, 37],
    &[44, 43, 18, 17],
    &[45, 44, 42, 41],
    &[46, 45, 26, 25],
    &[47, 42],
    &[48, 47, 21, 20],
    &[49, 40],
    &[50, 49, 24, 23],
    &[51, 50, 36, 35],
    &[52, 49],
    &[53, 52, 38, 37],
    &[54, 53, 18, 17],
    &[55, 31],
    &[56, 55, 35, 34],
    &[57, 50],
    &[58, 39],
    &[59, 58, 38, 37],
    &[60, 59],
    &[61, 60, 46, 45],
    &[62, 61, 6, 5],
    &[63, 62],
];

/// A linear feedback shift register that meets each block once, in an order without a map: fio's `random_generator=lfsr`.
#[derive(Clone, Debug)]
pub(super) struct Lfsr {
    value: u64,
    taps: u64,
    top: u64,
    blocks: u64,
    met: u64,
    seed: u64,
    /// Its first number ever is the second, as fio's.
    is_fresh: bool,
}

impl Lfsr {
    pub(super) fn new(blocks: u64, seed: u64) -> Lfsr {
        // All ones is a state that it never leaves.
        let bits = (3..63).find(|bits| 1 << bits > blocks).unwrap_or(63);
        let taps = TAPS[bits - 3]
            .iter()
            .fold(0, |mask, tap| mask | 1 << (tap - 1));
        let top = 1 << (bits - 1);
        let ones = 2 * top - 1;
        let mut lfsr = Lfsr {
            value: 0,
            taps,
            top,
            // As in fio, a seed of all ones makes no request at all.
            blocks: if seed & ones == ones { 0 } else { blocks },
            met: 0,
            seed,
            is_fresh: true,
        };
        lfsr.restart();
        lfsr
    }

    /// Whether it meets no block, whatever there is.
    pub(super) fn is_stuck(&self) -> bool {
        self.blocks == 0
    }

    pub(super) fn restart(&mut self) {
        self.met = 0;
        self.value = self.seed & (2 * self.top - 1);
    }

    /// The next block, until all were met.
    pub(super) fn next(&mut self) -> Option<u64> {
        if self.met >= self.blocks {
            return None;
        }
        self.met += 1;
        if std::mem::take(&mut self.is_fresh) {
            self.step();
        }
        loop {
            self.step();
            if self.value < self.blocks {
                return Some(self.value);
            }
        }
    }

    fn step(&mut self) {
        let odd = self.value & 1;
        self.value = (self.value >> 1 | self.top) ^ (odd.wrapping_sub(1) & self.taps);
    }
}
