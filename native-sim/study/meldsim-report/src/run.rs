//! A run as a page with charts.

use super::chart::{Axis, DotPlot, HeatMap, HeatScale, Line, LineChart};
use super::page::{Origin, Page};
use meldsim::device::Stats;
use meldsim::engine::Duration;
use meldsim_stats::{Align, Table, count, csv_number, duration, rate_mib_s};
use meldsim_workload::{
    DeviceInterval, DeviceResult, FULL_PERCENT, IntervalRate, IntervalTail, JobResult,
    Preconditioned, RunResult, Tally, TimeSeries, Track,
};

/// More channels than this are shown in the heat map only.
const CHANNEL_BARS: usize = 64;
/// Letters of a headline: two lines of a page. Jobs that take more are said together.
const HEADLINE_LETTERS: usize = 125;
/// Smaller requests are said as IOPS, others as bandwidth.
const SMALL_BYTES: u64 = 64 << 10;
/// Of an interval, the least that a job must have run for its rate to be drawn.
const LEAST_SHARE: f64 = 0.2;
const OF_TAILS: &str = "Arrival to completion, in intervals of 200 requests or more where there are enough. Simulated.";
/// Intervals over which a page counts the flash's work, at most.
const WORK_INTERVALS: usize = 60;
/// The same of one die or channel: what is left is waiting for its turn, %.
const ONE_FULL_PERCENT: f64 = 95.0;

/// The run as a page in HTML that needs nothing else. `title` says what ran, `origin` where the numbers come from,
/// `footer` what they are.
pub fn run_page(run: &RunResult, title: &str, origin: &Origin, footer: &str) -> String {
    let mut page = Page::new(title, &verdict(run), origin);
    let named = run
        .directions()
        .map(|(job, _, op, tally)| (format!("{job} {op}"), tally.latencies()));
    let distribution = LineChart::of_latencies("Latency distribution", named);
    let about = "Arrival to completion. At 99, the latency that 99 % of the requests did not exceed. Simulated.";
    match &run.series {
        Some(series) => over_time(run, series, &mut page),
        None => {
            page.chart(distribution.clone(), about);
        }
    }
    page.heading("Requests").table(&run.table());
    for remark in run.remarks() {
        page.paragraph(&remark);
    }
    if let Some(path) = &run.host_path {
        page.paragraph(&path.to_text());
    }
    page.heading("Device");
    let before = run.precondition.as_ref().map(Preconditioned::to_text);
    for line in (before.unwrap_or_default() + &run.device.to_text()).lines() {
        page.paragraph(line);
    }
    page.folded(
        "More charts: latency, flash work, every die and channel",
        |page| {
            if let Some(series) = &run.series {
                page.chart(distribution, about);
                more_over_time(run, series, page);
            }
            busy(&run.device, page);
        },
    );
    for waits in &run.waits {
        let (title, table) = waits.to_table();
        page.heading("Slowest commands")
            .paragraph(&format!("{title}."))
            .table(&table);
    }
    page.timelines(&run.timelines);
    page.folded_table(
        "All counters of the device that are not 0",
        &counters(&run.device),
    );
    page.finish(footer)
}

/// What the requests got, and what of the device was full, in a sentence.
fn verdict(run: &RunResult) -> String {
    if let Some(failures) = run.failures() {
        return failures + ".";
    }
    let sentence = |found: String| match found.is_empty() {
        true => "No request was made.".to_owned(),
        false => format!("{}; {}.", capital(&found), limit_in_words(run)),
    };
    let of_jobs = sentence(of_jobs(run));
    match of_jobs.chars().count() <= HEADLINE_LETTERS {
        true => of_jobs,
        false => sentence(of_all(run)),
    }
}

/// Each direction of each job, while it ran; of two alike, how many times one is as fast as the other.
fn of_jobs(run: &RunResult) -> String {
    let mut rates = Vec::new();
    let mut parts = Vec::new();
    for (job, direction, tally) in directions(run) {
        let seconds = (job.duration_us / 1e6).max(f64::MIN_POSITIVE);
        let name = match run.jobs.len() {
            1 => format!("{direction}s"),
            _ => format!("{} {direction}s", job.name),
        };
        parts.extend(in_words(&name, tally, seconds));
        rates.push((direction, tally.bytes as f64 / seconds));
    }
    let ratio = match rates[..] {
        [(one, first), (other, second)] if one == other && run.jobs.len() == 2 => {
            format!(": {:.2}×", first.max(second) / first.min(second))
        }
        _ => String::new(),
    };
    parts.join("; ") + &ratio
}

fn directions(run: &RunResult) -> impl Iterator<Item = (&JobResult, &'static str, &Tally)> {
    run.jobs.iter().flat_map(|job| {
        let both = [("read", &job.read), ("write", &job.write)];
        both.into_iter()
            .filter_map(move |(direction, tally)| Some((job, direction, tally.as_ref()?)))
    })
}

fn of_all(run: &RunResult) -> String {
    let ends = run.jobs.iter().map(|job| job.start_us + job.duration_us);
    let starts = run.jobs.iter().map(|job| job.start_us);
    let span_us = ends.fold(0.0, f64::max) - starts.fold(f64::INFINITY, f64::min);
    let parts = ["read", "write"].into_iter().filter_map(|direction| {
        let mut all = Tally::default();
        let tallies = run.directions().filter(|(_, _, op, _)| *op == direction);
        tallies.for_each(|(.., tally)| all.merge(tally));
        in_words(
            &format!("{direction}s"),
            &all,
            (span_us / 1e6).max(f64::MIN_POSITIVE),
        )
    });
    parts.collect::<Vec<_>>().join("; ")
}

fn in_words(name: &str, tally: &Tally, seconds: f64) -> Option<String> {
    let latency = tally.latencies().summary()?;
    let us = |us: f64| duration(Duration::from_ps((us * 1e6) as u64));
    // Of small requests people compare the number, of large ones the bytes.
    let rate = match tally.bytes / tally.requests.max(1) < SMALL_BYTES {
        true => format!("{} IOPS", count(tally.requests as f64 / seconds)),
        false => rate_mib_s(tally.bytes as f64 / f64::from(1 << 20) / seconds),
    };
    Some(format!(
        "{name} {rate}, median {}, p99 {}",
        us(latency.p50_us),
        us(latency.p99_us),
    ))
}

/// What has no room for more: of dies and channels, which.
fn limit_in_words(run: &RunResult) -> String {
    match &run.limit {
        Some(limit) if limit.key.is_some() && !["bus", "dies"].contains(&limit.what) => {
            format!("limit: {}", limit.what)
        }
        _ => limit(&run.device),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The charts of the run over time that one looks at first.
fn over_time(run: &RunResult, series: &TimeSeries, page: &mut Page) {
    let of_bytes = |tally: &Tally| tally.bytes as f64 / f64::from(1 << 20);
    let rates = rates(run, series, (|at| at.bandwidth_mib_s, of_bytes));
    let caption =
        "In intervals of 50 requests or more where there are enough, while the job ran. Simulated.";
    page.chart(chart("Bandwidth", Axis::linear("MiB/s"), rates), caption);
    page.chart(
        tails(run, series, "Latency, 99th percentile", |at| at.p99_us),
        OF_TAILS,
    );
    let busy = |name: &str, all: Vec<f64>, value: fn(&DeviceInterval) -> f64| {
        Line::over(name, &series.device, |at| (at.start_us / 1e3, value(at))).with_mean(mean(&all))
    };
    let (channels, dies) = (
        run.device.channels_busy_percent(),
        run.device.dies_busy_percent(),
    );
    let busy = vec![
        busy("channels", channels, |at| at.channel_busy_percent),
        busy("dies", dies, |at| at.die_busy_percent),
    ];
    page.chart(
        chart("Busy share", Axis::linear("%"), busy),
        "Time that buses were held and dies worked, over all of them. Simulated.",
    );
}

/// The other charts of the run over time.
fn more_over_time(run: &RunResult, series: &TimeSeries, page: &mut Page) {
    let of_requests = |tally: &Tally| tally.requests as f64;
    let iops = rates(run, series, (|at| at.iops, of_requests));
    let caption =
        "Requests that completed, in intervals of 50 or more where there are enough. Simulated.";
    page.chart(
        chart("Requests a second", Axis::linear("IOPS"), iops),
        caption,
    );
    page.chart(
        tails(run, series, "Latency, median", |at| at.p50_us),
        OF_TAILS,
    );
    page.chart(
        tails(run, series, "Latency, maximum", |at| at.max_us),
        OF_TAILS,
    );
    // Counts of longer intervals are sums.
    let each = series.device.len().div_ceil(WORK_INTERVALS).max(1);
    let work = |name: &str, value: fn(&DeviceInterval) -> u64| {
        Line::over(name, series.device.chunks(each), |run| {
            let sum = run.iter().map(value).sum::<u64>();
            (run[0].start_us / 1e3, sum as f64)
        })
    };
    let mut work = vec![
        work("pages moved by collection", |at| at.gc_pages_moved),
        work("wordlines programmed", |at| at.programs),
    ];
    work.retain(|line| line.points.iter().any(|point| point.1 > 0.0));
    let axis = format!(
        "count in {} ms",
        csv_number(each as f64 * series.interval_us / 1e3)
    );
    page.chart(
        chart("Flash work", Axis::linear(axis), work),
        "Garbage collection takes die time that requests wait for. Simulated.",
    );
}

fn chart(title: &str, y: Axis, lines: Vec<Line>) -> LineChart {
    LineChart {
        title: title.to_owned(),
        x: Axis::linear("simulated time, ms"),
        y,
        lines,
    }
}

/// When the job of a track ran.
fn ran(run: &RunResult, track: &Track) -> (f64, f64) {
    let job = run.jobs.iter().find(|job| job.name == track.job);
    job.map_or((0.0, f64::INFINITY), |job| {
        (job.start_us, job.start_us + job.duration_us)
    })
}

fn name(track: &Track) -> String {
    format!("{} {}", track.job, track.direction)
}

/// A line of steps for each direction of each job, while the job ran: the rate of an interval, and what was done in all,
/// which gives the mean.
fn rates(
    run: &RunResult,
    series: &TimeSeries,
    (value, done): (fn(&IntervalRate) -> f64, impl Fn(&Tally) -> f64),
) -> Vec<Line> {
    let lines = series.tracks.iter().map(|track| {
        let (start, end) = ran(run, track);
        let mut points = Vec::new();
        for at in &track.rates {
            let (from, to) = (
                at.start_us.max(start),
                (at.start_us + at.length_us).min(end),
            );
            // The rate of a moment is chance.
            if to - from < LEAST_SHARE * at.length_us {
                continue;
            }
            let value = value(at) * at.length_us / (to - from);
            if points
                .last()
                .is_some_and(|(before, _)| *before >= from / 1e3)
            {
                points.pop();
            }
            points.extend([(from / 1e3, value), (to / 1e3, value)]);
        }
        let line = Line::new(name(track), points).in_steps();
        let tally = directions(run)
            .find(|(job, direction, _)| job.name == track.job && *direction == track.direction);
        match tally {
            Some((job, _, tally)) => {
                line.with_mean(done(tally) / (job.duration_us / 1e6).max(f64::MIN_POSITIVE))
            }
            None => line,
        }
    });
    lines.collect()
}

/// A latency over time for each direction of each job.
fn tails(
    run: &RunResult,
    series: &TimeSeries,
    title: &str,
    value: fn(&IntervalTail) -> f64,
) -> LineChart {
    let lines = series.tracks.iter().map(|track| {
        let (start, _) = ran(run, track);
        Line::over(name(track), &track.tails, |at| {
            (at.start_us.max(start) / 1e3, value(at))
        })
    });
    chart(title, Axis::log("us"), lines.collect())
}

/// What of the device has no room for more.
fn limit(device: &DeviceResult) -> String {
    let most = |percents: &[f64]| percents.iter().copied().fold(0.0, f64::max);
    let (dies, channels) = (device.dies_busy_percent(), device.channels_busy_percent());
    let (of_dies, of_channels) = (mean(&dies), mean(&channels));
    if of_channels >= FULL_PERCENT {
        format!("limit: channels, {of_channels:.1} % busy")
    } else if of_dies >= FULL_PERCENT {
        format!("limit: dies, {of_dies:.1} % busy")
    } else if most(&channels) >= ONE_FULL_PERCENT {
        format!("limit: one channel, {:.1} % busy", most(&channels))
    } else if most(&dies) >= ONE_FULL_PERCENT {
        format!("limit: one die, {:.1} % busy", most(&dies))
    } else {
        format!("dies {of_dies:.1} % busy, channels {of_channels:.1} %")
    }
}

fn mean(percents: &[f64]) -> f64 {
    percents.iter().sum::<f64>() / percents.len().max(1) as f64
}

fn tenths(value: f64) -> f64 {
    (10.0 * value).round() / 10.0
}

/// Charts of how busy every die and channel was.
fn busy(device: &DeviceResult, page: &mut Page) {
    let channels = device.channels_busy_percent();
    let dies = device.dies_busy_percent();
    let per_channel = dies.len() / channels.len().max(1);
    let label = |index: usize| index.to_string();
    let row = |die: usize| {
        let row = (0..channels.len()).map(|channel| dies.get(channel * per_channel + die));
        (
            label(die),
            row.map(|percent| percent.copied().map(tenths)).collect(),
        )
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
    let rows = channels.iter().enumerate();
    let dots = DotPlot::of(
        "Busy share of every channel",
        "%",
        ["channels"],
        rows,
        |(channel, percent)| (label(channel), [tenths(*percent)]),
    );
    page.chart(dots, "Commands and data on the bus. Simulated.");
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
