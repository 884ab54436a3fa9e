//! Division by a number that stays the same.

/// What is divided by, and its inverse: dividing is one multiplication then. It is exact: the inverse is too small by
/// less than one part in 2^64 / divisor, and the number is taken for one more than it is, of which it has 2^64 / divisor at
/// most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    divisor: u32,
    /// Of 2^64 - 1, rounded down.
    inverse: u64,
}

impl Divisor {
    /// Of a number that is not 0.
    pub(crate) fn new(divisor: u32) -> Divisor {
        Divisor {
            divisor,
            inverse: u64::MAX / u64::from(divisor),
        }
    }

    /// Quotient and remainder of a number below 2^64 / divisor whose quotient has 32 bits.
    #[inline]
    pub(crate) fn divide(self, number: impl Into<u64>) -> (u32, u32) {
        let number = number.into();
        let quotient = ((u128::from(number + 1) * u128::from(self.inverse)) >> 64) as u32;
        let rest = (number as u32).wrapping_sub(quotient.wrapping_mul(self.divisor));
        (quotient, rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_divides(divisor in prop_oneof![1..100u32, 1..=u32::MAX], number: u32) {
            let near = number / divisor * divisor;
            for number in [number, near, near.saturating_sub(1), u32::MAX] {
                let expected = (number / divisor, number % divisor);
                prop_assert_eq!(Divisor::new(divisor).divide(number), expected);
            }
        }

        #[test]
        fn it_divides_numbers_of_forty_bits(divisor in 1..=1u32 << 24, quotient: u32, rest: u32) {
            let quotient = quotient.min(((1u64 << 40) / u64::from(divisor) - 1).min(u32::MAX.into()) as u32);
            for rest in [0, rest % divisor, divisor - 1] {
                let number = u64::from(quotient) * u64::from(divisor) + u64::from(rest);
                prop_assert_eq!(Divisor::new(divisor).divide(number), (quotient, rest));
            }
        }
    }
}
