//! The curves, each in a chart: measured and simulated over each other.

use super::chart::{Axis, Line, LineChart};
use meldsim_measured::{Cell, distinct};

/// What is drawn: kind, column, what the curves run over, whether that is logarithmic, and the axis of values.
const DRAWN: [(&str, &str, &str, bool, &str); 6] = [
    (
        "read_latency_by_depth",
        "iops",
        "reads outstanding",
        true,
        "reads a second",
    ),
    (
        "read_latency_by_depth",
        "p99_us",
        "reads outstanding",
        true,
        "p99, us",
    ),
    (
        "latency_by_offered_rate",
        "read_p99_us",
        "offered a second",
        true,
        "p99 of reads, us",
    ),
    (
        "latency_by_offered_rate",
        "write_p50_us",
        "offered a second",
        true,
        "p50 of writes, us",
    ),
    (
        "latency_by_offered_rate",
        "write_p99_us",
        "offered a second",
        true,
        "p99 of writes, us",
    ),
    ("init_series", "host_MBps", "drive writes", false, "MB/s"),
];

/// What to see in the charts.
pub const MEASURED_CAPTION: &str = "Dashed: measured. Solid: simulated.";

/// A chart for each curve that is drawn: as measured, and as simulated.
pub fn measured_charts(cells: &[Cell]) -> Vec<LineChart> {
    let mut charts = Vec::new();
    for (kind, column, over, is_log, value) in DRAWN {
        let of_kind =
            |cell: &&Cell| cell.question.class.kind == kind && cell.question.column == column;
        for (drive, name) in distinct(cells.iter().filter(of_kind).map(curve)) {
            let of_curve = cells.iter().filter(of_kind);
            let of_curve: Vec<&Cell> = of_curve
                .filter(|cell| curve(cell) == (drive, name))
                .collect();
            let axis = |what: &str| match is_log {
                true => Axis::log(what),
                false => Axis::linear(what),
            };
            charts.push(LineChart {
                title: format!("{drive}, {name}: {value}"),
                x: axis(over),
                y: axis(value),
                lines: lines(&of_curve),
            });
        }
    }
    charts
}

fn curve(cell: &Cell) -> (&str, &str) {
    (cell.question.drive, &cell.question.curve)
}

/// A curve twice.
fn lines(cells: &[&Cell]) -> Vec<Line> {
    let of = |value: fn(&Cell) -> f64| {
        let points = cells.iter().map(|cell| (cell.question.x, value(cell)));
        let drawn = points.filter(|(x, y)| x.is_finite() && y.is_finite());
        let mut points: Vec<(f64, f64)> = drawn.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    vec![
        Line::new("measured", of(|cell| cell.question.measured)).dashed(),
        Line::new("simulated", of(|cell| cell.simulated)),
    ]
}
