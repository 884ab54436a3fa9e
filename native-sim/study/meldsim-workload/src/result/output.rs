//! A run's result as text for people and as CSV.

use crate::result::series::{DeviceInterval, TimeSeries, Track};
use crate::result::{
    DeviceResult, FdpResult, HostPathResult, ProgrammedBytes, RunResult, TraceSummary, failures,
};
use meldsim::engine::Duration;
use meldsim_host::Tally;
use meldsim_stats::{Table, bytes, clauses, count, csv, csv_number, duration, percent, rate_mib_s};

impl RunResult {
    /// The run as text.
    pub fn to_text(&self) -> String {
        self.to_text_within(usize::MAX)
    }

    /// The run as text, its table within so many columns of a terminal.
    pub fn to_text_within(&self, columns: usize) -> String {
        let mut text = String::new();
        if self.is_partial {
            text += "partial: the run was interrupted; these are the requests until then\n";
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
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for job in &self.jobs {
            let mut remark = |text: String| remarks.push(format!("{}: {text}", job.name));
            if job.directions().next().is_none() {
                remark(match job.ramp_time {
                    Duration::ZERO => "it made no request".to_owned(),
                    time => format!(
                        "it made no request after its ramp_time of {}; let it go on for longer, such as with time_based=1",
                        duration(time)
                    ),
                });
            }
            if let Some(rounded) = &job.rounded {
                remark(rounded.clone());
            }
            if let Some(text) = failures(vec![job]) {
                remark(text);
            }
            if job.widened_bytes > 0 {
                let asked: u64 = job.directions().map(|(_, tally)| tally.bytes).sum();
                remark(format!(
                    "requests were widened to logical blocks, as a page cache does: {} asked for, and {} more read or written with them",
                    bytes(asked),
                    bytes(job.widened_bytes)
                ));
            }
            let is_new = self.precondition.is_none();
            let window = job.window.as_ref();
            if let Some(text) = window.and_then(|window| window.to_text(is_new)) {
                remark(text);
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
    pub fn directions(&self) -> impl Iterator<Item = (&str, u32, &'static str, &Tally)> {
        self.jobs.iter().flat_map(|job| {
            job.directions()
                .map(|(op, tally)| (job.name.as_str(), job.iodepth, op, tally))
        })
    }

    /// One row for each direction of each job.
    pub fn table(&self) -> Table {
        let summaries = self
            .directions()
            .filter_map(|(.., tally)| tally.latencies().summary());
        let tails = summaries.map(|summary| summary.tails_us().iter().flatten().count());
        // As many as one of the rows has requests for.
        let tails = tails.max().unwrap_or(0);
        let more = ["p99.99 us|", "p99.999 us|"][..tails].concat();
        let mut table = Table::of(&format!(
            "<job|<op|block|depth|requests|bandwidth|IOPS|min us|mean us|p50 us|p99 us|p99.9 us|{more}max us"
        ))
        .with_least("min us|block|depth|requests|max us|p50 us|p99.9 us");
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
                let first = [l.min_us, l.mean_us, l.p50_us, l.p99_us, l.p99_9_us];
                let all = first.map(Some).into_iter();
                let all = all.chain(l.tails_us().into_iter().take(tails));
                let all = all.chain([Some(l.max_us)]);
                cells.extend(all.map(|us| us.map_or_else(dash, |us| format!("{us:.1}"))));
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
                job.to_owned(),
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
                csv_number(device.length_us),
                track.job.clone(),
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
}

impl HostPathResult {
    /// What is in the latencies besides the device.
    pub fn to_text(self) -> String {
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
    fn to_text(&self) -> String {
        let mut text = format!("trace: {} records", self.records);
        let besides = clauses(&[
            (self.flushes, "flushes"),
            (self.trims, "trims"),
            (self.deletions, "deletions"),
            (self.truncations, "truncations"),
            (self.opens, "opens by readers whose reads were not seen"),
            (self.wrapped, "wrapped into the device"),
            (self.widened, "widened to logical blocks"),
            (self.out_of_order, "out of order"),
            (
                self.without_room,
                "reads of data for which there was no room",
            ),
            (
                self.unserved,
                "never served: the run ended while they waited",
            ),
            (self.empty, "of no bytes passed over"),
            (self.others, "lines that are no request passed over"),
        ]);
        if !besides.is_empty() {
            text += &format!(", {besides}");
        }
        if self.preloaded_bytes > 0 {
            let bytes = bytes(self.preloaded_bytes);
            text += &format!("; {bytes} preloaded for reads of data that the trace never wrote");
        }
        if let Some(doubt) = &self.doubt {
            text += &format!("\ndoubt: {doubt}");
        }
        text + "\n"
    }
}

impl DeviceResult {
    /// What the device was busy with in the run, and how full it is.
    pub fn to_text(&self) -> String {
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
                + &line(
                    "memory",
                    &[
                        (run.chunk_reads, "chunks read"),
                        (run.chunk_writes, "chunks written"),
                        (run.partial_chunk_accesses, "accesses to part of a chunk"),
                    ],
                );
        };
        text += &line(
            "reads",
            &[
                (flash.host_pages_read, "pages for the host"),
                (flash.read_ahead_pages, "read ahead"),
                (flash.merge_pages_read, "to merge writes"),
                (flash.gc_pages_read, "for garbage collection"),
                (flash.map_pages_read, "of the mapping"),
            ],
        );
        if run.melded_reads > 0 {
            let pages = run.page_reads + run.melded_pages_read;
            text += &format!(
                "melded reads: {}, which gave {} of the pages\n",
                run.melded_reads,
                percent(run.melded_pages_read as f64, pages as f64),
            );
        }
        text += &line(
            "writes",
            &[
                (flash.host_pages_programmed, "pages for the host"),
                (flash.gc_pages_programmed, "for garbage collection"),
                (flash.map_pages_programmed, "of the mapping"),
                (flash.journal_pages_programmed, "of the journal"),
                (flash.padded_pages, "of padding"),
            ],
        );
        if let Some(value) = flash.write_amplification {
            text += &format!("write amplification: {value:.2}\n");
        }
        text += &flash.bytes.to_text(run.host_written_bytes);
        if run.map_lookups > 0 {
            let hits = run.map_lookups - run.map_misses;
            text += &format!(
                "mapping: {} of {} look-ups hit the cache\n",
                percent(hits as f64, run.map_lookups as f64),
                run.map_lookups,
            );
        }
        if run.map_evictions > 0 {
            text += &format!(
                "evictions: {}, of which {} were written back\n",
                run.map_evictions,
                percent(run.map_write_backs as f64, run.map_evictions as f64),
            );
        }
        text += &line(
            "flash",
            &[
                (run.programs, "wordlines programmed"),
                (run.melded_wordlines_programmed, "of them melded"),
                (run.erases, "blocks erased"),
            ],
        );
        text += self.unplaced.as_deref().unwrap_or_default();
        if let Some(fdp) = &self.fdp {
            text += &fdp.to_text();
        }
        if let Some(zones) = &self.zones {
            text += &line(
                "zones",
                &[
                    (zones.resets, "resets"),
                    (zones.finishes, "finishes"),
                    (zones.implicit_closes, "implicit closes"),
                ],
            );
        }
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
}

impl FdpResult {
    fn to_text(&self) -> String {
        let [host, media, erased] = [
            self.host_bytes_written,
            self.media_bytes_written,
            self.media_bytes_erased,
        ]
        .map(bytes);
        let mut text = format!(
            "placement: {} handles; host bytes written {host}, media bytes written {media}, media bytes erased {erased}",
            self.handles
        );
        for (kind, count) in self.events.iter().filter(|(_, count)| **count > 0) {
            text += &format!("; {count} x {}", kind.replace('_', " "));
        }
        text + "\n"
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
            (self.mapping, "mapping"),
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

/// A line of the counts that are not 0; nothing where all are.
fn line(head: &str, counts: &[(u64, &str)]) -> String {
    match clauses(counts) {
        counts if counts.is_empty() => counts,
        counts => format!("{head}: {counts}\n"),
    }
}

fn optional(value: Option<f64>) -> String {
    value.map_or(String::new(), csv_number)
}
