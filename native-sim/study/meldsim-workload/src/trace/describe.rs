//! What a trace asks for: mix, sizes, rate, footprint, reuse.

use std::io::BufRead;

use serde::Serialize;

use super::footprint::{BLOCK_BYTES, Blocks, Footprint};
use super::reader::TraceReader;
use super::record::{Extent, Op, Record};
use crate::error::TraceError;
use meldsim::Duration;
use meldsim_stats::{Table, bytes, clauses, count, duration, percent};

/// Volumes that a description names.
const VOLUMES_SHOWN: usize = 8;

/// What a trace asks for. Memory does not grow with its length, only with its volumes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Description {
    /// The name of its format.
    pub format: &'static str,
    /// What its times are in.
    pub time_unit: &'static str,
    /// Whether that is another unit than the format's, as its first times say.
    pub time_unit_inferred: bool,
    /// Records that ask for something.
    pub records: u64,
    /// From the first arrival to the last, in microseconds.
    pub span_us: f64,
    /// Those that read.
    pub read: Direction,
    /// Those that write.
    pub write: Direction,
    /// Those that make writes durable.
    pub flushes: u64,
    /// Those that give data up.
    pub trims: u64,
    /// Block files handed to readers whose reads are not recorded.
    pub opens: u64,
    /// Records earlier than the one before.
    pub out_of_order: u64,
    /// Reads and writes of no bytes, passed over.
    pub empty: u64,
    /// Lines that are no request, passed over.
    pub others: u64,
    /// Reads and writes a second, over the whole span; `None` of no time.
    pub mean_iops: Option<f64>,
    /// The most in one second.
    pub peak_iops: u64,
    /// Bytes read and written a second, over the whole span; `None` of no time.
    pub mean_bytes_per_s: Option<f64>,
    /// What is touched.
    pub footprint: Footprint,
    /// How many volumes there are.
    pub volume_count: u64,
    /// The busiest ones.
    pub volumes: Vec<VolumeShare>,
    /// What about its times makes no sense.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// The reads or the writes of a trace.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Direction {
    /// How many there are.
    pub requests: u64,
    /// Bytes of all.
    pub bytes: u64,
    /// Of the smallest one.
    pub min_bytes: u64,
    /// Of the largest one.
    pub max_bytes: u64,
    /// Those that begin where the request of their volume before ended.
    pub sequential: u64,
    /// Those that do not begin and end at a multiple of 4 KiB.
    pub unaligned: u64,
    /// How many there are of up to so many bytes, each a power of two.
    pub sizes: Vec<SizeShare>,
}

/// Requests of one size and less, down to the size before.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SizeShare {
    /// Bytes of the largest.
    pub up_to_bytes: u64,
    /// How many there are.
    pub requests: u64,
}

/// What a volume has of all requests.
#[derive(Clone, Debug, Serialize)]
pub struct VolumeShare {
    /// Its name.
    pub name: String,
    /// Its reads and writes.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What is known of a volume so far.
#[derive(Clone, Debug, Default)]
struct VolumeState {
    requests: u64,
    bytes: u64,
    last: Option<(Extent, u64)>,
}

impl Description {
    /// Reads a trace to its end. `progress` is called now and then.
    ///
    /// # Errors
    ///
    /// A line that cannot be read.
    pub fn of<R: BufRead>(
        reader: &mut TraceReader<R>,
        mut progress: impl FnMut(),
    ) -> Result<Description, TraceError> {
        const PROGRESS_EVERY: u64 = 1 << 16;
        let mut description = Description::new(reader);
        let mut blocks = Blocks::default();
        let mut states: Vec<VolumeState> = Vec::new();
        let mut sizes = [[0; 65]; 2];
        let mut last = Duration::ZERO;
        let mut second = (0, 0);
        while let Some(record) = reader.next_record()? {
            description.records += 1;
            if description.records % PROGRESS_EVERY == 0 {
                progress();
            }
            description.out_of_order += u64::from(record.arrival < last);
            last = last.max(record.arrival);
            if states.len() < reader.volumes().len() {
                states.resize(reader.volumes().len(), VolumeState::default());
            }
            description.count(&record);
            if !record.op.moves_data() {
                continue;
            }
            let (of, sizes) = match record.op {
                Op::Read => (&mut description.read, &mut sizes[0]),
                _ => (&mut description.write, &mut sizes[1]),
            };
            of.take(&record, &mut states[record.volume]);
            // The power of two that is not smaller.
            sizes[(u64::BITS - (record.length - 1).leading_zeros()) as usize] += 1;
            let end_bytes = &mut description.footprint.end_bytes;
            *end_bytes = (*end_bytes).max(record.offset + record.length);
            blocks.take(&record);
            let now = last.as_ps() / 1_000_000_000_000;
            second = if now == second.0 {
                (now, second.1 + 1)
            } else {
                (now, 1)
            };
            description.peak_iops = description.peak_iops.max(second.1);
        }
        for (of, sizes) in [&mut description.read, &mut description.write]
            .into_iter()
            .zip(sizes)
        {
            let sizes = sizes
                .into_iter()
                .enumerate()
                .filter(|(_, requests)| *requests > 0);
            of.sizes = sizes
                .map(|(power, requests)| SizeShare {
                    up_to_bytes: 1u64.checked_shl(power as u32).unwrap_or(u64::MAX),
                    requests,
                })
                .collect();
        }
        description.finish(reader, last, states, &blocks);
        Ok(description)
    }

    fn new<R: BufRead>(reader: &TraceReader<R>) -> Description {
        Description {
            format: reader.format().name(),
            time_unit: reader.time_unit().name(),
            time_unit_inferred: reader.is_unit_inferred(),
            ..Description::default()
        }
    }

    fn count(&mut self, record: &Record) {
        match record.op {
            Op::Read | Op::Write => {}
            Op::Flush => self.flushes += 1,
            Op::Trim | Op::Delete | Op::Truncate => self.trims += 1,
            Op::Open => self.opens += 1,
        }
    }

    fn finish<R: BufRead>(
        &mut self,
        reader: &TraceReader<R>,
        span: Duration,
        states: Vec<VolumeState>,
        blocks: &Blocks,
    ) {
        let passed_over = reader.passed_over();
        (self.empty, self.others) = (passed_over.empty, passed_over.others);
        self.out_of_order += reader.early();
        self.span_us = span.as_ps() as f64 / 1e6;
        self.doubt = reader.doubt(self.records, span, true);
        let per_second = |amount: u64| {
            let seconds = span.as_secs_f64();
            (seconds > 0.0).then(|| amount as f64 / seconds)
        };
        self.mean_iops = per_second(self.read.requests + self.write.requests);
        self.mean_bytes_per_s = per_second(self.read.bytes.saturating_add(self.write.bytes));
        self.footprint = Footprint {
            end_bytes: self.footprint.end_bytes,
            ..blocks.footprint()
        };
        self.volume_count = reader.volumes().len() as u64;
        let shares = reader
            .volumes()
            .iter()
            .zip(states)
            .map(|(name, state)| VolumeShare {
                name: name.clone(),
                requests: state.requests,
                bytes: state.bytes,
            });
        self.volumes = shares.collect();
        // Stable: of equal ones the first that was met.
        self.volumes
            .sort_by_key(|share| std::cmp::Reverse(share.requests));
        self.volumes.truncate(VOLUMES_SHOWN);
    }

    /// For people, with tables in so many columns.
    pub fn to_text_within(&self, columns: usize) -> String {
        let inferred = if self.time_unit_inferred {
            " (inferred)"
        } else {
            ""
        };
        let span = Duration::from_ps((self.span_us * 1e6) as u64);
        let mut text = format!(
            "trace: {} records in {}; format {}, times in {}{inferred}\n",
            self.records,
            duration(span),
            self.format,
            self.time_unit
        );
        let besides = clauses(&[
            (self.flushes, "flushes"),
            (self.trims, "trims"),
            (self.opens, "opened by readers whose reads were not seen"),
            (self.out_of_order, "out of order"),
            (self.empty, "of no bytes passed over"),
            (self.others, "lines that are no request passed over"),
        ]);
        if !besides.is_empty() {
            text += &format!("besides: {besides}\n");
        }
        let rate = |rate: Option<f64>, shown: fn(f64) -> String| rate.map_or("-".to_owned(), shown);
        text += &format!(
            "rate: {} IOPS on average, {} in the busiest second; {}/s\n",
            rate(self.mean_iops, |iops| count(iops.round())),
            count(self.peak_iops as f64),
            rate(self.mean_bytes_per_s, |rate| bytes(rate as u64)),
        );
        let footprint = &self.footprint;
        text += &format!(
            "footprint: {}{} in blocks of 4 KiB, {} read, {} written; ends at {}\n",
            if footprint.is_estimate { "about " } else { "" },
            bytes(footprint.bytes),
            bytes(footprint.read_bytes),
            bytes(footprint.written_bytes),
            bytes(footprint.end_bytes),
        );
        text += &format!(
            "reuse: {:.1} accesses to a block; {:.1} % to one accessed before; {:.1} % to the hottest 1 %, {:.1} % to the hottest 10 %\n",
            footprint.accesses_per_block,
            footprint.reuse_percent,
            footprint.hottest_1_percent,
            footprint.hottest_10_percent,
        );
        if let Some(doubt) = &self.doubt {
            text += &format!("doubt: {doubt}\n");
        }
        text + &self.directions().within(columns) + &self.volume_table(columns)
    }

    fn directions(&self) -> Table {
        let mut table = Table::of("<|reads|writes");
        let both = [&self.read, &self.write];
        let all = (self.read.requests + self.write.requests) as f64;
        let mut row = |name: &str, cell: &dyn Fn(&Direction) -> String| {
            let [read, write] = both.map(cell);
            table.row([name.to_owned(), read, write]);
        };
        let of = |part: u64, whole: u64| percent(part as f64, whole as f64);
        let size = |size: Option<u64>| size.map_or("-".to_owned(), bytes);
        row("requests", &|of| of.requests.to_string());
        row("of all", &|of| percent(of.requests as f64, all));
        row("bytes", &|of| bytes(of.bytes));
        let some = |of: &Direction, bytes: u64| (of.requests > 0).then_some(bytes);
        row("smallest", &|of| size(some(of, of.min_bytes)));
        row("mean", &|of| size(of.bytes.checked_div(of.requests)));
        row("largest", &|of| size(some(of, of.max_bytes)));
        row("sequential", &|it| of(it.sequential, it.requests));
        row("not at 4 KiB", &|it| of(it.unaligned, it.requests));
        let mut powers: Vec<u64> = both
            .iter()
            .flat_map(|it| it.sizes.iter().map(|share| share.up_to_bytes))
            .collect();
        powers.sort_unstable();
        powers.dedup();
        for power in powers {
            row(&format!("up to {}", bytes(power)), &|it| {
                let share = it.sizes.iter().find(|share| share.up_to_bytes == power);
                of(share.map_or(0, |share| share.requests), it.requests)
            });
        }
        table
    }

    fn volume_table(&self, columns: usize) -> String {
        if self.volume_count < 2 {
            return String::new();
        }
        let mut table = Table::of("<volume|requests|bytes");
        for share in &self.volumes {
            table.row([
                share.name.clone(),
                share.requests.to_string(),
                bytes(share.bytes),
            ]);
        }
        let more = self.volume_count - self.volumes.len() as u64;
        let more = if more > 0 {
            format!("and {more} more volumes\n")
        } else {
            String::new()
        };
        table.within(columns) + &more
    }
}

impl Direction {
    fn take(&mut self, record: &Record, volume: &mut VolumeState) {
        let end = record.offset + record.length;
        self.min_bytes = match self.requests {
            0 => record.length,
            _ => self.min_bytes.min(record.length),
        };
        self.max_bytes = self.max_bytes.max(record.length);
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(record.length);
        self.sequential += u64::from(volume.last == Some((record.extent, record.offset)));
        self.unaligned += u64::from(record.offset % BLOCK_BYTES != 0 || end % BLOCK_BYTES != 0);
        volume.last = Some((record.extent, end));
        volume.requests += 1;
        volume.bytes = volume.bytes.saturating_add(record.length);
    }
}
