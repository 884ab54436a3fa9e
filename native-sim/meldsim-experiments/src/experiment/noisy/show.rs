//! The layouts as sheets and pictures.

use super::super::outcome::{Chart, Figure};
use super::super::sheet::{Cell, Sheet};
use super::{Layout, Reader, Scale, Window};
use crate::report::chart::{Axis, BarChart, Line, LineChart};

pub(super) fn sheets(layouts: &[Layout]) -> Vec<Sheet> {
    vec![latencies(layouts), bandwidths(layouts), over_time(layouts)]
}

fn readers(layout: &Layout) -> [(&'static str, &Reader); 2] {
    [("without", &layout.quiet), ("with", &layout.noisy)]
}

fn latencies(layouts: &[Layout]) -> Sheet {
    let mut sheet = Sheet::new(
        "reader",
        &[
            ("layout", "layout"),
            ("writer", "writer"),
            ("read_iops", "read IOPS"),
            ("average_us", "average us"),
            ("p99_us", "p99 us"),
            ("p99_9_us", "p99.9 us"),
            ("max_us", "max us"),
            ("writer_mib_s", "writer MiB/s"),
            ("erases", "blocks erased"),
        ],
    );
    for layout in layouts {
        for (writer, reader) in readers(layout) {
            let latency = &reader.latency;
            sheet.row([
                Cell::text(layout.name),
                Cell::text(writer),
                Cell::Number(reader.iops, 0),
                Cell::Number(latency.mean_us, 1),
                Cell::Number(latency.p99_us, 1),
                Cell::Number(latency.p99_9_us, 1),
                Cell::Number(latency.max_us, 1),
                reader
                    .writer_mib_s
                    .map_or(Cell::Missing, |rate| Cell::Number(rate, 0)),
                Cell::Count(reader.erases),
            ]);
        }
    }
    sheet
}

fn bandwidths(layouts: &[Layout]) -> Sheet {
    let mut sheet = Sheet::new(
        "alone",
        &[
            ("layout", "layout"),
            ("mib_s", "one set alone MiB/s"),
            ("share", "of the baseline"),
        ],
    );
    let whole = layouts
        .first()
        .map_or(f64::NAN, |baseline| baseline.alone_mib_s);
    for layout in layouts {
        sheet.row([
            Cell::text(layout.name),
            Cell::Number(layout.alone_mib_s, 0),
            Cell::Number(layout.alone_mib_s / whole, 3),
        ]);
    }
    sheet
}

fn over_time(layouts: &[Layout]) -> Sheet {
    let mut sheet = Sheet::detail(
        "over_time",
        &[
            ("layout", "layout"),
            ("writer", "writer"),
            ("window", "window"),
            ("reads", "reads"),
            ("average_us", "average us"),
            ("max_us", "max us"),
        ],
    );
    for layout in layouts {
        for (writer, reader) in readers(layout) {
            for (number, window) in reader.windows.iter().enumerate() {
                sheet.row([
                    Cell::text(layout.name),
                    Cell::text(writer),
                    Cell::Count(number as u64),
                    Cell::Count(window.count),
                    Cell::Number(window.sum_us / window.count.max(1) as f64, 1),
                    Cell::Number(window.max_us, 1),
                ]);
            }
        }
    }
    sheet
}

pub(super) fn figures(layouts: &[Layout], scale: Scale) -> Vec<Figure> {
    let max = |window: &Window| window.max_us;
    let average = |window: &Window| window.sum_us / window.count.max(1) as f64;
    vec![
        picture(
            layouts,
            scale,
            "Longest read of each moment, with the writer",
            max,
        ),
        picture(
            layouts,
            scale,
            "Average read of each moment, with the writer",
            average,
        ),
        Figure {
            chart: Chart::Bar(BarChart {
                title: "p99 of the reader".to_owned(),
                axis: "us".to_owned(),
                series: vec!["without the writer".to_owned(), "with".to_owned()],
                groups: layouts
                    .iter()
                    .map(|layout| {
                        let p99 = readers(layout).map(|(_, reader)| Some(reader.latency.p99_us));
                        (layout.name.to_owned(), p99.into())
                    })
                    .collect(),
            }),
            caption: "Own channels and own dies: nothing of the writer is left to see.".to_owned(),
        },
        Figure {
            chart: Chart::Bar(BarChart {
                title: "Bandwidth of one set alone".to_owned(),
                axis: "MiB/s".to_owned(),
                series: vec!["128 KiB random reads".to_owned()],
                groups: layouts
                    .iter()
                    .map(|layout| (layout.name.to_owned(), vec![Some(layout.alone_mib_s)]))
                    .collect(),
            }),
            caption: "What isolation costs: channels that a set does not have.".to_owned(),
        },
    ]
}

fn picture(
    layouts: &[Layout],
    scale: Scale,
    title: &str,
    value: impl Fn(&Window) -> f64,
) -> Figure {
    let window_ms = scale.counted.as_ps() as f64 / 1e9 / scale.windows as f64;
    let line = |layout: &Layout| {
        let windows = layout.noisy.windows.iter().enumerate();
        let points = windows.map(|(number, window)| (number as f64 * window_ms, value(window)));
        Line::new(layout.name, points.collect())
    };
    Figure {
        chart: Chart::Line(LineChart {
            title: title.to_owned(),
            x: Axis::linear("ms"),
            y: Axis::log("us"),
            lines: layouts.iter().map(line).collect(),
        }),
        caption: "In the baseline reads wait for the writer's programs and erases.".to_owned(),
    }
}
