//! What a recorded workload would get from other devices, and from other layouts of its data.
//!
//! The trace is replayed once for each device and layout; each run starts with a fresh device. The results of the runs
//! come in; a comparison goes out as text, CSV, JSON, and as a page with charts.

use serde::Serialize;

use super::result::RunResult;
use super::tally::Tally;
use super::trace::ReplayMode;
use crate::report::chart::{BarChart, LineChart};
use crate::report::{
    Align, LatencyHistogram, LatencySummary, Page, Table, csv, duration, percent_of, rate_mib_s,
};
use meldsim::engine::Duration;
use meldsim::nvme::Pattern;
use meldsim::profile::Profile;

/// How a trace's data is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// As the trace says of each block.
    AsRecorded,
    /// Everything melded, as data that is read sequentially.
    AllMelded,
    /// Nothing melded.
    NoneMelded,
}

impl Layout {
    const ALL: [Layout; 3] = [Layout::AsRecorded, Layout::AllMelded, Layout::NoneMelded];

    /// The layouts that a device of this profile can have.
    pub fn of(profile: &Profile) -> &'static [Layout] {
        match profile.timing.melded_read {
            Some(_) => &Layout::ALL,
            None => &[Layout::AsRecorded],
        }
    }

    /// The read pattern to replay with in place of the recorded one, if any.
    pub fn read_pattern(self) -> Option<Pattern> {
        match self {
            Layout::AsRecorded => None,
            Layout::AllMelded => Some(Pattern::Sequential),
            Layout::NoneMelded => Some(Pattern::None),
        }
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Layout::AsRecorded => "as recorded",
            Layout::AllMelded => "all melded",
            Layout::NoneMelded => "none melded",
        }
    }
}

/// What one device and layout gave. Every figure is simulated.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The device.
    pub profile: String,
    /// How the data lay.
    pub layout: Layout,
    /// Simulated time from the first request's arrival to the last completion.
    pub duration_us: f64,
    /// The reads of all volumes, if any.
    pub read: Option<Figures>,
    /// The writes of all volumes, if any; done means accepted by the device's write buffer.
    pub write: Option<Figures>,
    /// Requests that failed because the device was full.
    pub failed: u64,
    /// Mean share of the time that a die was busy.
    pub dies_busy_percent: f64,
    /// Mean share of the time that a channel's bus was held.
    pub channels_busy_percent: f64,
    /// Pages programmed, for whomever, for each page programmed for the host.
    pub write_amplification: f64,
}

/// The reads or the writes of an outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Requests completed.
    pub requests: u64,
    /// Bytes of the requests that succeeded.
    pub bytes: u64,
    /// Bytes per simulated time.
    pub bandwidth_mib_s: f64,
    /// Arrival to completion.
    pub latency: LatencySummary,
    /// All latencies.
    #[serde(skip)]
    pub latencies: LatencyHistogram,
}

/// The outcomes, one for each device and layout in the order they were asked for.
#[derive(Clone, Debug, Serialize)]
pub struct WhatIf {
    /// `open`: requests arrived when they were recorded; `closed`: when one before them had completed.
    pub replay: &'static str,
    /// What was found.
    pub outcomes: Vec<Outcome>,
    /// Index of the best outcome.
    pub best: usize,
    /// The best outcome in a sentence, and what is best about it.
    pub verdict: String,
}

impl Outcome {
    /// The figures of a run.
    pub fn new(profile: &Profile, layout: Layout, run: &RunResult) -> Outcome {
        let duration_us = run.jobs.iter().map(|job| job.duration_us);
        let duration_us = duration_us.fold(0.0, f64::max);
        let figures = |name| {
            let directions = run.jobs.iter().flat_map(|job| job.directions());
            let parts = directions.filter(|(direction, _)| *direction == name);
            Figures::of(parts.map(|(_, tally)| tally), duration_us)
        };
        let stats = &run.device.stats;
        let busy = |busy_ps: u64, units: u64| percent_of(busy_ps, stats.now_ps * units.max(1));
        Outcome {
            profile: profile.name.clone(),
            layout,
            duration_us,
            read: figures("read"),
            write: figures("write"),
            failed: run.jobs.iter().map(|job| job.failed()).sum(),
            dies_busy_percent: busy(stats.die_busy_ps, stats.dies),
            channels_busy_percent: busy(stats.channel_busy_ps, stats.channels),
            write_amplification: run.device.run.write_amplification(),
        }
    }

    /// Bytes of both directions per simulated time.
    pub fn bandwidth_mib_s(&self) -> f64 {
        let both = [&self.read, &self.write].into_iter().flatten();
        both.map(|figures| figures.bandwidth_mib_s).sum()
    }

    /// The mean latency of the reads, or of the writes where nothing is read.
    fn mean_us(&self) -> f64 {
        let figures = self.read.as_ref().or(self.write.as_ref());
        figures.map_or(0.0, |figures| figures.latency.mean_us)
    }

    fn name(&self) -> String {
        format!("{} {}", self.profile, self.layout.name())
    }
}

impl Figures {
    fn of<'a>(parts: impl Iterator<Item = &'a Tally>, duration_us: f64) -> Option<Figures> {
        let mut all = Tally::default();
        parts.for_each(|part| all.merge(part));
        let seconds = (duration_us / 1e6).max(f64::MIN_POSITIVE);
        Some(Figures {
            requests: all.requests,
            bytes: all.bytes,
            bandwidth_mib_s: all.bytes as f64 / f64::from(1 << 20) / seconds,
            latency: all.latencies().summary()?,
            latencies: all.latencies().clone(),
        })
    }
}

impl WhatIf {
    /// Compares outcomes, of which there is at least one.
    pub fn new(mode: ReplayMode, outcomes: Vec<Outcome>) -> WhatIf {
        let better = |a: &Outcome, b: &Outcome| {
            // A device that had to refuse requests is no choice.
            let order = a.failed.cmp(&b.failed);
            order.then(match mode {
                ReplayMode::Open => a.mean_us().total_cmp(&b.mean_us()),
                ReplayMode::Closed => b.bandwidth_mib_s().total_cmp(&a.bandwidth_mib_s()),
            })
        };
        let best = (0..outcomes.len()).min_by(|a, b| better(&outcomes[*a], &outcomes[*b]));
        let best = best.unwrap_or(0);
        WhatIf {
            replay: match mode {
                ReplayMode::Open => "open",
                ReplayMode::Closed => "closed",
            },
            verdict: verdict(mode, &outcomes, best),
            outcomes,
            best,
        }
    }

    /// The outcomes for people.
    pub fn to_text(&self) -> String {
        self.to_text_within(usize::MAX)
    }

    /// The outcomes for people, their table within so many columns of a terminal.
    pub fn to_text_within(&self, columns: usize) -> String {
        let mut text = self.table().within(columns);
        for outcome in self.outcomes.iter().filter(|outcome| outcome.failed > 0) {
            let (name, failed) = (outcome.name(), outcome.failed);
            text += &format!("{name}: {failed} requests failed: the device is full\n");
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
            let show = |figures: &Option<Figures>, text: fn(&Figures) -> String| {
                figures.as_ref().map_or_else(|| "-".to_owned(), text)
            };
            let (read, write) = (&outcome.read, &outcome.write);
            let rate = |figures: &Figures| rate_mib_s(figures.bandwidth_mib_s);
            table.row([
                outcome.profile.clone(),
                outcome.layout.name().to_owned(),
                duration(Duration::from_ps((outcome.duration_us * 1e6) as u64)),
                show(read, rate),
                show(write, rate),
                show(read, |read| format!("{:.1}", read.latency.mean_us)),
                show(read, |read| format!("{:.1}", read.latency.p50_us)),
                show(read, |read| format!("{:.1}", read.latency.p99_us)),
                show(write, |write| format!("{:.1}", write.latency.mean_us)),
                format!("{:.1} %", outcome.dies_busy_percent),
                format!("{:.1} %", outcome.channels_busy_percent),
                format!("{:.2}", outcome.write_amplification),
            ]);
        }
        table
    }

    /// One row for each outcome, under a header.
    pub fn to_csv(&self) -> String {
        let header = "profile,layout,duration_us,read_mib_s,write_mib_s,read_mean_us,read_p50_us,read_p99_us,\
                      write_mean_us,write_p50_us,write_p99_us,dies_busy_percent,channels_busy_percent,\
                      write_amplification,failed";
        let rows = self.outcomes.iter().map(|outcome| {
            let number = |value: f64| format!("{value:.3}");
            let show = |figures: &Option<Figures>, value: fn(&Figures) -> f64| {
                let value = figures.as_ref().map(value);
                value.map_or(String::new(), number)
            };
            let (read, write) = (&outcome.read, &outcome.write);
            vec![
                format!("\"{}\"", outcome.profile.replace('"', "\"\"")),
                outcome.layout.name().replace(' ', "-"),
                number(outcome.duration_us),
                show(read, |read| read.bandwidth_mib_s),
                show(write, |write| write.bandwidth_mib_s),
                show(read, |read| read.latency.mean_us),
                show(read, |read| read.latency.p50_us),
                show(read, |read| read.latency.p99_us),
                show(write, |write| write.latency.mean_us),
                show(write, |write| write.latency.p50_us),
                show(write, |write| write.latency.p99_us),
                number(outcome.dies_busy_percent),
                number(outcome.channels_busy_percent),
                number(outcome.write_amplification),
                outcome.failed.to_string(),
            ]
        });
        csv(header, rows)
    }

    /// The outcomes as a page in HTML that needs nothing else.
    pub fn to_html(&self, title: &str, footer: &str) -> String {
        let mut page = Page::new(title);
        page.paragraph(&self.verdict);
        page.heading("Outcomes").table(&self.table());
        page.heading("Reads");
        let caption = "Arrival to completion, all volumes; less is better. Simulated.";
        let mean = self.bars("Mean read latency", "us", |outcome| {
            Some(outcome.read.as_ref()?.latency.mean_us)
        });
        page.chart(&mean, caption);
        let p99 = self.bars("Read latency, 99th percentile", "us", |outcome| {
            Some(outcome.read.as_ref()?.latency.p99_us)
        });
        page.chart(&p99, caption);
        for layout in [Layout::AsRecorded, Layout::AllMelded] {
            let title = format!("Read latency distribution, {}", layout.name());
            let outcomes = self
                .outcomes
                .iter()
                .filter(|outcome| outcome.layout == layout);
            let reads = outcomes.filter_map(|outcome| {
                Some((outcome.profile.clone(), &outcome.read.as_ref()?.latencies))
            });
            let chart = LineChart::of_latencies(title, reads);
            if !chart.lines.is_empty() {
                let caption = "So many percent of the reads took at most this long. Simulated.";
                page.chart(&chart.to_svg(), caption);
            }
        }
        page.heading("Device");
        let rate = self.bars("Throughput", "MiB/s", |outcome| {
            Some(outcome.bandwidth_mib_s())
        });
        let caption = match self.replay {
            "open" => {
                "Reads and writes. Where requests arrive when they were recorded, a device that keeps up gives no more than was asked. Simulated."
            }
            _ => "Reads and writes; more is better. Simulated.",
        };
        page.chart(&rate, caption);
        let busy = self.bars("Busy share of the dies", "%", |outcome| {
            Some(outcome.dies_busy_percent)
        });
        page.chart(&busy, "What is not busy is left for others. Simulated.");
        let unit = "pages programmed for each page written";
        let amplification = self.bars("Write amplification", unit, |outcome| {
            Some(outcome.write_amplification)
        });
        let caption = "Collection and padding count; each device is fresh at the start. Simulated.";
        page.chart(&amplification, caption);
        page.finish(footer)
    }

    /// A chart with a group for each profile, a bar for each layout.
    fn bars(&self, title: &str, unit: &str, value: fn(&Outcome) -> Option<f64>) -> String {
        let mut groups: Vec<(String, Vec<Option<f64>>)> = Vec::new();
        for outcome in &self.outcomes {
            // Each profile begins with its data as recorded.
            if outcome.layout == Layout::AsRecorded {
                groups.push((outcome.profile.clone(), vec![None; Layout::ALL.len()]));
            }
            if let Some((_, bars)) = groups.last_mut() {
                bars[outcome.layout as usize] = value(outcome);
            }
        }
        BarChart {
            title: title.to_owned(),
            axis: unit.to_owned(),
            series: Layout::ALL.map(|layout| layout.name().to_owned()).to_vec(),
            groups,
        }
        .to_svg()
    }
}

fn verdict(mode: ReplayMode, outcomes: &[Outcome], best: usize) -> String {
    let (Some(best), Some(first)) = (outcomes.get(best), outcomes.first()) else {
        return String::new();
    };
    let (what, value): (_, fn(&Outcome) -> String) = match (mode, &best.read) {
        (ReplayMode::Closed, _) => ("most throughput", |outcome| {
            rate_mib_s(outcome.bandwidth_mib_s())
        }),
        (ReplayMode::Open, Some(_)) => ("least mean read latency", |outcome| {
            format!("{:.1} us", outcome.mean_us())
        }),
        (ReplayMode::Open, None) => ("least mean write latency", |outcome| {
            format!("{:.1} us", outcome.mean_us())
        }),
    };
    let against = if std::ptr::eq(best, first) {
        String::new()
    } else {
        format!(" against {} of {}", value(first), first.name())
    };
    let times = match mode {
        ReplayMode::Open => "requests arrive when they were recorded",
        ReplayMode::Closed => "each request arrives when one before it has completed",
    };
    format!(
        "Best: {} has the {what}, {}{against}. Simulated; {times}.",
        best.name(),
        value(best)
    )
}
