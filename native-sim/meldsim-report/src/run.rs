//! A run as a page with charts.

use super::chart::{Axis, BarChart, HeatMap, HeatScale, Line, LineChart};
use super::page::{Origin, Page};
use meldsim::device::Stats;
use meldsim::engine::Duration;
use meldsim_stats::{Align, Table, count, csv_number, duration, rate_mib_s};
use meldsim_workload::{
    DeviceInterval, DeviceResult, FULL_PERCENT, IntervalRate, IntervalTail, Preconditioned,
    RunResult, Tally, TimeSeries, Track,
};

/// More channels than this are shown in the heat map only.
const CHANNEL_BARS: usize = 64;
/// Intervals over which a page counts the flash's work, at most.
const WORK_INTERVALS: usize = 60;
/// The same of one die or channel: what is left is waiting for its turn, %.
const ONE_FULL_PERCENT: f64 = 95.0;

/// The run as a page in HTML that needs nothing else. `title` says what ran, `origin` where the numbers come from,
/// `footer` what they are.
pub fn run_page(run: &RunResult, title: &str, origin: &Origin, footer: &str) -> String {
    let mut page = Page::new(title, &verdict(run), origin);
    page.heading("Requests").table(&run.table());
    for remark in run.remarks() {
        page.paragraph(&remark);
    }
    if let Some(path) = &run.host_path {
        page.paragraph(&path.to_text());
    }
    let named = run
        .directions()
        .map(|(job, _, op, tally)| (format!("{job} {op}"), tally.latencies()));
    page.heading("Latency").chart(
        LineChart::of_latencies("Latency distribution", named),
        "Arrival to completion. At 99, the latency that 99 % of the requests did not exceed. Simulated.",
    );
    if let Some(series) = &run.series {
        over_time(series, &mut page);
    }
    page.heading("Device");
    let before = run.precondition.as_ref().map(Preconditioned::to_text);
    for line in (before.unwrap_or_default() + &run.device.to_text()).lines() {
        page.paragraph(line);
    }
    busy(&run.device, &mut page);
    for waits in &run.waits {
        let (title, table) = waits.to_table();
        page.heading("Slowest commands")
            .paragraph(&format!("{title}."))
            .table(&table);
    }
    page.timelines(&run.timelines);
    let counters = counters(&run.device);
    page.heading("Counters")
        .folded_table("All counters of the device that are not 0", &counters);
    page.finish(footer)
}

/// What the requests got, and what of the device was full, in a sentence.
fn verdict(run: &RunResult) -> String {
    let failed: u64 = run.jobs.iter().map(|job| job.failed()).sum();
    if failed > 0 {
        return format!("{failed} requests failed: the device is full.");
    }
    let ends = run.jobs.iter().map(|job| job.start_us + job.duration_us);
    let starts = run.jobs.iter().map(|job| job.start_us);
    let span_us = ends.fold(0.0, f64::max) - starts.fold(f64::INFINITY, f64::min);
    let parts = ["read", "write"].into_iter().filter_map(|direction| {
        let mut all = Tally::default();
        let tallies = run.directions().filter(|(_, _, op, _)| *op == direction);
        tallies.for_each(|(.., tally)| all.merge(tally));
        let latency = all.latencies().summary()?;
        let per_second = |amount: f64| amount / (span_us / 1e6).max(f64::MIN_POSITIVE);
        let us = |us: f64| duration(Duration::from_ps((us * 1e6) as u64));
        Some(format!(
            "{direction}s: {} IOPS, {}, median {}, 99th percentile {}",
            count(per_second(all.requests as f64)),
            rate_mib_s(per_second(all.bytes as f64 / f64::from(1 << 20))),
            us(latency.p50_us),
            us(latency.p99_us),
        ))
    });
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => "No request was made.".to_owned(),
        false => format!("{}; {}.", capital(&parts.join("; ")), limit_in_words(run)),
    }
}

/// What has no room for more: of dies and channels, which.
fn limit_in_words(run: &RunResult) -> String {
    match &run.limit {
        Some(limit) if limit.key.is_some() && !["bus", "dies"].contains(&limit.what) => {
            format!("limit: {limit}")
        }
        _ => limit(&run.device),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Charts of the run over time.
fn over_time(series: &TimeSeries, page: &mut Page) {
    page.heading("Over time");
    let mut chart = |title: &str, y: Axis, lines: Vec<Line>, caption: &str| {
        let chart = LineChart {
            title: title.to_owned(),
            x: Axis::linear("simulated time, ms"),
            y,
            lines,
        };
        page.chart(chart, caption);
    };
    let rates = |value: fn(&IntervalRate) -> f64| {
        lines(series, |track| &track.rates, |at| (at.start_us, value(at)))
    };
    let caption = "Requests that completed, in intervals of 50 requests or more where there are enough. Simulated.";
    let iops = rates(|at| at.iops);
    chart("Requests a second", Axis::linear("IOPS"), iops, caption);
    let rate = rates(|at| at.bandwidth_mib_s);
    chart(
        "Bandwidth",
        Axis::linear("MiB/s"),
        rate,
        "Their bytes. Simulated.",
    );
    type Tail = fn(&IntervalTail) -> f64;
    let tails = |value: Tail| lines(series, |track| &track.tails, |at| (at.start_us, value(at)));
    let caption = "Arrival to completion, in intervals of 200 requests or more where there are enough. Simulated.";
    let of_tails: [(&str, Tail); 3] = [
        ("Latency, median", |at| at.p50_us),
        ("Latency, 99th percentile", |at| at.p99_us),
        ("Latency, maximum", |at| at.max_us),
    ];
    for (title, value) in of_tails {
        chart(title, Axis::log("us"), tails(value), caption);
    }
    let busy = |name: &str, value: fn(&DeviceInterval) -> f64| {
        Line::over(name, &series.device, |at| (at.start_us / 1e3, value(at)))
    };
    let caption = "Time that buses were held and dies worked, over all of them. Simulated.";
    let busy = vec![
        busy("channels", |at| at.channel_busy_percent),
        busy("dies", |at| at.die_busy_percent),
    ];
    chart("Busy share", Axis::linear("%"), busy, caption);
    // Counts of longer intervals are sums.
    let each = series.device.len().div_ceil(WORK_INTERVALS).max(1);
    let work = |name: &str, value: fn(&DeviceInterval) -> u64| {
        Line::over(name, series.device.chunks(each), |run| {
            let sum = run.iter().map(value).sum::<u64>();
            (run[0].start_us / 1e3, sum as f64)
        })
    };
    let work = vec![
        work("pages moved by garbage collection", |at| at.gc_pages_moved),
        work("wordlines programmed", |at| at.programs),
    ];
    let axis = format!(
        "count in {} ms",
        csv_number(each as f64 * series.interval_us / 1e3)
    );
    let caption = "Garbage collection takes die time that requests wait for. Simulated.";
    chart("Flash work", Axis::linear(axis), work, caption);
}

/// A line for each direction of each job, through these points of microseconds and values.
fn lines<I>(
    series: &TimeSeries,
    intervals: fn(&Track) -> &Vec<I>,
    point: impl Fn(&I) -> (f64, f64),
) -> Vec<Line> {
    let lines = series.tracks.iter().map(|track| {
        let name = format!("{} {}", track.job, track.direction);
        Line::over(name, intervals(track), |at| {
            let (us, value) = point(at);
            (us / 1e3, value)
        })
    });
    lines.collect()
}

/// What of the device has no room for more.
fn limit(device: &DeviceResult) -> String {
    let mean = |percents: &[f64]| percents.iter().sum::<f64>() / percents.len().max(1) as f64;
    let most = |percents: &[f64]| percents.iter().copied().fold(0.0, f64::max);
    let (dies, channels) = (device.dies_busy_percent(), device.channels_busy_percent());
    let (of_dies, of_channels) = (mean(&dies), mean(&channels));
    if of_channels >= FULL_PERCENT {
        format!("the channels are the limit: {of_channels:.1} % busy")
    } else if of_dies >= FULL_PERCENT {
        format!("the dies are the limit: {of_dies:.1} % busy")
    } else if most(&channels) >= ONE_FULL_PERCENT {
        format!(
            "one channel is the limit: {:.1} % busy, all of them {of_channels:.1} %",
            most(&channels)
        )
    } else if most(&dies) >= ONE_FULL_PERCENT {
        format!(
            "one die is the limit: {:.1} % busy, all of them {of_dies:.1} %",
            most(&dies)
        )
    } else {
        format!(
            "neither dies ({of_dies:.1} % busy) nor channels ({of_channels:.1} %) are the limit"
        )
    }
}

/// Charts of how busy every die and channel was.
fn busy(device: &DeviceResult, page: &mut Page) {
    let channels = device.channels_busy_percent();
    let dies = device.dies_busy_percent();
    let per_channel = dies.len() / channels.len().max(1);
    let label = |index: usize| index.to_string();
    let row = |die: usize| {
        let row = (0..channels.len()).map(|channel| dies.get(channel * per_channel + die));
        (label(die), row.map(|percent| percent.copied()).collect())
    };
    let map = HeatMap {
        title: "Busy share of every die, %".to_owned(),
        x: "channel".to_owned(),
        y: "die".to_owned(),
        columns: (0..channels.len()).map(label).collect(),
        rows: (0..per_channel).map(row).collect(),
        scale: HeatScale::Sequential(100.0),
    };
    page.chart(
        map,
        "Sensing, programming, erasing and waiting for the bus. Simulated.",
    );
    if channels.len() > CHANNEL_BARS {
        return;
    }
    let groups = channels.iter().enumerate();
    let bars = BarChart::of(
        "Busy share of every channel",
        "%",
        ["channels"],
        groups,
        |(channel, percent)| (label(channel), [*percent]),
    );
    page.chart(bars, "Commands and data on the bus. Simulated.");
}

/// Those that are not 0.
fn counters(device: &DeviceResult) -> Table {
    let mut table = Table::new([("counter", Align::Left), ("value", Align::Right)]);
    let counters = Stats::NAMES.iter().zip(device.stats.to_array());
    for (name, value) in counters.filter(|(_, value)| *value > 0) {
        table.row([(*name).to_owned(), value.to_string()]);
    }
    table
}
