//! What a recorded workload would get from other devices, and from other layouts of its data.
//!
//! The trace is replayed once for each device and layout; each run starts with a fresh device. The results of the runs
//! come in; a comparison goes out as text, CSV, JSON, and as a page with charts. It says on which devices melding wins and why,
//! and what to do with each directory: the plans are replayed as well, and what they gave is what is advised.
//!
//! ```text
//!   outcomes --WhatIf::new--> verdict, plans --replays--> WhatIf::advise --> advice
//! ```

mod advice;
mod gain;
mod melding;
mod outcome;
mod used;

use serde::Serialize;

use self::advice::Confirmed;
use meldsim::engine::Duration;
use meldsim::profile::Profile;
use meldsim_report::chart::{Dot, DotPlot, LineChart};
use meldsim_report::{Fact, Origin, Page};
use meldsim_stats::{LatencySummary, Table, csv, duration, rate_mib_s};
use meldsim_timeline::TimelineData;
use meldsim_workload::RunError;
use meldsim_workload::trace::ReplayMode;

pub use self::advice::{Advice, Choice, Plan};
pub use self::gain::Gain;
pub use self::melding::Melding;
pub use self::outcome::{Figures, Layout, Outcome};
pub use self::used::Use;

/// The outcomes, one for each device and layout in the order they were asked for.
#[derive(Clone, Debug, Serialize)]
pub struct WhatIf {
    /// Whether melding wins, why, and which outcome is best, in sentences.
    pub verdict: String,
    /// `open`: requests arrived when they were recorded; `closed`: when one before them had completed.
    pub replay: &'static str,
    /// What melding all data does on each device that can.
    pub melding: Vec<Melding>,
    /// What to do with each group of blocks: on the first device that can meld, and with all devices.
    pub advice: Vec<Advice>,
    /// What was found.
    pub outcomes: Vec<Outcome>,
    /// Index of the best outcome.
    pub best: usize,
    /// The timelines of the replays for the page, if that was asked for.
    #[serde(skip)]
    pub timelines: Vec<TimelineData>,
    #[serde(skip)]
    mode: ReplayMode,
}

impl WhatIf {
    /// Compares outcomes on these devices, of which there is at least one: for each device, one for each of its layouts.
    ///
    /// # Errors
    ///
    /// A device whose crossover cannot be found: a defect of the model.
    pub fn new(
        mode: ReplayMode,
        profiles: &[Profile],
        outcomes: Vec<Outcome>,
    ) -> Result<WhatIf, RunError> {
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
        let mut melding = Vec::new();
        for (device, profile) in profiles.iter().enumerate() {
            let of = |layout| {
                let mut outcomes = outcomes.iter();
                outcomes.find(|outcome| outcome.device == device && outcome.layout == layout)
            };
            if let Some(both) = of(Layout::AllMelded).zip(of(Layout::NoneMelded)) {
                melding.push(Melding::new(mode, profile, both.into())?);
            }
        }
        Ok(WhatIf {
            verdict: verdict(mode, &melding, &outcomes, best),
            replay: mode.name(),
            melding,
            advice: Vec::new(),
            outcomes,
            best,
            timelines: Vec::new(),
            mode,
        })
    }

    /// What seems best for each group of blocks by the outcomes. Each is to be replayed before it is advised.
    pub fn plans(&self) -> Vec<Plan> {
        advice::plans(self.mode, &self.outcomes)
    }

    /// Advises what a plan says, if it gives more than any layout of everything: `groups` is what its replays gave.
    pub fn advise(&mut self, plan: &Plan, outcomes: &[Outcome]) {
        let confirmed = Confirmed::new(self.mode, &self.outcomes, plan, outcomes);
        self.advice.push(confirmed.advice());
    }

    /// The outcomes for people.
    pub fn to_text(&self) -> String {
        self.to_text_within(usize::MAX)
    }

    /// The outcomes for people, their table within so many columns of a terminal.
    pub fn to_text_within(&self, columns: usize) -> String {
        let mut text = self.verdict.clone() + "\n\n" + &self.table().within(columns);
        for outcome in &self.outcomes {
            if let Some(failures) = &outcome.failures {
                text += &format!("{}: {failures}\n", outcome.name());
            }
        }
        for advice in &self.advice {
            text += &format!("\n{}\n{}", advice.summary, advice.table().within(columns));
        }
        if !self.advice.is_empty() {
            text += &format!("{}\n\n", advice::NOTE);
        }
        text
    }

    fn table(&self) -> Table {
        let mut table = Table::of("<profile|<layout|time|read|write|read mean us|p50 us|p99 us|write mean us|dies busy|channels busy|WA")
        .with_least("time|channels busy|dies busy|WA|p50 us|write mean us|write");
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
                outcome
                    .write_amplification
                    .map_or_else(|| "-".to_owned(), |value| format!("{value:.2}")),
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
                outcome.profile.clone(),
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
                outcome.write_amplification.map_or(String::new(), number),
                outcome.failed.to_string(),
            ]
        });
        csv(header, rows)
    }

    /// The outcomes as a page in HTML that needs nothing else.
    pub fn to_html(&self, title: &str, origin: &Origin, footer: &str) -> String {
        let mut page = Page::new(title, &self.verdict, origin);
        page.facts(&self.facts());
        let us = |of: fn(&LatencySummary) -> f64| {
            move |outcome: &Outcome| Some(of(&outcome.read.as_ref()?.latency))
        };
        let more = "Reads and writes; more is better. Simulated.";
        let rate = self.dots("Throughput", "MiB/s", |outcome| {
            Some(outcome.bandwidth_mib_s())
        });
        let less = "Arrival to completion, all volumes; less is better. Simulated.";
        let mean = self.dots("Mean read latency", "us", us(|reads| reads.mean_us));
        match self.mode {
            ReplayMode::Open => page.chart(mean, less),
            ReplayMode::Closed => page.chart(rate.clone(), more),
        };
        page.chart(
            self.dots("Read latency, median", "us", us(|reads| reads.p50_us)),
            less,
        );
        page.chart(
            self.dots(
                "Read latency, 99th percentile",
                "us",
                us(|reads| reads.p99_us),
            ),
            "Of fewer than 100 reads it is the maximum. Less is better. Simulated.",
        );
        page.table(&self.table());
        if self.mode == ReplayMode::Open {
            page.paragraph(
                "Requests arrive when they were recorded: a device that keeps up gives the throughput that the trace asks for.",
            );
        }
        page.folded(
            "More charts: distributions, busy dies, write amplification",
            |page| {
                self.more_charts(page);
            },
        );
        if !self.advice.is_empty() {
            page.heading("Advice");
            for advice in &self.advice {
                page.paragraph(&advice.summary).table(&advice.table());
            }
            page.paragraph(advice::NOTE);
        }
        page.timelines(&self.timelines);
        page.finish(footer)
    }

    fn more_charts(&self, page: &mut Page) {
        for layout in [Layout::AsRecorded, Layout::AllMelded] {
            let title = format!("Read latency distribution, {}", layout.name());
            let outcomes = self
                .outcomes
                .iter()
                .filter(|outcome| outcome.layout == layout);
            let reads = outcomes.filter_map(|outcome| {
                Some((outcome.profile.clone(), &outcome.read.as_ref()?.latencies))
            });
            page.chart(
                LineChart::of_latencies(title, reads),
                "At 99, the latency that 99 % of the reads did not exceed. Simulated.",
            );
        }
        let maximum = |outcome: &Outcome| Some(outcome.read.as_ref()?.latency.max_us);
        page.chart(
            self.dots("Read latency, maximum", "us", maximum),
            "Less is better. Simulated.",
        );
        page.chart(
            self.dots("Busy share of the dies", "%", |outcome| {
                Some(outcome.dies_busy_percent)
            }),
            "Mean over all dies; the rest of their time is free for other work. Simulated.",
        );
        let unit = "bytes programmed for each byte written";
        page.chart(
            self.dots("Write amplification", unit, |outcome| {
                outcome.write_amplification
            }),
            "Collection and padding count; each device is fresh at the start. Simulated.",
        );
    }

    /// The best outcome, the first device, and what melding does where it is known.
    fn facts(&self) -> Vec<Fact> {
        let (Some(best), Some(first)) = (self.outcomes.get(self.best), self.outcomes.first())
        else {
            return Vec::new();
        };
        let value = |outcome: &Outcome| match self.mode {
            ReplayMode::Closed => rate_mib_s(outcome.bandwidth_mib_s()),
            ReplayMode::Open => format!("{:.1} us", outcome.mean_us()),
        };
        let what = match (self.mode, &best.read) {
            (ReplayMode::Closed, _) => "throughput",
            (ReplayMode::Open, Some(_)) => "mean read latency",
            (ReplayMode::Open, None) => "mean write latency",
        };
        let mut facts = vec![Fact::new(
            value(best),
            format!("best {what}: {}", best.name()),
        )];
        if !std::ptr::eq(best, first) {
            facts.push(Fact::new(value(first), format!("{what}: {}", first.name())));
        }
        let of = |layout| {
            let mut outcomes = self.outcomes.iter();
            outcomes.find(|outcome| outcome.layout == layout)
        };
        if let Some((normal, melded)) = of(Layout::NoneMelded).zip(of(Layout::AllMelded)) {
            let gain = match self.mode {
                ReplayMode::Closed => melded.bandwidth_mib_s() / normal.bandwidth_mib_s(),
                ReplayMode::Open => normal.mean_us() / melded.mean_us(),
            };
            let about = format!(
                "as fast when all is melded, against none: {}",
                melded.profile
            );
            facts.push(Fact::new(format!("{gain:.2}×"), about));
        }
        facts
    }

    /// A row of dots for each device, the best first, a dot for each layout.
    fn dots(&self, title: &str, unit: &str, value: impl Fn(&Outcome) -> Option<f64>) -> DotPlot {
        const ORDER: [Layout; 3] = [Layout::NoneMelded, Layout::AsRecorded, Layout::AllMelded];
        let mut devices: Vec<&[Outcome]> = self
            .outcomes
            .chunk_by(|one, next| one.device == next.device)
            .collect();
        let cost = |outcome: &Outcome| match self.mode {
            ReplayMode::Open => outcome.mean_us(),
            ReplayMode::Closed => -outcome.bandwidth_mib_s(),
        };
        let least = |outcomes: &[Outcome]| outcomes.iter().map(cost).fold(f64::INFINITY, f64::min);
        devices.sort_by(|a, b| least(a).total_cmp(&least(b)));
        let rows = devices.iter().map(|outcomes| {
            let of = |layout| {
                let mut outcomes = outcomes.iter();
                let outcome = outcomes.find(|outcome| outcome.layout == layout)?;
                value(outcome).map(Dot::from)
            };
            (outcomes[0].profile.clone(), ORDER.map(of).into())
        });
        DotPlot {
            title: title.to_owned(),
            axis: unit.to_owned(),
            series: ORDER.map(|layout| layout.brief().to_owned()).into(),
            rows: rows.collect(),
        }
    }
}

fn verdict(mode: ReplayMode, melding: &[Melding], outcomes: &[Outcome], best: usize) -> String {
    let mut text = String::new();
    if let Some((first, others)) = melding.split_first() {
        text = format!("{} ", first.verdict);
        let others: Vec<String> = others.iter().map(Melding::brief).collect();
        if !others.is_empty() {
            // The first letter of a sentence.
            text += &format!("O{}. ", &others.join(", ")[1..]);
        }
    }
    text + &best_sentence(mode, outcomes, best)
}

fn best_sentence(mode: ReplayMode, outcomes: &[Outcome], best: usize) -> String {
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
    let mut text = format!(
        "Best: {} has the {what}, {}{against}. Simulated; {times}.",
        best.name(),
        value(best)
    );
    // An answer is as good as what it rests on.
    for outcome in [best, first] {
        let limit = outcome.limit.as_ref().filter(|limit| limit.is_assumed());
        let Some((key, value, _)) = limit.and_then(|limit| limit.key.as_ref()) else {
            continue;
        };
        let sentence = format!(
            " {} is limited by {key} {value}, which is assumed: measure it, or look it up, before you rely on this.",
            outcome.name()
        );
        if !text.contains(&sentence) {
            text += &sentence;
        }
    }
    text
}
