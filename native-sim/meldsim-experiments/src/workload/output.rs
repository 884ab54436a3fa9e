//! A run's result as text for people, as CSV, and as a page with charts.

use super::limit::FULL_PERCENT;
use super::result::{
    DeviceResult, HostPathResult, Preconditioned, ProgrammedBytes, RunResult, TraceSummary, Window,
};
use super::series::{DeviceInterval, Rate, Tail, TimeSeries, Track};
use super::tally::Tally;
use crate::report::chart::{Axis, BarChart, HeatMap, HeatScale, Line, LineChart};
use crate::report::{Origin, Page};
use meldsim::device::Stats;
use meldsim::engine::Duration;
use meldsim_stats::{
    Align, Table, bytes, count, csv, csv_number, csv_text, duration, percent, rate_mib_s,
};

/// More channels than this are shown in the heat map only.
const CHANNEL_BARS: usize = 64;
/// Intervals over which a page counts the flash's work, at most.
const WORK_INTERVALS: usize = 60;
/// The same of one die or channel: what is left is waiting for its turn, %.
const ONE_FULL_PERCENT: f64 = 95.0;

impl RunResult {
    /// The run as text.
    pub fn to_text(&self) -> String {
        self.to_text_within(usize::MAX)
    }

    /// The run as text, its table within so many columns of a terminal.
    pub fn to_text_within(&self, columns: usize) -> String {
        let mut text = String::new();
        if self.is_partial {
            text += "partial: the run was broken off; these are the requests until then\n";
        }
        text += &self.table().within(columns);
        for remark in self.remarks() {
            text += &(remark + "\n");
        }
        if let Some(trace) = &self.trace {
            text += &trace.to_text();
        }
        if let Some(path) = &self.host_path {
            text += &(path.to_text() + "\n");
        }
        if let Some(before) = &self.precondition {
            text += &before.to_text();
        }
        text += &self.device.to_text();
        if let Some(limit) = &self.limit {
            text += &limit.to_text();
        }
        for waits in &self.waits {
            let (title, table) = waits.to_table();
            text += &format!("\n{title}:\n{}", table.within(columns));
        }
        text
    }

    /// What is to be said of jobs besides their numbers.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for job in &self.jobs {
            let mut remark = |text: String| remarks.push(format!("{}: {text}", job.name));
            if job.failed() > 0 {
                remark(format!(
                    "{} requests failed: the device is full",
                    job.failed()
                ));
            }
            if let Some(window) = job.window.as_ref().and_then(Window::to_text) {
                remark(window);
            }
            if let Some(value) = job.uniform_write_amplification {
                remark(format!(
                    "uniform overwrites of whole pages, of all data, come to a write amplification of {value:.2} by the closed form"
                ));
            }
            if let Some(depth) = job.latency_depth {
                remark(match depth {
                    0 => "latency_target is not met at any iodepth tried".to_owned(),
                    depth => format!("latency_target is met up to iodepth {depth}"),
                });
            }
            if let Some(us) = job.steady_us {
                let at = duration(Duration::from_ps((us * 1e6) as u64));
                remark(format!("steady at {at}"));
            }
            if let Some(reason) = &job.stopped {
                remark(format!("ended early: {reason}"));
            }
        }
        remarks
    }

    /// Each direction of each job, with the job's name and depth and the direction's name.
    fn directions(&self) -> impl Iterator<Item = (&str, u32, &'static str, &Tally)> {
        self.jobs.iter().flat_map(|job| {
            job.directions()
                .map(|(op, tally)| (job.name.as_str(), job.iodepth, op, tally))
        })
    }

    /// One row for each direction of each job.
    fn table(&self) -> Table {
        let mut table = Table::new([
            ("job", Align::Left),
            ("op", Align::Left),
            ("block", Align::Right),
            ("depth", Align::Right),
            ("requests", Align::Right),
            ("bandwidth", Align::Right),
            ("IOPS", Align::Right),
            ("min us", Align::Right),
            ("mean us", Align::Right),
            ("p50 us", Align::Right),
            ("p99 us", Align::Right),
            ("p99.9 us", Align::Right),
            ("max us", Align::Right),
        ])
        .with_least(&["min us", "p99.9 us", "p50 us", "block", "depth", "max us"]);
        let dash = || "-".to_owned();
        for (job, depth, op, tally) in self.directions() {
            let block = tally.bytes.checked_div(tally.requests - tally.failed);
            let mut cells = vec![
                job.to_owned(),
                op.to_owned(),
                block.map_or_else(dash, bytes),
                depth.to_string(),
                tally.requests.to_string(),
                tally.bandwidth_mib_s().map_or_else(dash, rate_mib_s),
                tally.iops().map_or_else(dash, count),
            ];
            if let Some(l) = tally.latencies().summary() {
                let all = [
                    l.min_us, l.mean_us, l.p50_us, l.p99_us, l.p99_9_us, l.max_us,
                ];
                cells.extend(all.map(|us| format!("{us:.1}")));
            }
            table.row(cells);
        }
        table
    }

    /// One row for each direction of each job, under a header.
    pub fn to_csv(&self) -> String {
        let header = "job,direction,requests,failed,bytes,duration_us,bandwidth_mib_s,iops,\
                      min_us,mean_us,deviation_us,p50_us,p90_us,p99_us,p99_9_us,p99_99_us,p99_999_us,max_us";
        let rows = self.directions().map(|(job, _, direction, tally)| {
            let mut row = vec![
                csv_text(job),
                direction.to_owned(),
                tally.requests.to_string(),
                tally.failed.to_string(),
                tally.bytes.to_string(),
                csv_number(tally.duration.as_ps() as f64 / 1e6),
                optional(tally.bandwidth_mib_s()),
                optional(tally.iops()),
            ];
            if let Some(l) = tally.latencies().summary() {
                row.extend([l.min_us, l.mean_us, l.deviation_us].map(csv_number));
                row.extend([l.p50_us, l.p90_us, l.p99_us, l.p99_9_us].map(csv_number));
                row.extend([l.p99_99_us, l.p99_999_us, l.max_us].map(csv_number));
            }
            row
        });
        csv(header, rows)
    }

    /// The run as a page in HTML that needs nothing else. `title` says what ran, `origin` where the numbers come from,
    /// `footer` what they are.
    pub fn to_html(&self, title: &str, origin: &Origin, footer: &str) -> String {
        let mut page = Page::new(title, &self.verdict(), origin);
        page.heading("Requests").table(&self.table());
        for remark in self.remarks() {
            page.paragraph(&remark);
        }
        if let Some(path) = &self.host_path {
            page.paragraph(&path.to_text());
        }
        let named = self
            .directions()
            .map(|(job, _, op, tally)| (format!("{job} {op}"), tally.latencies()));
        page.heading("Latency").chart(
            LineChart::of_latencies("Latency distribution", named),
            "Arrival to completion. At 99, the latency that 99 % of the requests did not exceed. Simulated.",
        );
        if let Some(series) = &self.series {
            series.charts(&mut page);
        }
        page.heading("Device");
        let before = self.precondition.as_ref().map(Preconditioned::to_text);
        for line in (before.unwrap_or_default() + &self.device.to_text()).lines() {
            page.paragraph(line);
        }
        self.device.charts(&mut page);
        for waits in &self.waits {
            let (title, table) = waits.to_table();
            page.heading("Slowest commands")
                .paragraph(&format!("{title}."))
                .table(&table);
        }
        page.timelines(&self.timelines);
        let counters = self.device.counters();
        page.heading("Counters")
            .folded_table("All counters of the device that are not 0", &counters);
        page.finish(footer)
    }

    /// What the requests got, and what of the device was full, in a sentence.
    fn verdict(&self) -> String {
        let failed: u64 = self.jobs.iter().map(|job| job.failed()).sum();
        if failed > 0 {
            return format!("{failed} requests failed: the device is full.");
        }
        let ends = self.jobs.iter().map(|job| job.start_us + job.duration_us);
        let starts = self.jobs.iter().map(|job| job.start_us);
        let span_us = ends.fold(0.0, f64::max) - starts.fold(f64::INFINITY, f64::min);
        let parts = ["read", "write"].into_iter().filter_map(|direction| {
            let mut all = Tally::default();
            let tallies = self.directions().filter(|(_, _, op, _)| *op == direction);
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
            false => format!("{}; {}.", capital(&parts.join("; ")), self.limit_in_words()),
        }
    }
}

impl RunResult {
    /// What has no room for more: of dies and channels, which.
    fn limit_in_words(&self) -> String {
        match &self.limit {
            Some(limit) if limit.key.is_some() && !["bus", "dies"].contains(&limit.what) => {
                format!("limit: {limit}")
            }
            _ => self.device.limit(),
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

impl TimeSeries {
    /// One row for each interval of each direction of each job, under a header; the device's columns repeat.
    pub fn to_csv(&self) -> String {
        let header = "start_us,interval_us,job,direction,requests,iops,bandwidth_mib_s,mean_us,p99_us,max_us,\
                      device_gc_pages_moved,device_blocks_erased,device_wordlines_programmed,\
                      device_write_amplification,device_channel_busy_percent,device_die_busy_percent";
        let row = |index: usize, device: &DeviceInterval, track: &Track| {
            let interval = &track.intervals[index];
            vec![
                csv_number(device.start_us),
                csv_number(self.interval_us),
                csv_text(&track.job),
                track.direction.to_owned(),
                interval.requests.to_string(),
                csv_number(interval.iops),
                csv_number(interval.bandwidth_mib_s),
                optional(interval.mean_us),
                optional(interval.p99_us),
                optional(interval.max_us),
                device.gc_pages_moved.to_string(),
                device.erases.to_string(),
                device.programs.to_string(),
                optional(device.write_amplification),
                csv_number(device.channel_busy_percent),
                csv_number(device.die_busy_percent),
            ]
        };
        let rows = self.device.iter().enumerate().flat_map(|(index, device)| {
            self.tracks
                .iter()
                .map(move |track| row(index, device, track))
        });
        csv(header, rows)
    }

    fn charts(&self, page: &mut Page) {
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
        let rates = |value: fn(&Rate) -> f64| {
            self.lines(|track| {
                track
                    .rates
                    .iter()
                    .map(|at| (at.start_us, value(at)))
                    .collect()
            })
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
        let tails = |value: fn(&Tail) -> f64| {
            self.lines(|track| {
                track
                    .tails
                    .iter()
                    .map(|at| (at.start_us, value(at)))
                    .collect()
            })
        };
        let caption = "Arrival to completion, in intervals of 200 requests or more where there are enough. Simulated.";
        let (p50, p99, maximum) = (
            tails(|at| at.p50_us),
            tails(|at| at.p99_us),
            tails(|at| at.max_us),
        );
        chart("Latency, median", Axis::log("us"), p50, caption);
        chart("Latency, 99th percentile", Axis::log("us"), p99, caption);
        chart("Latency, maximum", Axis::log("us"), maximum, caption);
        let busy = |name: &str, value: fn(&DeviceInterval) -> f64| {
            let points = self.device.iter().map(|at| (at.start_us / 1e3, value(at)));
            Line::new(name, points.collect())
        };
        let caption = "Time that buses were held and dies worked, over all of them. Simulated.";
        let busy = vec![
            busy("channels", |at| at.channel_busy_percent),
            busy("dies", |at| at.die_busy_percent),
        ];
        chart("Busy share", Axis::linear("%"), busy, caption);
        // Counts of longer intervals are sums.
        let each = self.device.len().div_ceil(WORK_INTERVALS).max(1);
        let work = |name: &str, value: fn(&DeviceInterval) -> u64| {
            let runs = self.device.chunks(each);
            let points = runs.map(|run| {
                (
                    run[0].start_us / 1e3,
                    run.iter().map(value).sum::<u64>() as f64,
                )
            });
            Line::new(name, points.collect())
        };
        let work = vec![
            work("pages moved by garbage collection", |at| at.gc_pages_moved),
            work("wordlines programmed", |at| at.programs),
        ];
        let axis = format!(
            "count in {} ms",
            csv_number(each as f64 * self.interval_us / 1e3)
        );
        let caption = "Garbage collection takes die time that requests wait for. Simulated.";
        chart("Flash work", Axis::linear(axis), work, caption);
    }

    /// A line for each direction of each job, through these points of microseconds and values.
    fn lines(&self, points: impl Fn(&Track) -> Vec<(f64, f64)>) -> Vec<Line> {
        let lines = self.tracks.iter().map(|track| {
            let name = format!("{} {}", track.job, track.direction);
            let points = points(track).into_iter();
            Line::new(name, points.map(|(us, value)| (us / 1e3, value)).collect())
        });
        lines.collect()
    }
}

impl HostPathResult {
    /// What is in the latencies besides the device.
    fn to_text(self) -> String {
        let (submit, completion) = (self.times.submit, self.times.completion);
        let mut text = format!(
            "host path: {}; latencies include {submit}",
            self.path.name()
        );
        text += &format!(
            " to submit a request and {completion} until the host sees that it has completed"
        );
        if submit > Duration::ZERO {
            let most = count(1.0 / submit.as_secs_f64());
            text += &format!("; a thread submits at most {most} a second");
        }
        text
    }
}

impl TraceSummary {
    /// One line for people.
    fn to_text(self) -> String {
        let mut text = format!("trace: {} records", self.records);
        for (count, what) in [
            (self.flushes, "flushes"),
            (self.deletions, "deletions"),
            (self.truncations, "truncations"),
            (self.opens, "opened by readers whose reads were not seen"),
            (self.wrapped, "wrapped into the device"),
            (self.widened, "widened to logical blocks"),
            (self.out_of_order, "out of order"),
            (
                self.without_room,
                "reads of data for which there was no room",
            ),
        ] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        if self.preloaded_bytes > 0 {
            let bytes = bytes(self.preloaded_bytes);
            text += &format!("; {bytes} preloaded for reads of what the trace never wrote");
        }
        text + "\n"
    }
}

impl DeviceResult {
    /// What the device was busy with in the run, and how full it is.
    fn to_text(&self) -> String {
        let (all, run) = (&self.stats, &self.run);
        let now = all.now_ps as f64;
        let mut text = format!(
            "device: {} simulated; channels {} busy, dies {} busy\n",
            duration(Duration::from_ps(all.now_ps)),
            percent(all.channel_busy_ps as f64, now * all.channels as f64),
            percent(all.die_busy_ps as f64, now * all.dies as f64),
        );
        let (Some(flash), Some(fill)) = (self.flash(), self.fill) else {
            return text
                + &format!(
                    "memory: {} chunks read, {} written; {} accesses to part of a chunk\n",
                    run.chunk_reads, run.chunk_writes, run.partial_chunk_accesses
                );
        };
        let melded = match run.page_reads + run.melded_pages_read {
            0 => String::new(),
            pages => format!(
                "; {} of them by {} melded reads",
                percent(run.melded_pages_read as f64, pages as f64),
                run.melded_reads
            ),
        };
        text += &format!(
            "reads: {} pages for the host, {} to merge writes, {} for garbage collection{melded}\n",
            flash.host_pages_read, flash.merge_pages_read, flash.gc_pages_read,
        );
        let amplification = flash.write_amplification;
        let journal = match flash.journal_pages_programmed {
            0 => String::new(),
            pages => format!("{pages} of the journal, "),
        };
        text += &format!(
            "writes: {} pages for the host, {} for garbage collection, {journal}{} of padding; write amplification {}\n",
            flash.host_pages_programmed,
            flash.gc_pages_programmed,
            flash.padded_pages,
            amplification.map_or("-".to_owned(), |value| format!("{value:.2}")),
        );
        text += &flash.bytes.to_text(run.host_written_bytes);
        text += &format!(
            "flash: {} wordlines programmed ({} melded), {} blocks erased\n",
            run.programs, run.melded_wordlines_programmed, run.erases
        );
        let (mapped, capacity) = (fill.mapped_pages, fill.capacity_pages);
        text += &format!(
            "fill: {} of the device holds data, {mapped} of {capacity} pages",
            percent(mapped as f64, capacity as f64),
        );
        if fill.overwritten_pages > 0 {
            let (part, pages) = (fill.overwritten_pages, mapped as f64);
            text += &format!(
                "; {} of that was overwritten at random before, {part} pages",
                percent(part as f64, pages)
            );
        }
        text + "\n"
    }

    /// What of the device has no room for more.
    fn limit(&self) -> String {
        let mean = |percents: &[f64]| percents.iter().sum::<f64>() / percents.len().max(1) as f64;
        let most = |percents: &[f64]| percents.iter().copied().fold(0.0, f64::max);
        let (dies, channels) = (self.dies_busy_percent(), self.channels_busy_percent());
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

    fn charts(&self, page: &mut Page) {
        let channels = self.channels_busy_percent();
        let dies = self.dies_busy_percent();
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
        let bars = BarChart {
            title: "Busy share of every channel".to_owned(),
            axis: "%".to_owned(),
            series: vec!["channels".to_owned()],
            groups: groups
                .map(|(channel, percent)| (label(channel), vec![Some(*percent)]))
                .collect(),
        };
        page.chart(bars, "Commands and data on the bus. Simulated.");
    }

    fn counters(&self) -> Table {
        let mut table = Table::new([("counter", Align::Left), ("value", Align::Right)]);
        let counters = Stats::NAMES.iter().zip(self.stats.to_array());
        for (name, value) in counters.filter(|(_, value)| *value > 0) {
            table.row([(*name).to_owned(), value.to_string()]);
        }
        table
    }
}

impl ProgrammedBytes {
    /// What was programmed besides what the host wrote; nothing where that is nothing.
    fn to_text(self, written: u64) -> String {
        let parts = [
            (self.host, "data of the host"),
            (self.merge, "older data in pages written in part"),
            (self.filling, "nothing in pages written in part"),
            (self.collection, "garbage collection"),
            (self.levelling, "wear levelling"),
            (self.journal, "journal"),
            (self.padding, "padding"),
        ];
        let parts = parts.into_iter().filter(|(part, _)| *part > 0);
        let parts = parts.map(|(part, what)| {
            let share = percent(part as f64, self.programmed as f64);
            format!("{share} {what}")
        });
        let parts: Vec<String> = parts.collect();
        match parts.len() {
            0 | 1 => String::new(),
            _ => format!(
                "programmed: {} for {} written: {}\n",
                bytes(self.programmed),
                bytes(written),
                parts.join(", ")
            ),
        }
    }
}

fn optional(value: Option<f64>) -> String {
    value.map_or(String::new(), csv_number)
}
