//! `[gc]`: garbage collection and wear levelling.

use serde::{Deserialize, Serialize};

use super::sections::{Allocation, Profile};
use super::validate::Checker;
use crate::engine::Time;

/// `[gc]`. Blocks here are what is collected at a time: a superblock with dynamic allocation, one
/// block of one plane with static allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gc {
    /// Which block is collected: `greedy`, `cost-benefit` or `windowed-greedy`. Default `greedy`.
    pub victim: GcVictim,
    /// Blocks `windowed-greedy` looks at, those closed first. Unit: count; range 1 to 1048576;
    /// default 64 \[A\].
    pub window: u32,
    /// Also collect when the host is idle, not only when free blocks run out. Default false.
    pub background: bool,
    /// How long no command was outstanding before the host counts as idle. Unit: time; range 1us to
    /// 10s; default 1ms \[A\].
    pub background_idle: Time,
    /// Collecting in the background ends when this share of the blocks is free. Unit: percent; range
    /// 1 to 90; default 3 \[A\].
    pub background_free_percent: u32,
    /// Re-decide the layout of what is moved: data read sequentially since it was written is melded,
    /// melded data read at random is not any more. Needs a device that melds and dynamic allocation.
    /// Default false.
    pub relayout: bool,
    /// Which free block is used next. `none`: the one with the lowest number. `dynamic`: the least
    /// worn. `static`: the same, and blocks that lag behind by more than `wear_threshold` erases are
    /// collected though their data is cold, which then goes to the most worn. Default `static`.
    pub wear_levelling: WearLevelling,
    /// Erases by which a block may lag behind the most worn. Unit: count; range 1 to 1000000;
    /// default 100 \[A\].
    pub wear_threshold: u32,
}

/// Which block is collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcVictim {
    /// The one with fewest valid pages.
    #[default]
    Greedy,
    /// The one with the most benefit for its cost: age x (1 - u) / 2u, for a valid share of u.
    CostBenefit,
    /// The one with fewest valid pages among those closed first.
    WindowedGreedy,
}

/// Which free block is used next, and whether cold data moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WearLevelling {
    /// The free block with the lowest number.
    None,
    /// By wear.
    Dynamic,
    /// By wear, and cold data moves off blocks that lag behind.
    #[default]
    Static,
}

impl Default for Gc {
    fn default() -> Gc {
        Gc {
            victim: GcVictim::default(),
            window: 64,
            background: false,
            background_idle: Time::from_ms(1),
            background_free_percent: 3,
            relayout: false,
            wear_levelling: WearLevelling::default(),
            wear_threshold: 100,
        }
    }
}

impl Gc {
    pub(super) fn check(&self, checker: &mut Checker) {
        checker.range("gc.window", &self.window, 1..=1 << 20);
        let idle = Time::from_us(1)..=Time::from_ms(10_000);
        checker.range("gc.background_idle", &self.background_idle, idle);
        let free = &self.background_free_percent;
        checker.range("gc.background_free_percent", free, 1..=90);
        checker.range("gc.wear_threshold", &self.wear_threshold, 1..=1_000_000);
    }
}

impl Profile {
    pub(super) fn check_relayout(&self, checker: &mut Checker) {
        if !self.gc.relayout {
            return;
        }
        let key = "gc.relayout";
        if self.timing.melded_read.is_none() {
            let message = "is true for a device that cannot meld";
            checker.refuse(key, message, "turn it off or give timing.melded_read");
        }
        if self.ftl.allocation == Allocation::Static {
            checker.refuse(
                key,
                "is true, but with static allocation the layout decides on which plane a page lies",
                "turn it off or set ftl.allocation = \"dynamic\"",
            );
        }
    }
}
