//! Axes: how values become distances, and where their ticks are.

use crate::svg::{linear_ticks, log_ticks, short};

/// How values become distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences, equal distances.
    Linear,
    /// Equal ratios, equal distances; values that are not positive are left out.
    Log,
}

/// One axis of a chart.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows, with the unit.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// Where to put which text; round numbers when empty.
    pub ticks: Vec<(f64, String)>,
}

/// Fewer values than this have no outliers.
const FEW_VALUES: usize = 20;
/// The share of the values that is always within a clipped axis.
const WITHIN: f64 = 0.95;
/// What is above these by more than this factor is an outlier.
const FAR: f64 = 3.0;

impl Axis {
    /// A linear axis that begins at 0 or below.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis {
            label: label.into(),
            scale: Scale::Linear,
            ticks: Vec::new(),
        }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis {
            scale: Scale::Log,
            ..Axis::linear(label)
        }
    }

    /// The same, from 0 to at least this value: for charts that are compared.
    pub fn to(self, value: f64) -> Axis {
        let mut ticks = linear_ticks(0.0, value, 5);
        if let [.., before, last] = ticks[..] {
            ticks.extend((last < value).then_some(2.0 * last - before));
        }
        let ticks = ticks.into_iter();
        Axis {
            ticks: ticks.map(|tick| (tick, short(tick))).collect(),
            ..self
        }
    }

    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// Where the axis ends when a few values are far above all others; those are marked at its end. A logarithmic axis
    /// has room for them.
    pub(super) fn clip(&self, values: impl Iterator<Item = f64>) -> Option<f64> {
        let mut values: Vec<f64> = values.filter(|value| self.shows(*value)).collect();
        if self.scale == Scale::Log || values.len() < FEW_VALUES {
            return None;
        }
        values.sort_by(f64::total_cmp);
        let within = *values.get((values.len() as f64 * WITHIN) as usize)?;
        let highest = *values.last()?;
        (within > 0.0 && highest > FAR * within).then_some(1.25 * within)
    }

    /// The least and the greatest value to show of `values`; never an empty range.
    pub(super) fn range(&self, values: impl Iterator<Item = f64>) -> (f64, f64) {
        let shown = values.chain(self.ticks.iter().map(|(at, _)| *at));
        let (low, high) = shown
            .filter(|value| self.shows(*value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        match self.scale {
            _ if low > high => (1.0, 10.0),
            Scale::Linear => {
                let low = low.min(0.0);
                (low, if high > low { high * 1.04 } else { low + 1.0 })
            }
            Scale::Log => (low / 1.1, high * 1.1),
        }
    }

    /// Where `value` lies in `range`, 0 to 1.
    pub(super) fn position(&self, value: f64, (low, high): (f64, f64)) -> f64 {
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => libm::log(value / low) / libm::log(high / low),
        }
    }

    pub(super) fn marks(&self, (low, high): (f64, f64), most: u32) -> Vec<(f64, String)> {
        if !self.ticks.is_empty() {
            return self.ticks.clone();
        }
        let ticks = match self.scale {
            Scale::Linear => linear_ticks(low, high, most),
            Scale::Log => log_ticks(low, high),
        };
        ticks.into_iter().map(|tick| (tick, short(tick))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_does_not_flatten_the_rest() {
        let values = |outlier: f64| (0..40).map(f64::from).chain([outlier]);
        assert_eq!(Axis::linear("").clip(values(5e6)), Some(1.25 * 38.0));
        assert_eq!(Axis::linear("").clip(values(41.0)), None);
        assert_eq!(Axis::log("").clip(values(5e6)), None);
        assert_eq!(Axis::linear("").clip([1.0, 1.0, 5e6].into_iter()), None);
        // Mostly nothing is no scale to clip to.
        assert_eq!(
            Axis::linear("").clip((0..99).map(|n| f64::from(n / 98))),
            None
        );
    }
}
