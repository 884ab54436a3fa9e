//! `[sets]` and `[predictable_latency]`: NVM sets and their windows.
//!
//! NVM sets and predictable latency mode are those of the NVM Express Base Specification.

use serde::{Deserialize, Serialize};

use super::check::{Checker, names, section};
use super::flash::Geometry;
use crate::engine::Duration;

const HOUR: Duration = Duration::from_ms(3_600_000);

section! {
    /// `[sets]`: parts of the device that share as little as the layout allows. Each has its own
    /// mapping, blocks, garbage collection, over-provisioning and share of the mapping's memory.
    #[non_exhaustive]
    Sets = "sets" {
        /// How the device is divided: `baseline`, `vertical`, `horizontal` or `mixed` \[P\]; default
        /// `baseline`.
        layout: SetLayout = SetLayout::default();
        /// NVM sets. Unit: count; 1 for `baseline`, else any count that divides what the layout divides;
        /// default 1.
        count: u32 = 1, 1..=65_536;
        /// Groups of channels of a `mixed` layout; the sets of a group share its channels. Unit: count; 1
        /// for the other layouts; default 1.
        channel_groups: u32 = 1, 1..=256;
        /// Whose the slots of the write buffer are: each set's own in equal parts, `local`, or `global`: any
        /// set may fill all of it, and the others' writes then wait. Default `local` \[A\].
        write_buffer: BufferScope = BufferScope::default();
    }
}

section! {
    /// `[predictable_latency]`: the budget of a deterministic window (DTWIN) of an NVM set, and the
    /// non-deterministic time (NDWIN) it takes to earn it. Nothing of it matters before the mode is
    /// enabled for a set, by a host or by `alternate`.
    #[non_exhaustive]
    PredictableLatency = "predictable_latency" {
        /// Whether the mode is enabled from the start, and every set goes to the deterministic window
        /// by itself, with the first command after it has earned a whole one: as a host would do that
        /// wants as much of it as there is. Default false.
        alternate: bool = false;
        /// Random reads of 4 KiB a window takes. Unit: count; range 1 to 1000000000000; default
        /// 1000000 \[A\].
        dtwin_reads: u64 = 1_000_000, 1..=1_000_000_000_000;
        /// Writes of the optimal write size a window takes. Unit: count; range 1 to 1000000000000;
        /// default 10000 \[A\].
        dtwin_writes: u64 = 10_000, 1..=1_000_000_000_000;
        /// How long a window lasts at most. Unit: time; range 1ms to 3600s; default 1s \[A\].
        dtwin_time: Duration = Duration::from_ms(1_000), Duration::from_ms(1)..=HOUR;
        /// Non-deterministic time that earns a whole window. Unit: time; range `ndwin_time_low` to
        /// 3600s; default 1s \[A\].
        ndwin_time_high: Duration = Duration::from_ms(1_000);
        /// Non-deterministic time before any window; what it earns is in proportion to
        /// `ndwin_time_high`. Unit: time; range 1ms to `ndwin_time_high`; default 100ms \[A\].
        ndwin_time_low: Duration = Duration::from_ms(100), Duration::from_ms(1)..=HOUR;
    }
}

names! {
    /// How the device is divided into NVM sets (Seagate and Facebook, Flash Memory Summit 2017).
    #[non_exhaustive]
    SetLayout {
        /// Not at all: one set of all channels and dies.
        #[default]
        Baseline = "baseline",
        /// Each set has channels of its own.
        Vertical = "vertical",
        /// The sets share all channels; each has dies of its own on every channel.
        Horizontal = "horizontal",
        /// The sets of a group of channels share these; each has dies of its own on them.
        Mixed = "mixed",
    }
}

names! {
    /// Whether NVM sets have parts of the write buffer of their own ("localization of the globals", Flash Memory Summit
    /// 2017).
    #[non_exhaustive]
    BufferScope {
        /// Each set has its equal part.
        #[default]
        Local = "local",
        /// The sets share all of it; who comes first takes it.
        Global = "global",
    }
}

impl Sets {
    /// Whether the geometry can be divided so.
    pub(super) fn check(&self, geometry: &Geometry, checker: &mut Checker) {
        self.check_ranges(checker);
        let divided = ["sets", "geometry.channels", "geometry.dies_per_channel"];
        if !checker.are_sound(&divided) {
            return;
        }
        let (channels, dies) = (geometry.channels, geometry.dies_per_channel);
        let mut divides = |key: &str, parts: u32, whole: u32, of: &str| {
            if whole % parts != 0 {
                let message = format!("is {parts}, which does not divide {whole}");
                checker.refuse(key, message, format!("must divide {of}"));
            }
        };
        match self.layout {
            SetLayout::Baseline => {
                if self.count != 1 {
                    let message = format!("is {} with sets.layout = \"baseline\"", self.count);
                    let remedy = "must be 1, or choose vertical, horizontal or mixed";
                    checker.refuse("sets.count", message, remedy);
                }
            }
            SetLayout::Vertical => {
                divides("sets.count", self.count, channels, "geometry.channels");
            }
            SetLayout::Horizontal => {
                let of = "geometry.dies_per_channel";
                divides("sets.count", self.count, dies, of);
            }
            SetLayout::Mixed => {
                let groups = self.channel_groups;
                divides("sets.channel_groups", groups, channels, "geometry.channels");
                if self.count % groups != 0 {
                    let message = format!("is {groups}, which does not divide {}", self.count);
                    let remedy = "must divide sets.count";
                    checker.refuse("sets.channel_groups", message, remedy);
                } else {
                    let of = "geometry.dies_per_channel in each channel group";
                    divides("sets.count", self.count / groups, dies, of);
                }
            }
        }
        if self.layout != SetLayout::Mixed && self.channel_groups != 1 {
            let message = format!("is {}", self.channel_groups);
            let remedy = "must be 1 unless sets.layout is \"mixed\"";
            checker.refuse("sets.channel_groups", message, remedy);
        }
    }
}

impl PredictableLatency {
    pub(super) fn check(&self, checker: &mut Checker) {
        self.check_ranges(checker);
        if !checker.are_sound(&["predictable_latency.ndwin_time_low"]) {
            return;
        }
        let whole_window = self.ndwin_time_low..=HOUR;
        let high = &self.ndwin_time_high;
        checker.range("predictable_latency.ndwin_time_high", high, whole_window);
    }
}
