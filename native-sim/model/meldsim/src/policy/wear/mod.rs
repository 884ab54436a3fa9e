//! Which free superblock is used next, and whether cold data moves: `gc.wear_levelling`.

use std::fmt::Debug;

/// The name of a policy of wear levelling.
pub type WearPolicy = super::Name<dyn WearLevelling>;

super::shelf! { dyn WearLevelling, "gc.wear_levelling", Wear:
    "static" in fixed, "as `dynamic`, and what lags behind by more than `gc.wear_threshold` erases is collected";
    "dynamic" in dynamic, "the least worn";
    "none" in none, "the one with the lowest number";
}

/// What a policy is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wear {
    /// `gc.wear_threshold`. Unit: erases.
    pub threshold: u32,
}

impl Wear {
    pub(crate) fn new(threshold: u32) -> Wear {
        Wear { threshold }
    }
}

impl Default for Wear {
    fn default() -> Wear {
        Wear::new(100)
    }
}

/// A policy of wear levelling. Each log has its own.
pub trait WearLevelling: Debug + Send {
    /// The place of a free superblock, erased so often, in the order in which they are taken: the least first, and of equals
    /// that with the lowest number. Cold data goes to the last.
    fn order(&self, erases: u32) -> u32;

    /// Whether a closed superblock lags behind, so that its data is taken for cold and moves to the most worn. `most` is how
    /// often that was erased. Of several the one that was erased least goes first, and every other victim at most is such a
    /// one, so that free superblocks grow in number all the same.
    fn lags(&self, _erases: u32, _most: u32) -> bool {
        false
    }
}
