//! Jobs that take several completions at once, and fill their queue again when it has drained: fio's `iodepth_low` and
//! `iodepth_batch_complete_min`.

use super::super::job::Job;
use meldsim_host::Ended;

/// The queue of a job as its thread sees it.
#[derive(Debug)]
pub(super) struct Batch {
    depth: u32,
    /// Completions that are taken at once, unless there are fewer outstanding.
    least: u32,
    /// A queue that was full is filled again at so many.
    low: u32,
    /// Submitted, and not seen to have completed.
    outstanding: u32,
    was_full: bool,
    /// Completed and not seen.
    kept: Vec<Ended>,
    /// Of these, seen at last.
    seen: usize,
}

impl Batch {
    /// `None` of a job that takes each completion by itself.
    pub(super) fn new(job: &Job) -> Option<Batch> {
        let depth = job.iodepth;
        let low = job.iodepth_low.unwrap_or(depth).min(depth);
        let least = job.complete_min.min(depth);
        if depth < 2 || (low == depth && least < 2) {
            return None;
        }
        // It is drained by so many at a time until it is low enough, and at least once.
        let times = (depth - low).div_ceil(least).max(1);
        Some(Batch {
            depth,
            least,
            low: depth.saturating_sub(times * least),
            outstanding: 0,
            was_full: false,
            kept: Vec::with_capacity(least as usize),
            seen: 0,
        })
    }

    /// Whether another request may be submitted now.
    pub(super) fn goes_on(&mut self) -> bool {
        self.was_full &= self.outstanding > self.low;
        !self.was_full
    }

    pub(super) fn submitted(&mut self) {
        self.outstanding += 1;
        self.was_full |= self.outstanding == self.depth;
    }

    /// Keeps a completion, if those that it is taken with are still to come.
    pub(super) fn keeps(&mut self, ended: &Ended) -> bool {
        let all = self.kept.len() as u32 + 1;
        let at_once = if self.was_full { self.least } else { 1 };
        if all < at_once.min(self.outstanding) {
            self.kept.push(*ended);
            return true;
        }
        for earlier in &mut self.kept {
            earlier.completed = ended.completed;
        }
        self.seen = self.kept.len();
        self.outstanding -= all;
        false
    }

    /// One of those that are seen now.
    pub(super) fn taken(&mut self) -> Option<Ended> {
        self.seen = self.seen.checked_sub(1)?;
        self.kept.pop()
    }
}
