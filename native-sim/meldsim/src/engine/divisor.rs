//! Division by a number that stays the same.

/// What is divided by, and its inverse: dividing is one multiplication then. It is exact: the inverse is too small by
/// less than one part in 2^64 / divisor, and the number is taken for one more than it is, of which it has 2^32 at most.
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

    /// Quotient and remainder.
    #[inline]
    pub(crate) fn divide(self, number: u32) -> (u32, u32) {
        let next = u128::from(number) + 1;
        let quotient = ((next * u128::from(self.inverse)) >> 64) as u32;
        (quotient, number - quotient * self.divisor)
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
    }
}
