//! A result as a page with charts.

use super::super::result::{DeviceResult, RunResult};
use super::super::series::{Interval, TimeSeries, Track};
use super::nines;
use crate::report::chart::{Axis, BarChart, HeatMap, HeatScale, Line, LineChart};
use crate::report::{Align, Page, Table};

/// More channels than this are shown in the heat map only.
const CHANNEL_BARS: usize = 64;

impl RunResult {
    /// The run as a page in HTML that needs nothing else. `title` says what ran, `footer` where the numbers come from.
    pub fn to_html(&self, title: &str, footer: &str) -> String {
        let mut page = Page::new(title);
        page.heading("Requests").table(&self.table());
        page.heading("Latency").chart(
            &self.latency_chart().to_svg(),
            "Arrival to completion; so many percent of the requests took at most this long. Simulated.",
        );
        if let Some(series) = &self.series {
            series.charts(&mut page);
        }
        page.heading("Device");
        for line in self.device.to_text().lines() {
            page.paragraph(line);
        }
        self.device.charts(&mut page);
        page.heading("Counters").table(&self.device.counters());
        page.finish(footer)
    }

    /// Latency over percentiles, each nine as wide as the one before.
    fn latency_chart(&self) -> LineChart {
        let directions = self.jobs.iter().flat_map(|job| {
            let named = |(op, direction)| (format!("{} {op}", job.name), direction);
            job.directions().map(named)
        });
        let lines: Vec<Line> = directions
            .map(|(name, direction)| Line::new(name, nines::points(direction.latencies())))
            .collect();
        LineChart {
            title: "Latency distribution".to_owned(),
            x: nines::axis(&lines),
            y: Axis::log("latency, us"),
            lines,
        }
    }
}

impl TimeSeries {
    fn charts(&self, page: &mut Page) {
        page.heading("Over time");
        let chart = |title: &str, y: Axis, lines: Vec<Line>| {
            LineChart {
                title: title.to_owned(),
                x: Axis::linear("simulated time, ms"),
                y,
                lines,
            }
            .to_svg()
        };
        let iops = self.lines(|interval| Some(interval.iops));
        page.chart(
            &chart("Requests a second", Axis::linear("IOPS"), iops),
            &format!("By interval of {} us. Simulated.", self.interval_us),
        );
        let bandwidth = self.lines(|interval| Some(interval.bandwidth_mib_s));
        page.chart(
            &chart("Bandwidth", Axis::linear("MiB/s"), bandwidth),
            "Bytes of requests that completed. Simulated.",
        );
        let p99 = self.lines(|interval| interval.p99_us);
        page.chart(
            &chart("Latency, 99th percentile", Axis::log("us"), p99),
            "Of the requests that completed in the interval. Simulated.",
        );
        let maximum = self.lines(|interval| interval.max_us);
        page.chart(
            &chart("Latency, maximum", Axis::log("us"), maximum),
            "Of the requests that completed in the interval. Simulated.",
        );
        let device = |name: &str, value: fn(&super::super::series::DeviceInterval) -> f64| {
            let points = self.device.iter().map(|at| (at.start_us / 1e3, value(at)));
            Line::new(name, points.collect())
        };
        let busy = vec![
            device("channels", |at| at.channel_busy_percent),
            device("dies", |at| at.die_busy_percent),
        ];
        page.chart(
            &chart("Busy share", Axis::linear("%"), busy),
            "Time that buses were held and dies worked, over all of them. Simulated.",
        );
        let moved = vec![
            device("pages moved by garbage collection", |at| {
                at.gc_pages_moved as f64
            }),
            device("wordlines programmed", |at| at.programs as f64),
        ];
        page.chart(
            &chart("Flash work by interval", Axis::linear("count"), moved),
            "Garbage collection shares the dies with requests. Simulated.",
        );
    }

    fn lines(&self, value: impl Fn(&Interval) -> Option<f64>) -> Vec<Line> {
        let line = |track: &Track| {
            let points = self.device.iter().zip(&track.intervals);
            let points =
                points.filter_map(|(at, interval)| Some((at.start_us / 1e3, value(interval)?)));
            Line::new(
                format!("{} {}", track.job, track.direction),
                points.collect(),
            )
        };
        self.tracks.iter().map(line).collect()
    }
}

impl DeviceResult {
    fn charts(&self, page: &mut Page) {
        let channels = self.channels_busy_percent();
        let dies = self.dies_busy_percent();
        let per_channel = dies.len() / channels.len().max(1);
        let row = |die: usize| {
            let row =
                (0..channels.len()).map(|channel| dies.get(channel * per_channel + die).copied());
            (die.to_string(), row.collect())
        };
        let map = HeatMap {
            title: "Busy share of every die, %".to_owned(),
            x: "channel".to_owned(),
            y: "die".to_owned(),
            columns: (0..channels.len())
                .map(|channel| channel.to_string())
                .collect(),
            rows: (0..per_channel).map(row).collect(),
            scale: HeatScale::Sequential(100.0),
        };
        page.chart(
            &map.to_svg(),
            "From a command to the last byte of its answer. Simulated.",
        );
        if channels.len() > CHANNEL_BARS {
            return;
        }
        let groups = channels.iter().enumerate();
        let bars = BarChart {
            title: "Busy share of every channel".to_owned(),
            axis: "%".to_owned(),
            series: vec!["held".to_owned()],
            groups: groups
                .map(|(channel, percent)| (channel.to_string(), vec![Some(*percent)]))
                .collect(),
        };
        page.chart(&bars.to_svg(), "Commands and data on the bus. Simulated.");
    }

    fn counters(&self) -> Table {
        let mut table = Table::new([("counter", Align::Left), ("value", Align::Right)]);
        let names = meldsim::Stats::NAMES.iter().zip(self.stats.to_array());
        for (name, value) in names.filter(|(_, value)| *value > 0) {
            table.row([(*name).to_owned(), value.to_string()]);
        }
        table
    }
}
