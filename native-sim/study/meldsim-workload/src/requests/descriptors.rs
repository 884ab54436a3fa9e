//! fio's descriptors of requests: a request that is prepared takes one, and gives it back when it completes.
//!
//! A request of a random job that follows the one before, or repeats it, marks its descriptor: the random map takes no notice of it.
//! Its completion removes the mark. One that finds no place does not complete, and leaves its descriptor marked for a request of the
//! next pass. Which one that is depends on the order in which descriptors come back. Here it is that of fio's engine `null`, which
//! completes at once all that was submitted.

use crate::distribution::Distribution;
use crate::job::{Generator, Job};

/// The descriptors of a job, by number.
#[derive(Clone, Debug)]
pub(super) struct Descriptors {
    is_marked: Vec<bool>,
    /// Those that no request has; the next is the last.
    free: Vec<usize>,
    /// Prepared, and not submitted.
    queued: Vec<usize>,
    /// Submitted.
    submitted: Vec<usize>,
    /// How many fio believes to be queued: it goes on counting those that the end of a pass completed.
    count: usize,
    /// At so many they are submitted.
    batch: usize,
    /// A full queue drains to so many.
    low: usize,
}

impl Descriptors {
    /// `None` of a job where marks have no effect, or none comes to be.
    pub(super) fn new(job: &Job) -> Option<Descriptors> {
        let is_at_random = job.random_percent == [100; 3] && job.repeat.is_none();
        let writes_trimmed = job.rw.trims() && job.rw.writes();
        let has_map = job.generator != Generator::Lfsr && !job.repeats_blocks();
        let has_marks = job.rw.is_random() && (writes_trimmed || !is_at_random);
        if !has_map || !has_marks || job.distribution != Distribution::Once {
            return None;
        }
        let depth = job.iodepth as usize;
        let or_all = |number: u32| match number {
            0 => depth,
            number => depth.min(number as usize),
        };
        Some(Descriptors {
            is_marked: vec![false; depth],
            free: (0..depth).collect(),
            queued: Vec::new(),
            submitted: Vec::new(),
            count: 0,
            batch: or_all(job.submit_batch),
            low: or_all(job.iodepth_low.unwrap_or(0)),
        })
    }

    /// Whether the next request has one that was left marked.
    pub(super) fn is_marked(&self) -> bool {
        let next = self.free.last();
        next.is_some_and(|next| self.is_marked[*next])
    }

    /// A request takes the next one.
    pub(super) fn take(&mut self) {
        let Some(taken) = self.free.pop() else {
            return;
        };
        self.is_marked[taken] = false;
        if !self.submitted.is_empty() {
            // The engine is busy until these have completed.
            self.count = 0;
            self.drain();
        }
        self.queued.push(taken);
        self.count += 1;
        if self.count >= self.batch {
            self.submit();
            self.count = 0;
        }
        if self.free.is_empty() {
            self.drain();
        }
    }

    /// A request that is marked or not finds no place.
    pub(super) fn leave(&mut self, is_marked: bool) {
        if let Some(next) = self.free.last() {
            self.is_marked[*next] |= is_marked;
        }
    }

    /// All complete at the end of a pass.
    pub(super) fn complete(&mut self) {
        self.submit();
        self.free.append(&mut self.submitted);
    }

    /// A flush at the end of a pass takes one, and is waited for.
    pub(super) fn flush(&mut self) {
        self.take();
        self.complete();
        self.count = 0;
    }

    fn submit(&mut self) {
        if self.submitted.is_empty() {
            std::mem::swap(&mut self.submitted, &mut self.queued);
        }
    }

    fn drain(&mut self) {
        let was_full = self.free.is_empty();
        self.complete();
        while was_full && self.queued.len() > self.low {
            self.complete();
        }
    }
}
