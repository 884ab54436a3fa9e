//! `[predictable_latency]`: what an NVM set offers in predictable latency mode.

use serde::{Deserialize, Serialize};

use super::validate::Checker;
use crate::engine::Time;

/// `[predictable_latency]`: the budget of a deterministic window (DTWIN) of an NVM set, and the
/// non-deterministic time (NDWIN) it takes to earn it. Nothing of it matters before the mode is
/// enabled for a set, by a host or by `alternate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PredictableLatency {
    /// Whether the mode is enabled from the start, and every set goes to the deterministic window
    /// by itself, with the first command after it has earned a whole one: as a host would do that
    /// wants as much of it as there is. Default false.
    pub alternate: bool,
    /// Random reads of 4 KiB a window takes. Unit: count; range 1 to 1000000000000; default
    /// 1000000 \[A\].
    pub dtwin_reads: u64,
    /// Writes of the optimal write size a window takes. Unit: count; range 1 to 1000000000000;
    /// default 10000 \[A\].
    pub dtwin_writes: u64,
    /// How long a window lasts at most. Unit: time; range 1ms to 3600s; default 1s \[A\].
    pub dtwin_time: Time,
    /// Non-deterministic time that earns a whole window. Unit: time; range `ndwin_time_low` to
    /// 3600s; default 1s \[A\].
    pub ndwin_time_high: Time,
    /// Non-deterministic time before any window; what it earns is in proportion to
    /// `ndwin_time_high`. Unit: time; range 1ms to `ndwin_time_high`; default 100ms \[A\].
    pub ndwin_time_low: Time,
}

impl Default for PredictableLatency {
    fn default() -> PredictableLatency {
        PredictableLatency {
            alternate: false,
            dtwin_reads: 1_000_000,
            dtwin_writes: 10_000,
            dtwin_time: Time::from_ms(1_000),
            ndwin_time_high: Time::from_ms(1_000),
            ndwin_time_low: Time::from_ms(100),
        }
    }
}

impl PredictableLatency {
    pub(super) fn check(&self, checker: &mut Checker) {
        let hour = Time::from_ms(3_600_000);
        let least = Time::from_ms(1);
        let key = |name: &str| format!("predictable_latency.{name}");
        let counts = [
            ("dtwin_reads", self.dtwin_reads),
            ("dtwin_writes", self.dtwin_writes),
        ];
        for (name, count) in counts {
            checker.range(&key(name), &count, 1..=1_000_000_000_000);
        }
        checker.range(&key("dtwin_time"), &self.dtwin_time, least..=hour);
        let (low, high) = (self.ndwin_time_low, self.ndwin_time_high);
        checker.range(&key("ndwin_time_low"), &low, least..=hour);
        checker.range(&key("ndwin_time_high"), &high, low.min(hour)..=hour);
    }
}
