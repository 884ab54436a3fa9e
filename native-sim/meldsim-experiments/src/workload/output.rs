//! A run's result as text for people, as CSV, and as a page with charts.

use super::result::{DeviceResult, RunResult, TraceSummary};
use super::series::{DeviceInterval, Interval, TimeSeries, Track};
use super::tally::Tally;
use crate::report::chart::{Axis, BarChart, HeatMap, HeatScale, Line, LineChart};
use crate::report::{
    Align, Page, Table, bytes, count, csv, csv_number, csv_text, duration, percent, rate_mib_s,
};
use meldsim::device::Stats;
use meldsim::engine::Duration;

/// More channels than this are shown in the heat map only.
const CHANNEL_BARS: usize = 64;

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
        for job in self.jobs.iter().filter(|job| job.failed() > 0) {
            let (name, failed) = (&job.name, job.failed());
            text += &format!("{name}: {failed} requests failed: the device is full\n");
        }
        for job in &self.jobs {
            let name = &job.name;
            if let Some(depth) = job.latency_depth {
                text += &format!("{name}: latency_target is met up to iodepth {depth}\n");
            }
            if let Some(us) = job.steady_us {
                let at = duration(Duration::from_ps((us * 1e6) as u64));
                text += &format!("{name}: steady at {at}\n");
            }
            if let Some(reason) = &job.stopped {
                text += &format!("{name}: ended early: {reason}\n");
            }
        }
        if let Some(trace) = &self.trace {
            text += &trace.to_text();
        }
        text + &self.device.to_text()
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

    /// The run as a page in HTML that needs nothing else. `title` says what ran, `footer` where the numbers come from.
    pub fn to_html(&self, title: &str, footer: &str) -> String {
        let mut page = Page::new(title);
        page.heading("Requests").table(&self.table());
        let named = self
            .directions()
            .map(|(job, _, op, tally)| (format!("{job} {op}"), tally.latencies()));
        page.heading("Latency").chart(
            &LineChart::of_latencies("Latency distribution", named).to_svg(),
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
}

impl TimeSeries {
    /// One row for each interval of each direction of each job, under a header; the device's columns repeat.
    pub fn to_csv(&self) -> String {
        let header = "start_us,interval_us,job,direction,requests,iops,bandwidth_mib_s,mean_us,p99_us,max_us,\
                      device_gc_pages_moved,device_blocks_erased,device_wordlines_programmed,\
                      device_channel_busy_percent,device_die_busy_percent";
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
            page.chart(&chart.to_svg(), caption);
        };
        let requests = |value: fn(&Interval) -> Option<f64>| {
            let lines = self.tracks.iter().map(|track| {
                let name = format!("{} {}", track.job, track.direction);
                let values = track.intervals.iter().map(value);
                Line::new(name, self.over_time(values))
            });
            lines.collect()
        };
        let device = |name: &str, value: fn(&DeviceInterval) -> f64| {
            Line::new(
                name,
                self.over_time(self.device.iter().map(|at| Some(value(at)))),
            )
        };
        let caption = format!("By interval of {} us. Simulated.", self.interval_us);
        let iops = requests(|at| Some(at.iops));
        chart("Requests a second", Axis::linear("IOPS"), iops, &caption);
        let caption = "Bytes of requests that completed. Simulated.";
        let rate = requests(|at| Some(at.bandwidth_mib_s));
        chart("Bandwidth", Axis::linear("MiB/s"), rate, caption);
        let caption = "Of the requests that completed in the interval. Simulated.";
        let p99 = requests(|at| at.p99_us);
        chart("Latency, 99th percentile", Axis::log("us"), p99, caption);
        let maximum = requests(|at| at.max_us);
        chart("Latency, maximum", Axis::log("us"), maximum, caption);
        let caption = "Time that buses were held and dies worked, over all of them. Simulated.";
        let busy = vec![
            device("channels", |at| at.channel_busy_percent),
            device("dies", |at| at.die_busy_percent),
        ];
        chart("Busy share", Axis::linear("%"), busy, caption);
        let caption = "Garbage collection shares the dies with requests. Simulated.";
        let work = vec![
            device("pages moved by garbage collection", |at| {
                at.gc_pages_moved as f64
            }),
            device("wordlines programmed", |at| at.programs as f64),
        ];
        chart(
            "Flash work by interval",
            Axis::linear("count"),
            work,
            caption,
        );
    }

    /// Values of the intervals, over their begin in milliseconds.
    fn over_time(&self, values: impl Iterator<Item = Option<f64>>) -> Vec<(f64, f64)> {
        let points = self.device.iter().zip(values);
        points
            .filter_map(|(at, value)| Some((at.start_us / 1e3, value?)))
            .collect()
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
        text += &format!(
            "writes: {} pages for the host, {} for garbage collection, {} of padding; write amplification {}\n",
            flash.host_pages_programmed,
            flash.gc_pages_programmed,
            flash.padded_pages,
            amplification.map_or("-".to_owned(), |value| format!("{value:.2}")),
        );
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
                .map(|(channel, percent)| (label(channel), vec![Some(*percent)]))
                .collect(),
        };
        page.chart(&bars.to_svg(), "Commands and data on the bus. Simulated.");
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

fn optional(value: Option<f64>) -> String {
    value.map_or(String::new(), csv_number)
}
