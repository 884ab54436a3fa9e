//! Latency over percentiles, each nine as wide as the one before.

use crate::report::LatencyHistogram;
use crate::report::chart::{Axis, Line};

/// Latency in microseconds over `1 / (1 - quantile)`, as far as there are requests.
pub(in crate::workload) fn points(histogram: &LatencyHistogram) -> Vec<(f64, f64)> {
    const STEPS_PER_DECADE: i32 = 20;
    let us = |quantile: f64| histogram.quantile(quantile).as_ps() as f64 / 1e6;
    let last = (histogram.count() as f64).min(1e5);
    (0..=5 * STEPS_PER_DECADE)
        .map(|step| 10f64.powf(f64::from(step) / f64::from(STEPS_PER_DECADE)))
        .take_while(|at| *at <= last)
        .map(|at| (at, us(1.0 - 1.0 / at)))
        .collect()
}

/// The axis under such lines, as far as they go.
pub(in crate::workload) fn axis(lines: &[Line]) -> Axis {
    let ticks = [
        (1.0, "0"),
        (2.0, "50"),
        (10.0, "90"),
        (100.0, "99"),
        (1e3, "99.9"),
        (1e4, "99.99"),
        (1e5, "99.999"),
    ];
    let furthest = lines.iter().filter_map(|line| line.points.last());
    let furthest = furthest.map(|point| point.0).fold(10.0, f64::max);
    let shown = ticks.into_iter().filter(|(at, _)| *at <= furthest);
    Axis {
        ticks: shown.map(|(at, text)| (at, text.to_owned())).collect(),
        ..Axis::log("percentile")
    }
}
