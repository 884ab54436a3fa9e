//! Seeded random numbers and permutations, the same on every machine.

/// SplitMix64 (Steele, Lea, Flood: OOPSLA'14).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Uniform in all of `u64`.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Uniform in `0..bound` to within 2^-64 of the bound: the high half of a product, no division.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        // The 53 bits that a double holds exactly.
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From the exponential distribution with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// From the normal distribution with mean 0 and deviation 1 (Box, Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }
}

/// A number whose bits depend on all bits of another one: a bijection, the finalizer of splitmix64.
pub fn mix(value: u64) -> u64 {
    let z = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A pseudo-random bijection of `0..len`, without a table: a four-round Feistel network over the next even power of two,
/// walked until the value falls into range.
#[derive(Clone, Debug)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// A permutation of the numbers below `len`.
    pub fn new(len: u64, seed: u64) -> Permutation {
        let bits = 64 - len.saturating_sub(1).leading_zeros();
        let mut random = Random::new(seed);
        Permutation {
            len,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| random.next_u64()),
        }
    }

    /// Where `index` goes; `index` must be below the length.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.len);
        let mut value = index;
        // The network is a bijection of a set less than four times as large, so that the walk is short and ends.
        loop {
            value = self.scramble(value);
            if value < self.len {
                return value;
            }
        }
    }

    fn scramble(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_hits_everything_once() {
        for len in [1, 2, 3, 5, 64, 100, 4097] {
            for seed in 0..3 {
                let permutation = Permutation::new(len, seed);
                let mut seen: Vec<u64> = (0..len).map(|index| permutation.at(index)).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..len), "{len} {seed}");
            }
        }
    }

    #[test]
    fn seeds_differ_and_repeat() {
        let order = |seed| {
            (0..50)
                .map(|i| Permutation::new(1000, seed).at(i))
                .collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut random = Random::new(42);
        assert!((0..1000).all(|_| random.below(10) < 10));
    }
}
