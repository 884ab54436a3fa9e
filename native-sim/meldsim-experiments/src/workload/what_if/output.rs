//! Outcomes as a table, as CSV, and as a page with charts.

use super::{Figures, Layout, Outcome, WhatIf};
use crate::report::chart::{Axis, BarChart, Line, LineChart};
use crate::report::{Align, Page, Table, duration, rate_mib_s};
use crate::workload::output::nines;
use meldsim::engine::Time;

impl WhatIf {
    /// The outcomes for people.
    pub fn to_text(&self) -> String {
        let mut text = self.table().to_string();
        for outcome in self.outcomes.iter().filter(|outcome| outcome.failed > 0) {
            text += &format!(
                "{}: {} requests failed: the device is full\n",
                outcome.name(),
                outcome.failed
            );
        }
        text + &self.verdict + "\n"
    }

    fn table(&self) -> Table {
        let mut table = Table::new([
            ("profile", Align::Left),
            ("layout", Align::Left),
            ("time", Align::Right),
            ("read", Align::Right),
            ("write", Align::Right),
            ("read mean us", Align::Right),
            ("p50 us", Align::Right),
            ("p99 us", Align::Right),
            ("write mean us", Align::Right),
            ("dies busy", Align::Right),
            ("channels busy", Align::Right),
            ("WA", Align::Right),
        ]);
        for outcome in &self.outcomes {
            table.row(outcome.cells());
        }
        table
    }

    /// One row for each outcome, under a header (RFC 4180).
    pub fn to_csv(&self) -> String {
        let mut csv = "profile,layout,duration_us,read_mib_s,write_mib_s,read_mean_us,read_p50_us,read_p99_us,\
                       write_mean_us,write_p50_us,write_p99_us,dies_busy_percent,channels_busy_percent,\
                       write_amplification,failed\n"
            .to_owned();
        for outcome in &self.outcomes {
            let number = |value: f64| format!("{value:.3}");
            let figures = [&outcome.read, &outcome.write].map(Option::as_ref);
            let mut row = vec![
                format!("\"{}\"", outcome.profile.replace('"', "\"\"")),
                outcome.layout.name().replace(' ', "-"),
                number(outcome.duration_us),
            ];
            let each = |value: fn(&Figures) -> f64| {
                figures
                    .map(|figures| figures.map_or(String::new(), |figures| number(value(figures))))
            };
            row.extend(each(|figures| figures.bandwidth_mib_s));
            for figures in figures {
                let latency = figures.map(|figures| figures.latency);
                let latencies = latency.map(|l| [l.mean_us, l.p50_us, l.p99_us].map(number));
                row.extend(latencies.unwrap_or_default());
            }
            row.push(number(outcome.dies_busy_percent));
            row.push(number(outcome.channels_busy_percent));
            row.push(number(outcome.write_amplification));
            row.push(outcome.failed.to_string());
            csv += &(row.join(",") + "\n");
        }
        csv
    }

    /// The outcomes as a page in HTML that needs nothing else.
    pub fn to_html(&self, title: &str, footer: &str) -> String {
        let mut page = Page::new(title);
        page.paragraph(&self.verdict);
        page.heading("Outcomes").table(&self.table());
        page.heading("Reads");
        let mean = |outcome: &Outcome| Some(outcome.read.as_ref()?.latency.mean_us);
        let p99 = |outcome: &Outcome| Some(outcome.read.as_ref()?.latency.p99_us);
        page.chart(
            &self.bars("Mean read latency", "us", &mean),
            "Arrival to completion, all volumes; less is better. Simulated.",
        );
        page.chart(
            &self.bars("Read latency, 99th percentile", "us", &p99),
            "Arrival to completion, all volumes; less is better. Simulated.",
        );
        for layout in [Layout::AsRecorded, Layout::AllMelded] {
            let chart = self.distribution(layout);
            if !chart.lines.is_empty() {
                page.chart(
                    &chart.to_svg(),
                    "So many percent of the reads took at most this long. Simulated.",
                );
            }
        }
        page.heading("Device");
        let caption = match self.replay {
            "open" => {
                "Reads and writes. Where requests arrive when they were recorded, a device that keeps up gives no more than was asked. Simulated."
            }
            _ => "Reads and writes; more is better. Simulated.",
        };
        page.chart(
            &self.bars("Throughput", "MiB/s", &|outcome| {
                Some(outcome.bandwidth_mib_s())
            }),
            caption,
        );
        page.chart(
            &self.bars("Busy share of the dies", "%", &|outcome| {
                Some(outcome.dies_busy_percent)
            }),
            "What is not busy is left for others. Simulated.",
        );
        page.chart(
            &self.bars("Write amplification", "pages programmed for each page written", &|outcome| {
                Some(outcome.write_amplification)
            }),
            "Garbage collection's share of the programming; each device is fresh at the start. Simulated.",
        );
        page.finish(footer)
    }

    /// A group for each profile, a bar for each layout.
    fn bars(&self, title: &str, unit: &str, value: &dyn Fn(&Outcome) -> Option<f64>) -> String {
        let layouts = [Layout::AsRecorded, Layout::AllMelded, Layout::NoneMelded];
        let mut groups: Vec<(String, Vec<Option<f64>>)> = Vec::new();
        for outcome in &self.outcomes {
            // Each profile begins with its data as recorded.
            if outcome.layout == Layout::AsRecorded {
                groups.push((outcome.profile.clone(), vec![None; layouts.len()]));
            }
            let bar = layouts.iter().position(|layout| *layout == outcome.layout);
            if let (Some((_, bars)), Some(bar)) = (groups.last_mut(), bar) {
                bars[bar] = value(outcome);
            }
        }
        BarChart {
            title: title.to_owned(),
            axis: unit.to_owned(),
            series: layouts.map(|layout| layout.name().to_owned()).to_vec(),
            groups,
        }
        .to_svg()
    }

    fn distribution(&self, layout: Layout) -> LineChart {
        let outcomes = self
            .outcomes
            .iter()
            .filter(|outcome| outcome.layout == layout);
        let lines: Vec<Line> = outcomes
            .filter_map(|outcome| {
                let reads = outcome.read.as_ref()?;
                Some(Line::new(
                    outcome.profile.clone(),
                    nines::points(&reads.latencies),
                ))
            })
            .collect();
        LineChart {
            title: format!("Read latency distribution, {}", layout.name()),
            x: nines::axis(&lines),
            y: Axis::log("latency, us"),
            lines,
        }
    }
}

impl Outcome {
    fn cells(&self) -> Vec<String> {
        let dash = || "-".to_owned();
        let us = |us: f64| format!("{us:.1}");
        let rate = |figures: &Option<Figures>| {
            let figures = figures.as_ref();
            figures.map_or_else(dash, |figures| rate_mib_s(figures.bandwidth_mib_s))
        };
        let read = self.read.as_ref().map(|figures| figures.latency);
        let write = self.write.as_ref().map(|figures| figures.latency);
        vec![
            self.profile.clone(),
            self.layout.name().to_owned(),
            duration(Time::from_ps((self.duration_us * 1e6) as u64)),
            rate(&self.read),
            rate(&self.write),
            read.map_or_else(dash, |l| us(l.mean_us)),
            read.map_or_else(dash, |l| us(l.p50_us)),
            read.map_or_else(dash, |l| us(l.p99_us)),
            write.map_or_else(dash, |l| us(l.mean_us)),
            format!("{:.1} %", self.dies_busy_percent),
            format!("{:.1} %", self.channels_busy_percent),
            format!("{:.2}", self.write_amplification),
        ]
    }
}
