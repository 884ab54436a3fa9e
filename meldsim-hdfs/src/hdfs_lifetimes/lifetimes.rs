//! How long a block will live, as a DataNode learns it from the blocks that it deletes: the plugin's `KindHistory`, in Rust.

use super::churn::HOUR_S;

/// Classes of lifetimes. The first is of blocks whose lifetime nobody knows.
pub(super) const CLASSES: u16 = 8;

/// The upper bound of the class of the shortest lives; each further one is four times as high.
const SHORTEST_S: f64 = HOUR_S;

/// Deletions over which a family's mean goes.
const MEMORY: f64 = 32.0;

/// The class of blocks that live so long.
pub(super) fn class_of(life_s: f64) -> u16 {
    let mut bound_s = SHORTEST_S;
    let mut class = 1;
    while class < CLASSES - 1 && life_s >= bound_s {
        bound_s *= 4.0;
        class += 1;
    }
    class
}

/// What is known of a family.
#[derive(Clone, Copy, Default)]
struct Family {
    first_s: Option<f64>,
    /// Of deletions, at most [`MEMORY`].
    count: f64,
    /// Mean of the logarithms of lives in seconds.
    mean_ln: f64,
}

/// What was learned of all families.
pub(super) struct Lifetimes(Vec<Family>);

impl Lifetimes {
    pub(super) fn new(families: usize) -> Lifetimes {
        Lifetimes(vec![Family::default(); families])
    }

    /// A block of the family was deleted.
    pub(super) fn deleted(&mut self, family: usize, life_s: f64) {
        let known = &mut self.0[family];
        known.count = (known.count + 1.0).min(MEMORY);
        known.mean_ln += (libm::log(life_s.max(1.0)) - known.mean_ln) / known.count;
    }

    /// The class of a block that begins now. Where none was deleted yet, they live at least as long as the family is old.
    pub(super) fn class(&mut self, family: usize, now_s: f64) -> u16 {
        let known = &mut self.0[family];
        let first_s = *known.first_s.get_or_insert(now_s);
        match known.count > 0.0 {
            true => class_of(libm::exp(known.mean_ln)),
            false if now_s - first_s >= SHORTEST_S => class_of(now_s - first_s),
            false => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_four_times_as_long_each() {
        let hours = [0.5, 1.0, 3.9, 4.0, 16.0, 64.0, 256.0, 1023.0, 1025.0, 1e6];
        let classes = hours.map(|hours| class_of(hours * HOUR_S));
        assert_eq!(classes, [1, 2, 2, 3, 4, 5, 6, 6, 7, 7]);
    }

    #[test]
    fn a_family_is_known_by_its_deletions_and_before_them_by_its_age() {
        let mut lifetimes = Lifetimes::new(2);
        assert_eq!(lifetimes.class(0, 0.0), 0);
        assert_eq!(lifetimes.class(0, 5.0 * HOUR_S), 3);
        lifetimes.deleted(0, 0.5 * HOUR_S);
        assert_eq!(lifetimes.class(0, 6.0 * HOUR_S), 1);
        // The geometric mean of 0.5 and 8 hours is 2 hours.
        lifetimes.deleted(0, 8.0 * HOUR_S);
        assert_eq!(lifetimes.class(0, 6.0 * HOUR_S), 2);
        assert_eq!(lifetimes.class(1, 6.0 * HOUR_S), 0);
        // What was long ago is forgotten.
        (0..1000).for_each(|_| lifetimes.deleted(0, 100.0 * HOUR_S));
        assert_eq!(lifetimes.class(0, 7.0 * HOUR_S), 5);
    }
}
