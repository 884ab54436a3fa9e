//! The outcome of a job: its tallies, the window that was counted, and whether it would go on so.

use serde::Serialize;
use serde::ser::Serializer;
use serde_json::json;

use super::rates::Rates;
use crate::job::Given;
use meldsim::engine::{Duration, Instant};
use meldsim_host::{Direction, Tally};
use meldsim_stats::{duration, percent, rate_mib_s};

/// The outcome of one job.
#[derive(Clone, Debug, Default)]
pub struct JobResult {
    /// The job's name.
    pub name: String,
    /// Its reporting group, from 0: another begins with `stonewall` or `new_group`.
    pub group: usize,
    /// What it does, in the job file's words, and what else was said of it.
    pub options: Vec<(String, String)>,
    /// Most requests outstanding.
    pub iodepth: u32,
    /// When counting began.
    pub start_us: f64,
    /// Simulated time from then until it was over.
    pub duration_us: f64,
    /// The jobs' own times, added up.
    pub(crate) run_time: Duration,
    /// Rates of reads, writes and trims in parts of their time.
    pub(crate) rates: [Rates; 3],
    /// Requests by how many were outstanding with them, in powers of two.
    pub(crate) depths: [u64; 7],
    /// Its options as the job file has them; of several jobs those of the last, as in fio.
    pub(crate) given: Given,
    /// The reads, if any.
    pub read: Option<Tally>,
    /// The writes, if any; done means accepted by the device's write buffer.
    pub write: Option<Tally>,
    /// The trims, if any.
    pub trim: Option<Tally>,
    /// The flushes, if any.
    pub sync: Option<Tally>,
    /// Equal jobs and jobs of a group that it is the sum of.
    pub jobs: u32,
    /// Percentiles of latencies to show, in millionths of a percent; fio's list when empty.
    pub percentiles: Vec<u64>,
    /// What its NVM set did while it was counted; `None` of a trace.
    pub window: Option<Window>,
    /// What uniform random overwrites of all that its NVM set holds come to by the closed form, if that is what it does.
    pub uniform_write_amplification: Option<f64>,
    /// With `latency_target`, the queue depth that was found; 0 when none that was tried meets it.
    pub latency_depth: Option<u32>,
    /// Bytes of logical blocks that requests had no part in, and that were read or written with them.
    pub widened_bytes: u64,
    /// With `steadystate`, when speed had become steady, if it had.
    pub steady_us: Option<f64>,
    /// Why it ended before its work was done.
    pub stopped: Option<String>,
    /// What was not counted, from its start on.
    pub(crate) ramp_time: Duration,
    /// How its region was fitted to zones, if it was.
    pub(crate) rounded: Option<String>,
}

/// What was counted of a job, and whether it would go on so. A job that shares its NVM set with others sees what they do, too.
#[derive(Clone, Debug)]
pub struct Window {
    /// Bytes programmed to flash for each byte that the host wrote; `None` where there was none of these, or no flash.
    pub write_amplification: Option<f64>,
    /// Bytes programmed.
    pub programmed_bytes: u64,
    /// Bytes the host wrote.
    pub written_bytes: u64,
    /// Blocks erased.
    pub blocks_erased: u64,
    /// Flash was programmed, and no block erased.
    pub is_fresh: bool,
    /// By its end blocks had been erased, be it before it began.
    pub was_erased: bool,
    /// Its halves, where they have enough requests to tell.
    pub halves: Option<[Half; 2]>,
    /// Whether rate and write amplification of the halves are alike within 5 %, where there are halves, and collection freed as
    /// much as was written: some blocks, where some were programmed.
    pub is_steady: Option<bool>,
    /// Bytes that collection freed for each that was written, where these are 5 % apart.
    pub freed: Option<f64>,
    /// From when on that is so of what is left, from the window's start.
    pub steady_since: Option<Duration>,
}

/// A part of a window.
#[derive(Clone, Copy, Debug)]
pub struct Half {
    /// Bytes of requests that completed.
    pub bytes: u64,
    /// How long it was.
    pub seconds: f64,
    /// As of the whole.
    pub write_amplification: Option<f64>,
}

impl Window {
    /// Whether it is steady, in words; nothing where nobody would doubt it. `is_new`: nothing was done to the device before the run.
    pub(crate) fn to_text(&self, is_new: bool) -> Option<String> {
        let writes = self.written_bytes > 0;
        if self.is_fresh && writes {
            let state = match is_new && !self.was_erased {
                true => "fresh, out of the box",
                false => "not steady",
            };
            return Some(format!("{state}: no block erased yet"));
        }
        let text = match (self.is_steady, &self.halves) {
            (Some(false), Some([first, second])) => {
                let mut text = format!("not steady: {} → {}", first.rate(), second.rate());
                if let (Some(one), Some(other)) =
                    (first.write_amplification, second.write_amplification)
                {
                    text += &format!(", write amplification {one:.2} → {other:.2}");
                }
                text += " from the first half to the second";
                if let Some(freed) = self.freed {
                    let freed = percent(freed.max(0.0), 1.0);
                    text += &format!(", collection freed {freed} of what was written");
                }
                match self.steady_since {
                    Some(since) => text + &format!("; steady since {}", duration(since)),
                    None => text,
                }
            }
            (Some(_), _) if writes => "steady: both halves are alike within 5 %".to_owned(),
            (None, _) if writes => "too few requests to tell whether it is steady".to_owned(),
            _ => return None,
        };
        Some(text)
    }
}

impl Half {
    /// The rate.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }

    /// In the words of a result.
    fn rate(&self) -> String {
        rate_mib_s(self.bytes_per_s() / f64::from(1 << 20))
    }

    /// Whether what is outstanding at its ends is little beside what was done.
    pub(crate) fn tells(&self, outstanding_bytes: u64) -> bool {
        self.bytes >= outstanding_bytes.saturating_mul(HALF_DEPTHS)
    }
}

/// So many times what is outstanding, and a half's rate is known to 2.5 %.
const HALF_DEPTHS: u64 = 40;

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let half = |half: &Half| {
            json!({
                "bytes_per_s": half.bytes_per_s(),
                "write_amplification": half.write_amplification,
            })
        };
        let since = self.steady_since.map(|time| time.as_ps() as f64 / 1e6);
        let halves = self.halves.as_ref();
        json!({
            "write_amplification": self.write_amplification,
            "programmed_bytes": self.programmed_bytes,
            "written_bytes": self.written_bytes,
            "blocks_erased": self.blocks_erased,
            "halves": halves.map(|halves| halves.each_ref().map(half)),
            "is_steady": self.is_steady,
            "is_fresh": self.is_fresh,
            "steady_since_us": since,
        })
        .serialize(serializer)
    }
}

/// A stretch of simulated time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: Instant,
    pub(crate) end: Instant,
}

impl JobResult {
    /// What was counted in that time, of nobody yet.
    pub(crate) fn new(span: Span, [read, write, trim, sync]: [Option<Tally>; 4]) -> JobResult {
        let duration = span.end.saturating_since(span.start);
        JobResult {
            start_us: span.start.as_ps() as f64 / 1e6,
            duration_us: duration.as_ps() as f64 / 1e6,
            run_time: duration,
            read,
            write,
            trim,
            sync,
            jobs: 1,
            ..JobResult::default()
        }
    }

    /// The requests of a direction, if there were any.
    pub fn tally(&self, direction: Direction) -> Option<&Tally> {
        let all = [&self.read, &self.write, &self.trim, &self.sync];
        all[direction as usize].as_ref()
    }

    /// The directions that had requests, with their names.
    pub fn directions(&self) -> impl Iterator<Item = (&'static str, &Tally)> {
        let all = Direction::ALL.into_iter();
        all.filter_map(|direction| Some((direction.name(), self.tally(direction)?)))
    }

    /// Requests of all directions that completed with an error.
    pub fn failed(&self) -> u64 {
        self.directions().map(|(_, tally)| tally.failed).sum()
    }
}
