//! What is counted of a job: its requests by direction, over its own time, and how even their rates were.
//!
//! Several jobs report as one as fio has them: requests add up, a direction's time is that of the longest job that has it, and
//! rates are sums, since jobs run at once. Each job's rates are those of half seconds, the last of which is over before the job.

use super::super::result::{JobResult, Span};
use crate::result::rates::Rates;
use meldsim::{Duration, Instant};
use meldsim_host::{Ended, Tally};

/// fio's `bwavgtime` and `iopsavgtime`.
const INTERVAL: Duration = Duration::from_ms(500);

/// What is counted of a job.
#[derive(Debug)]
pub(super) struct Account {
    /// What completes before this is not counted.
    pub(super) from: Instant,
    /// Rates are not taken from then on.
    until: Instant,
    /// Its last completion, or when it was over.
    end: Instant,
    /// By direction.
    tallies: [Tally; 4],
    /// Requests and bytes of reads, writes and trims when the interval began.
    before: [(u64, u64); 3],
    /// The interval's end.
    next: Instant,
    rates: [Rates; 3],
    /// Requests by how many were outstanding with them, in powers of two.
    depths: [u64; 7],
}

impl Account {
    /// Counts from then on, for so long.
    pub(super) fn new(from: Instant, runtime: Option<Duration>) -> Account {
        Account {
            from,
            until: runtime.map_or(Instant::MAX, |runtime| from + runtime),
            end: from,
            tallies: Default::default(),
            before: [(0, 0); 3],
            next: from + INTERVAL,
            rates: Default::default(),
            depths: [0; 7],
        }
    }

    #[inline(always)]
    pub(super) fn submitted(&mut self, now: Instant, outstanding: u64) {
        if now >= self.from {
            let depth = (outstanding + 1).ilog2() as usize;
            self.depths[depth.min(6)] += 1;
        }
    }

    #[inline(always)]
    pub(super) fn record(&mut self, ended: &Ended) {
        if ended.completed >= self.next {
            self.sample(ended.completed);
        }
        self.tallies[ended.direction as usize].record(ended);
        self.end = ended.completed;
    }

    /// The interval is over. Where nothing completed there is no sample.
    fn sample(&mut self, now: Instant) {
        if self.next >= self.until {
            return;
        }
        for (direction, before) in self.before.iter_mut().enumerate() {
            let tally = &self.tallies[direction];
            let (requests, bytes) = (tally.requests - before.0, tally.bytes - before.1);
            if requests > 0 {
                self.rates[direction].add(requests, bytes, INTERVAL);
            }
            *before = (tally.requests, tally.bytes);
        }
        let later = (now - self.next).as_ps() / INTERVAL.as_ps();
        self.next += INTERVAL * (later + 1);
    }

    /// The job is over.
    pub(super) fn end(&mut self, now: Instant) {
        self.end = self.end.max(now);
        if now > self.next {
            self.sample(now);
        }
    }

    /// Requests and bytes of reads, writes and trims.
    pub(super) fn counted(&self) -> [(u64, u64); 3] {
        [0, 1, 2].map(|index| (self.tallies[index].requests, self.tallies[index].bytes))
    }

    /// The result of a job, or of several as if they were one. `parts` are their rates in shorter intervals, for those that were
    /// over before the first.
    pub(super) fn result<'a>(
        accounts: impl Iterator<Item = &'a Account> + Clone,
        parts: impl Fn() -> [Rates; 3],
    ) -> JobResult {
        let mut tallies: [Option<Tally>; 4] = Default::default();
        let (mut rates, mut depths) = ([Rates::default(); 3], [0; 7]);
        let mut run_time = Duration::ZERO;
        for account in accounts.clone() {
            let own = account.end.saturating_since(account.from);
            run_time += own;
            for (sum, tally) in tallies.iter_mut().zip(&account.tallies) {
                match (sum, tally.clone().over(own)) {
                    (Some(sum), Some(tally)) => sum.merge(&tally),
                    (sum, tally) => *sum = sum.take().or(tally),
                }
            }
            let own = account.rates.iter();
            rates
                .iter_mut()
                .zip(own)
                .for_each(|(sum, own)| sum.join(own));
            let own = account.depths.iter();
            depths
                .iter_mut()
                .zip(own)
                .for_each(|(sum, own)| *sum += own);
        }
        if rates.iter().all(|of| of.iops.samples == 0) {
            rates = parts();
        }
        let span = Span {
            start: accounts.clone().map(|of| of.from).min().unwrap_or_default(),
            end: accounts.map(|of| of.end).max().unwrap_or_default(),
        };
        JobResult {
            rates,
            depths,
            run_time,
            ..JobResult::new(span, tallies)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;

    use flate2::read::GzDecoder;
    use serde_json::Value;

    use super::super::{Runner, results};
    use super::*;
    use crate::{Job, RunResult, parse_job_file};
    use meldsim::Profile;
    use meldsim_host::Direction;

    /// Rows of a job's log, as `tests/fio/record.py` writes them.
    fn completions(log: &Value) -> Vec<Ended> {
        let column = |nth: usize| {
            let numbers = log[nth].as_array().unwrap().iter();
            numbers.map(|number| number.as_u64().unwrap()).collect()
        };
        let columns: [Vec<u64>; 4] = [0, 1, 2, 3].map(column);
        let mut at = Instant::START + Duration::from_ms(1000);
        let rows = (0..columns[0].len()).map(|row| {
            at += Duration::from_ms(columns[0][row]);
            let arrived = at - (Instant::START + Duration::from_ns(columns[1][row]));
            let arrived = Instant::START + arrived;
            Ended {
                arrived,
                begun: arrived,
                submitted: arrived,
                completed: at,
                bytes: columns[3][row],
                direction: Direction::ALL[columns[2][row] as usize],
                failed: false,
            }
        });
        rows.collect()
    }

    /// What is made of the completions of a draw.
    fn aggregated(draw: &Value) -> Value {
        let text = draw["text"].as_str().unwrap();
        let jobs = parse_job_file("draw", text, &Job::new("")).unwrap().jobs;
        let profile = Profile::builtin("melded-tlc-8x8").unwrap();
        let mut runner = Runner::new(&profile, &jobs).unwrap();
        let logs = draw["logs"].as_array().unwrap();
        assert_eq!(runner.jobs.len(), logs.len());
        for (job, log) in runner.jobs.iter_mut().zip(logs) {
            let from = Instant::START + Duration::from_ms(1000);
            job.account = Account::new(from, job.job.runtime);
            completions(log)
                .iter()
                .for_each(|ended| job.account.record(ended));
            let lasts = job.job.runtime.filter(|_| job.job.time_based);
            job.account
                .end(lasts.map_or(job.account.end, |runtime| from + runtime));
        }
        let result = RunResult {
            jobs: results(&runner.jobs, &runner.device),
            ..RunResult::default()
        };
        result.to_fio_json()
    }

    #[test]
    fn completions_add_up_as_in_fio() {
        let packed = File::open(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fio/drawn.json.gz"
        ));
        let mut text = String::new();
        GzDecoder::new(packed.unwrap())
            .read_to_string(&mut text)
            .unwrap();
        let draws: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(draws.len(), 100);
        let (mut wrong, mut compared) = (Vec::new(), 0);
        for draw in &draws {
            let ours = aggregated(draw);
            let theirs = draw["jobs"].as_array().unwrap();
            assert_eq!(ours["jobs"].as_array().unwrap().len(), theirs.len());
            for (ours, theirs) in ours["jobs"].as_array().unwrap().iter().zip(theirs) {
                let mut compare = |what: String, ours: &Value, theirs: &Value| {
                    let [one, other] = [ours, theirs].map(|value| value.as_f64().unwrap());
                    compared += 1;
                    if (one - other).abs() > 0.01 * one.max(other) {
                        wrong.push(format!("{what}: {one}, fio {other}\n{}", draw["text"]));
                    }
                };
                let name = ours["jobname"].as_str().unwrap().split('.').next();
                assert_eq!(name, theirs["jobname"].as_str());
                assert_eq!(ours["groupid"], theirs["groupid"]);
                let run = "job_runtime";
                compare(run.to_owned(), &ours[run], &theirs[run]);
                for (direction, theirs) in theirs.as_object().unwrap() {
                    let (ours, Some(theirs)) = (&ours[direction], theirs.as_object()) else {
                        continue;
                    };
                    // fio has no rates of a job that is over before the first.
                    let has_rates = theirs["iops_samples"] != 0;
                    for (key, value) in theirs {
                        let what = format!("{direction} {key}");
                        let is_rate = key.contains("_m") || key.contains("_s") || key == "bw_agg";
                        match value {
                            // A deviation is of how exactly fio's clock ticks.
                            _ if key.ends_with("dev") || is_rate && !has_rates => {}
                            Value::Object(latency) => {
                                for (key, value) in latency {
                                    compare(format!("{what} {key}"), &ours["lat_ns"][key], value);
                                }
                            }
                            value => compare(what, &ours[key], value),
                        }
                    }
                }
            }
        }
        assert!(
            wrong.is_empty(),
            "{} of {compared}: {}",
            wrong.len(),
            wrong.join("\n")
        );
        assert!(compared > 2000, "{compared}");
    }
}
