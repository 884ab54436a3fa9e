//! The random numbers of fio: combined Tausworthe generators, and how each of a job's choices is seeded.
//!
//! The generators are taus88 (P. L'Ecuyer: "Maximally Equidistributed Combined Tausworthe Generators", Mathematics of Computation
//! 65, 1996) and taus258 (the same: "Tables of Maximally Equidistributed Combined LFSR Generators", Mathematics of Computation 68,
//! 1999). How they are seeded is as in fio 3.33, so that a job draws what it draws there.

use crate::job::Job;

/// What fio multiplies a thread's number by where `randrepeat` is set.
const REPEATED: u64 = 0xb189_9bed;
/// From one choice's seed to the next.
const STEP: u64 = 0x9e37_0001;
/// So many numbers of a fresh generator are not used.
const WARM_UP: u32 = 6;
/// fio's source means powers of two, and has exclusive ors.
const FIRST: u64 = (2 ^ 31) + (2 ^ 17) + (2 ^ 7);

/// Numbers of 32 or of 64 bits.
#[derive(Clone, Debug)]
pub(super) enum Tausworthe {
    Short([u32; 3]),
    Long([u64; 5]),
}

impl Tausworthe {
    pub(super) fn new(seed: u64, is_long: bool) -> Tausworthe {
        match is_long {
            false => Tausworthe::short(seed as u32),
            true => Tausworthe::long(seed),
        }
    }

    pub(super) fn short(seed: u32) -> Tausworthe {
        let mut last = FIRST as u32;
        let state = [1, 7, 15].map(|least| {
            let value = last.wrapping_mul(69_069) ^ seed;
            last = if value < least { value + least } else { value };
            last
        });
        Tausworthe::Short(state).warm()
    }

    fn long(seed: u64) -> Tausworthe {
        let mut last = FIRST;
        let state = [1, 7, 15, 33, 49].map(|least| {
            let value = last.wrapping_mul(6_906_969_069) ^ seed;
            last = if value < least { value + least } else { value };
            last
        });
        Tausworthe::Long(state).warm()
    }

    fn warm(mut self) -> Tausworthe {
        for _ in 0..WARM_UP {
            self.next();
        }
        self
    }

    /// Uniform in all of its bits.
    #[inline(always)]
    pub(super) fn next(&mut self) -> u64 {
        match self {
            Tausworthe::Short(state) => next_short(state).into(),
            Tausworthe::Long(state) => next_long(state),
        }
    }

    /// The largest number.
    #[inline(always)]
    pub(super) fn largest(&self) -> u64 {
        match self {
            Tausworthe::Short(_) => u32::MAX.into(),
            Tausworthe::Long(_) => u64::MAX,
        }
    }

    /// A number below `bound`, in proportion, as a double has it. Signed, since that is one instruction; no bound is so large.
    #[inline(always)]
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(i64::try_from(bound).is_ok());
        let share = match self {
            Tausworthe::Short(state) => f64::from(next_short(state)) / (f64::from(u32::MAX) + 1.0),
            Tausworthe::Long(state) => next_long(state) as f64 / (u64::MAX as f64 + 1.0),
        };
        (bound as i64 as f64 * share) as i64 as u64
    }

    /// 1 to 100.
    #[inline(always)]
    pub(super) fn percent(&mut self) -> u32 {
        1 + self.below(100) as u32
    }
}

#[inline(always)]
fn next_short(state: &mut [u32; 3]) -> u32 {
    const STEPS: [(u32, u32, u32, u32); 3] = [(13, 19, !1, 12), (2, 25, !7, 4), (3, 11, !15, 17)];
    let mut sum = 0;
    for (part, (left, right, mask, shift)) in state.iter_mut().zip(STEPS) {
        *part = ((*part & mask) << shift) ^ (((*part << left) ^ *part) >> right);
        sum ^= *part;
    }
    sum
}

#[inline(always)]
fn next_long(state: &mut [u64; 5]) -> u64 {
    const STEPS: [(u32, u32, u64, u32); 5] = [
        (1, 53, !1, 10),
        (24, 50, !511, 5),
        (3, 23, !4095, 29),
        (5, 24, !0x1_ffff, 23),
        (3, 33, !0x7f_ffff, 8),
    ];
    let mut sum = 0;
    for (part, (left, right, mask, shift)) in state.iter_mut().zip(STEPS) {
        *part = ((*part & mask) << shift) ^ (((*part << left) ^ *part) >> right);
        sum ^= *part;
    }
    sum
}

/// What a job chooses at random. The number is that of the seed in fio.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    /// Sizes of reads; of writes and of trims, the two after it.
    Size = 0,
    /// Reads or writes.
    Mix = 4,
    /// The block.
    Block = 6,
    /// Whether a block follows the one before.
    Order = 10,
    /// The zone of a distribution.
    Zone = 16,
}

/// Seeds of a job's choices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeds {
    /// The job's `randseed`.
    pub(super) seed: u64,
    /// fio's number of the thread, from 1.
    pub(super) thread: u64,
    /// The same numbers in every pass.
    pub(super) repeats: bool,
    /// Blocks do not depend on the seed: fio's `randrepeat`.
    pub(super) blocks_repeat: bool,
    /// The same of every choice, whatever the seed: `allrandrepeat`.
    pub(super) all_repeats: bool,
}

impl Seeds {
    pub(super) fn of_job(job: &Job) -> Seeds {
        Seeds {
            seed: job.seed,
            thread: job.thread.into(),
            repeats: job.random_repeat && !job.new_order,
            blocks_repeat: job.random_repeat,
            all_repeats: job.all_random_repeat,
        }
    }

    pub(super) fn of(&self, choice: Choice, plus: u64) -> u64 {
        let index = choice as u64 + plus;
        if self.blocks_repeat && matches!(choice, Choice::Block) {
            return REPEATED.wrapping_mul(self.thread);
        }
        if self.all_repeats {
            return REPEATED.wrapping_mul(self.thread).wrapping_add(index);
        }
        let mut seed = self.seed;
        for _ in 0..index + 4 {
            seed = seed.wrapping_mul(STEP);
        }
        seed.wrapping_mul(self.thread).wrapping_add(index)
    }
}

/// The hash of a file's name (B. Jenkins' lookup3, as fio has it).
pub(super) fn hash(name: &str) -> u32 {
    let bytes = name.as_bytes();
    let [mut a, mut b, mut c] = [0x61c8_8647u32.wrapping_add(bytes.len() as u32); 3];
    let mut rest = bytes;
    while rest.len() > 12 {
        a = a.wrapping_add(rest[0].into());
        b = b.wrapping_add(rest[4].into());
        c = c.wrapping_add(rest[8].into());
        for (turn, other) in [(4, 0), (6, 1), (8, 2), (16, 0), (19, 1), (4, 2)] {
            // Each of the three in turn takes from the one before it and adds to the one after.
            let [x, y, z] = match other {
                0 => [&mut a, &mut c, &mut b],
                1 => [&mut b, &mut a, &mut c],
                _ => [&mut c, &mut b, &mut a],
            };
            *x = x.wrapping_sub(*y) ^ y.rotate_left(turn);
            *y = y.wrapping_add(*z);
        }
        rest = &rest[12..];
    }
    let word = |from: usize| {
        let bytes = rest.iter().skip(from).take(4).enumerate();
        bytes.fold(0, |sum, (nth, byte)| sum | u32::from(*byte) << (8 * nth))
    };
    if rest.is_empty() {
        return c;
    }
    a = a.wrapping_add(word(0));
    b = b.wrapping_add(word(4));
    c = c.wrapping_add(word(8));
    for (turn, other) in [(14, 0), (11, 1), (25, 2), (16, 0), (4, 1), (14, 2), (24, 0)] {
        let (x, y) = match other {
            0 => (&mut c, b),
            1 => (&mut a, c),
            _ => (&mut b, a),
        };
        *x = (*x ^ y).wrapping_sub(y.rotate_left(turn));
    }
    c
}
