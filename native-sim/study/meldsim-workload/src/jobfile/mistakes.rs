//! What makes a job impossible.

use crate::distribution::{Distribution, Zones};
use crate::job::{Job, JobError};
use crate::options::{DataPlacement, SteadyState};
use meldsim::engine::Duration;
use meldsim::nvme::MAX_STREAMS;

impl Job {
    /// Refuses a job that cannot run.
    ///
    /// # Errors
    ///
    /// The first option that makes it impossible, and the remedy.
    pub fn validate(&self) -> Result<(), JobError> {
        self.mistakes().into_iter().next().map_or(Ok(()), Err)
    }

    /// Everything that makes the job impossible.
    pub fn mistakes(&self) -> Vec<JobError> {
        let mut mistakes = Vec::new();
        let mut wrong = |key, text: &str| mistakes.push(JobError::new(key, text));
        let given = self.size_bytes > 0;
        if !given {
            wrong("size", "is missing or 0; give one, such as size=1g");
        }
        let unit = self.unit_bytes();
        if unit == 0 {
            wrong("bs", "is 0; use a size such as bs=4k");
        }
        let last = u64::from(self.numjobs).saturating_sub(1);
        let last = self.offset_increment_bytes.checked_mul(last);
        let last = last.and_then(|last| last.checked_add(self.offset_bytes));
        let end = last.and_then(|last| last.checked_add(self.size_bytes));
        if end.is_none() {
            let text = "brings the region to where no device has an address; use a smaller one";
            wrong("offset", text);
        }
        // More are refused below.
        let some_clones = || self.clones().take(Job::NUMJOBS_MAX as usize);
        let once = self.io_bytes.unwrap_or(self.pass_bytes());
        let mut sizes = [("size", self.size_bytes), ("io_size", once)].into_iter();
        if let Some((key, bytes)) = sizes.find(|(_, bytes)| given && *bytes < unit) {
            let text =
                format!("of {bytes} B is less than a block of {unit} B; use at least one block");
            wrong(key, &text);
        } else if let Some(clone) = some_clones().find(|clone| given && clone.size_bytes < unit) {
            let (name, left) = (&clone.name, clone.size_bytes);
            let text = format!(
                "leaves {name} {left} B, less than a block of {unit} B; use a smaller offset_increment"
            );
            wrong("offset", &text);
        }
        let (is_0, or_out) = (Some(0), "is 0; use 1 or more, or leave it out");
        if self.loops == 0 {
            wrong("loops", or_out);
        }
        if self.most_requests == is_0 {
            wrong("number_ios", or_out);
        }
        let (depth, most) = (self.iodepth, Job::IODEPTH_MAX);
        if !(1..=most).contains(&depth) {
            wrong("iodepth", &format!("is {depth}; use 1 to {most}"));
        }
        let percents = [("rwmixread", self.rwmixread)].into_iter();
        let random = self
            .random_percent
            .map(|percent| ("percentage_random", percent));
        for (key, percent) in percents.chain(random).filter(|(_, percent)| *percent > 100) {
            let text = format!("is {percent}; use a percentage, 0 to 100");
            wrong(key, &text);
        }
        if self.runtime == Some(Duration::ZERO) {
            let text = "is 0; use a time such as runtime=100ms, or leave it out";
            wrong("runtime", text);
        }
        let rates = [self.rate_read, self.rate_write, self.rate_trim];
        if rates.iter().flatten().any(|rate| rate.per_second() == 0) {
            let text = "is 0; use a rate such as rate_iops=10000 or rate=100m, or leave it out";
            wrong("rate", text);
        }
        if self.rate_cycle == Duration::ZERO {
            let text = "is 0; use milliseconds such as rate_cycle=1000, or leave it out";
            wrong("rate_cycle", text);
        }
        if self.think_blocks == 0 {
            let text = "is 0; use 1 or more, or leave thinktime out";
            wrong("thinktime_blocks", text);
        }
        let (jobs, most) = (self.numjobs, Job::NUMJOBS_MAX);
        if !(1..=most).contains(&jobs) {
            wrong("numjobs", &format!("is {jobs}; use 1 to {most}"));
        }
        if self.distribution != Distribution::Once && !self.rw.is_random() {
            let remedy = "use randread, randwrite or randrw";
            let text = format!("is set, but rw={} is sequential; {remedy}", self.rw);
            wrong("random_distribution", &text);
        }
        let ids = &self.placement_ids;
        let missing = match self.data_placement {
            DataPlacement::None if !ids.is_empty() => Some("dataplacement"),
            DataPlacement::Streams if ids.is_empty() => Some("plids"),
            _ => None,
        };
        if let Some(key) = missing {
            let text = "is missing; give both, such as dataplacement=streams and plids=1";
            wrong(key, text);
        }
        let (what, range) = match self.data_placement {
            DataPlacement::Fdp => ("handle", 0..=MAX_STREAMS - 1),
            _ => ("stream", 1..=MAX_STREAMS),
        };
        if let Some(id) = ids.iter().find(|id| !range.contains(id)) {
            let (first, last) = range.into_inner();
            wrong("plids", &format!("has {what} {id}; use {first} to {last}"));
        }
        if self.poisson && rates == [None; 3] {
            let text = "needs a rate; add one, such as rate_iops=10000";
            wrong("rate_process", text);
        }
        if self.time_based && self.runtime.is_none() {
            let text = "needs an end; add runtime, such as runtime=100ms";
            wrong("time_based", text);
        }
        if let Distribution::ZonedAbsolute(zones) = &self.distribution {
            let size = |zones: &Zones| zones.iter().map(|zone| zone.size).sum::<u64>();
            if zones.iter().any(|zones| size(zones) > self.size_bytes) {
                let text = "has zones beyond the size; use smaller ones";
                wrong("random_distribution", text);
            }
        }
        if let Some(zone) = &self.strided {
            let range = zone.range_bytes;
            if range < unit || zone.size_bytes == 0 {
                let text =
                    format!("of {range} B holds no block of {unit} B; use at least one block");
                wrong("zonesize", &text);
            }
        }
        let target = self.latency_target.as_ref();
        if target.is_some_and(|target| target.window == Duration::ZERO) {
            let text = "is missing or 0; give one, such as latency_window=5s";
            wrong("latency_window", text);
        }
        if let Some(steady) = &self.steady_state {
            let (window, every) = (steady.window, steady.interval);
            let whole = every >= SteadyState::SHORTEST && window.as_ps() % every.as_ps() == 0;
            let fits = window > every && window.as_ps() / every.as_ps() <= SteadyState::MOST;
            if !(whole && fits) {
                let text = "is missing, or not 2 to 4096 times ss_interval, which is 1 us at least; give one, such as ss_dur=10s";
                wrong("ss_dur", text);
            }
        }
        mistakes
    }
}
