//! A run over time, in equal intervals, of which the last ends with the run. Memory is bounded: when there would be too many, two become one.

use std::collections::BTreeMap;

use meldsim::device::{Device, Stats};
use meldsim::engine::{Duration, Instant};
use meldsim_host::{Direction, Ended};
use meldsim_stats::{bucket, bucket_values, percent_of};

/// Most intervals.
const INTERVALS_MAX: usize = 1024;
/// So many requests tell their 99th percentile from their maximum.
const TAIL_REQUESTS: u64 = 200;
/// So many requests tell a rate from the accident of which interval a request ends in.
const RATE_REQUESTS: u64 = 50;
/// Fewest intervals in which pages show requests.
const INTERVALS_MIN: usize = 8;
/// A latency's bucket keeps this many bits after the leading one: within 1.6 %.
const BUCKET_BITS: u32 = 6;

/// Collects the requests of a run by when they completed, and the device's counters between.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    interval: Duration,
    /// For each job, by direction.
    tracks: Vec<[Vec<Cell>; 4]>,
    /// The counters at the end of each interval.
    ends: Vec<Stats>,
}

/// The requests of one direction of one job in one interval.
#[derive(Clone, Debug, Default)]
struct Cell {
    requests: u64,
    bytes: u64,
    sum_ps: u128,
    max_ps: u64,
    latencies: BTreeMap<u32, u64>,
}

impl Cell {
    fn merge(&mut self, other: &Cell) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.sum_ps += other.sum_ps;
        self.max_ps = self.max_ps.max(other.max_ps);
        for (bucket, count) in &other.latencies {
            *self.latencies.entry(*bucket).or_default() += count;
        }
    }

    /// The latency that 99 % did not exceed.
    fn p99_ps(&self) -> u64 {
        self.percentile_ps(99)
    }

    fn percentile_ps(&self, percent: u64) -> u64 {
        let rank = (self.requests * percent).div_ceil(100);
        let mut counted = 0;
        for (bucket, count) in &self.latencies {
            counted += count;
            if counted >= rank {
                return bucket_values::<BUCKET_BITS>(*bucket).1.min(self.max_ps);
            }
        }
        self.max_ps
    }
}

impl Series {
    pub(crate) fn new(interval: Duration, jobs: usize) -> Series {
        Series {
            interval: interval.max(Duration::from_ps(1)),
            tracks: vec![<[Vec<Cell>; 4]>::default(); jobs],
            ends: Vec::new(),
        }
    }

    /// When the device's counters are wanted next.
    pub(crate) fn next_sample(&self) -> Instant {
        Instant::START + self.interval * (self.ends.len() as u64 + 1)
    }

    /// The counters at or after [`Series::next_sample`].
    pub(crate) fn sample(&mut self, stats: &Stats) {
        while self.next_sample().as_ps() <= stats.now_ps {
            if self.ends.len() == INTERVALS_MAX {
                self.halve();
                continue;
            }
            self.ends.push(*stats);
        }
    }

    /// Samples the device if that is due. Returns when it is due next.
    pub(crate) fn keep_up(&mut self, device: &Device) -> Instant {
        if device.now() >= self.next_sample() {
            self.sample(&device.stats());
        }
        self.next_sample()
    }

    pub(crate) fn record(&mut self, job: usize, ended: &Ended) {
        let mut index = (ended.completed.as_ps() / self.interval.as_ps()) as usize;
        while index >= INTERVALS_MAX {
            self.halve();
            index /= 2;
        }
        while self.tracks.len() <= job {
            self.tracks.push(Default::default());
        }
        let cells = &mut self.tracks[job][ended.direction as usize];
        if cells.len() <= index {
            cells.resize(index + 1, Cell::default());
        }
        let ps = (ended.completed - ended.arrived).as_ps();
        let cell = &mut cells[index];
        cell.requests += 1;
        cell.bytes += if ended.failed { 0 } else { ended.bytes };
        cell.sum_ps += u128::from(ps);
        cell.max_ps = cell.max_ps.max(ps);
        *cell.latencies.entry(bucket::<BUCKET_BITS>(ps)).or_default() += 1;
    }

    fn halve(&mut self) {
        self.interval = self.interval * 2;
        for cells in self.tracks.iter_mut().flatten() {
            let mut merged: Vec<Cell> = Vec::with_capacity(cells.len().div_ceil(2));
            for pair in cells.chunks(2) {
                let mut cell = pair[0].clone();
                if let Some(second) = pair.get(1) {
                    cell.merge(second);
                }
                merged.push(cell);
            }
            *cells = merged;
        }
        let ends = self.ends.chunks_exact(2);
        self.ends = ends.map(|pair| pair[1]).collect();
    }

    /// The intervals up to the last completion or `last`, the counters at the run's end.
    pub(crate) fn result(mut self, names: &[String], last: &Stats) -> TimeSeries {
        let end = Instant::START + Duration::from_ps(last.now_ps);
        let longest = self.tracks.iter().flatten().map(Vec::len).max();
        let mut count = longest.unwrap_or(0).max(self.ends.len());
        // What completed as the run ended is of the interval that ended then.
        if count > 1 && Instant::START + self.interval * (count as u64 - 1) == end {
            count -= 1;
            for cells in self.tracks.iter_mut().flatten() {
                if cells.len() > count {
                    let after = cells.split_off(count);
                    cells[count - 1].merge(&after[0]);
                }
            }
        }
        let interval = self.interval;
        // The last is as long as the run was.
        let length = |first: u64, intervals: u64| {
            let whole = interval * intervals;
            match end.saturating_since(Instant::START + interval * first) {
                Duration::ZERO => whole,
                left => whole.min(left),
            }
        };
        self.ends.resize(count, *last);
        let mut before = Stats::default();
        let mut device = Vec::with_capacity(count);
        for (index, end) in self.ends.iter().enumerate() {
            let first = index as u64;
            device.push(DeviceInterval::new(
                interval * first,
                length(first, 1),
                &before,
                end,
            ));
            before = *end;
        }
        let mut tracks = Vec::new();
        for (job, directions) in self.tracks.iter().enumerate() {
            for (direction, cells) in Direction::ALL.into_iter().zip(directions) {
                if cells.is_empty() {
                    continue;
                }
                let nothing = Cell::default();
                let tails = longer(cells, TAIL_REQUESTS);
                let tails = tails.filter(|(.., cell)| cell.requests > 0);
                let tails =
                    tails.map(|(first, _, cell)| IntervalTail::new(&cell, self.interval * first));
                let rates = longer(cells, RATE_REQUESTS).map(|(first, count, cell)| {
                    IntervalRate::new(&cell, interval * first, length(first, count))
                });
                let (tails, rates) = (tails.collect(), rates.collect());
                let cells = (0..count).map(|index| (index as u64, cells.get(index)));
                tracks.push(Track {
                    job: names.get(job).cloned().unwrap_or_default(),
                    direction: direction.name(),
                    intervals: cells
                        .map(|(index, cell)| {
                            Interval::new(cell.unwrap_or(&nothing), length(index, 1))
                        })
                        .collect(),
                    tails,
                    rates,
                });
            }
        }
        TimeSeries {
            interval_us: self.interval.as_ps() as f64 / 1e6,
            tracks,
            device,
        }
    }
}

/// Intervals so long that there are that many requests in one of them, mostly: first cell, count of cells, their sum.
fn longer(cells: &[Cell], requests: u64) -> impl Iterator<Item = (u64, u64, Cell)> {
    let all: u64 = cells.iter().map(|cell| cell.requests).sum();
    let wanted = ((all / requests) as usize).max(INTERVALS_MIN);
    let each = cells.len().div_ceil(wanted).max(1);
    cells.chunks(each).enumerate().map(move |(index, run)| {
        let sum = run.iter().fold(Cell::default(), |mut sum, cell| {
            sum.merge(cell);
            sum
        });
        ((index * each) as u64, run.len() as u64, sum)
    })
}

/// A run over time.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TimeSeries {
    /// Length of an interval; a multiple of what was asked for in a long run.
    pub interval_us: f64,
    /// Each direction of each job that had requests.
    pub tracks: Vec<Track>,
    /// The device in each interval.
    pub device: Vec<DeviceInterval>,
}

/// One direction of one job over time.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Track {
    /// The job's name.
    pub job: String,
    /// `read`, `write`, `trim` or `sync`.
    pub direction: &'static str,
    /// The intervals from the run's start.
    pub intervals: Vec<Interval>,
    /// Latencies in fewer, longer intervals, of those with requests: for pages.
    #[serde(skip)]
    pub tails: Vec<IntervalTail>,
    /// Rates in fewer, longer intervals: for pages.
    #[serde(skip)]
    pub rates: Vec<IntervalRate>,
}

/// Requests that completed in one of the longer intervals.
#[derive(Clone, Copy, Debug)]
pub struct IntervalRate {
    /// When it began.
    pub start_us: f64,
    /// How long it was.
    pub length_us: f64,
    /// Requests a simulated second.
    pub iops: f64,
    /// Bytes a simulated second.
    pub bandwidth_mib_s: f64,
}

impl IntervalRate {
    fn new(cell: &Cell, start: Duration, length: Duration) -> IntervalRate {
        let interval = Interval::new(cell, length);
        IntervalRate {
            start_us: start.as_ps() as f64 / 1e6,
            length_us: length.as_ps() as f64 / 1e6,
            iops: interval.iops,
            bandwidth_mib_s: interval.bandwidth_mib_s,
        }
    }
}

/// Latencies of the requests that completed in one of the longer intervals.
#[derive(Clone, Copy, Debug)]
pub struct IntervalTail {
    /// When it began.
    pub start_us: f64,
    /// Half took at most this long, within 1.6 %.
    pub p50_us: f64,
    /// 99 % took at most this long, within 1.6 %.
    pub p99_us: f64,
    /// The longest.
    pub max_us: f64,
}

impl IntervalTail {
    fn new(cell: &Cell, start: Duration) -> IntervalTail {
        let us = |ps: u64| ps as f64 / 1e6;
        IntervalTail {
            start_us: us(start.as_ps()),
            p50_us: us(cell.percentile_ps(50)),
            p99_us: us(cell.p99_ps()),
            max_us: us(cell.max_ps),
        }
    }
}

/// Requests that completed in one interval.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Interval {
    /// How many.
    pub requests: u64,
    /// Requests a simulated second.
    pub iops: f64,
    /// Bytes a simulated second.
    pub bandwidth_mib_s: f64,
    /// Mean latency; `None` without requests, as the next two.
    pub mean_us: Option<f64>,
    /// 99 % took at most this long, within 1.6 %.
    pub p99_us: Option<f64>,
    /// The longest.
    pub max_us: Option<f64>,
}

impl Interval {
    fn new(cell: &Cell, interval: Duration) -> Interval {
        let seconds = interval.as_secs_f64();
        let us = |ps: f64| (cell.requests > 0).then_some(ps / 1e6);
        Interval {
            requests: cell.requests,
            iops: cell.requests as f64 / seconds,
            bandwidth_mib_s: cell.bytes as f64 / f64::from(1 << 20) / seconds,
            mean_us: us((cell.sum_ps / u128::from(cell.requests.max(1))) as f64),
            p99_us: us(cell.p99_ps() as f64),
            max_us: us(cell.max_ps as f64),
        }
    }
}

/// What the device did in one interval.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct DeviceInterval {
    /// When it began.
    pub start_us: f64,
    /// How long it was: the last is as long as the run.
    pub length_us: f64,
    /// Pages moved by garbage collection.
    pub gc_pages_moved: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Wordlines programmed.
    pub programs: u64,
    /// Bytes programmed for each byte that the host wrote; `None` where there was none of these.
    pub write_amplification: Option<f64>,
    /// Share of the time that buses were held, over all channels.
    pub channel_busy_percent: f64,
    /// Share of the time that dies were busy, over all dies.
    pub die_busy_percent: f64,
}

impl DeviceInterval {
    fn new(start: Duration, length: Duration, before: &Stats, end: &Stats) -> DeviceInterval {
        let grown = end.since(before);
        let time_ps = u128::from(grown.now_ps);
        let busy = |busy_ps: u64, of: u64| percent_of(busy_ps, time_ps * u128::from(of));
        DeviceInterval {
            start_us: start.as_ps() as f64 / 1e6,
            length_us: length.as_ps() as f64 / 1e6,
            gc_pages_moved: grown.gc_pages_moved,
            erases: grown.erases,
            programs: grown.programs,
            write_amplification: grown.write_amplification(),
            channel_busy_percent: busy(grown.channel_busy_ps, grown.channels),
            die_busy_percent: busy(grown.die_busy_ps, grown.dies),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(completed_us: u64, latency_us: u64) -> Ended {
        let arrived = Instant::START + Duration::from_us(completed_us - latency_us);
        Ended {
            arrived,
            begun: arrived,
            submitted: arrived,
            completed: Instant::START + Duration::from_us(completed_us),
            bytes: 4096,
            direction: Direction::Read,
            failed: false,
        }
    }

    fn stats(now_us: u64, gc_pages_moved: u64) -> Stats {
        Stats {
            now_ps: now_us * 1_000_000,
            gc_pages_moved,
            ..Stats::default()
        }
    }

    #[test]
    fn requests_fall_into_the_interval_in_which_they_complete() {
        let mut series = Series::new(Duration::from_ms(1), 1);
        for n in 0..100 {
            series.record(0, &ended(500, 100 + n));
        }
        series.record(0, &ended(2100, 50));
        series.sample(&stats(1000, 5));
        series.sample(&stats(2000, 5));
        let result = series.result(&["j".to_owned()], &stats(2100, 9));
        let intervals = &result.tracks[0].intervals;
        assert_eq!(intervals.len(), 3);
        assert_eq!(intervals[0].iops, 100_000.0);
        assert_eq!(intervals[0].mean_us, Some(149.5));
        assert_eq!(intervals[0].max_us, Some(199.0));
        let p99 = intervals[0].p99_us.unwrap();
        assert!((p99 / 198.0 - 1.0).abs() < 0.016, "{p99}");
        assert_eq!((intervals[1].requests, intervals[1].mean_us), (0, None));
        // The last was 100 us.
        assert_eq!((intervals[2].requests, intervals[2].iops), (1, 10_000.0));
        let moved: Vec<u64> = result.device.iter().map(|d| d.gc_pages_moved).collect();
        assert_eq!(moved, [5, 0, 4]);
    }

    #[test]
    fn a_long_run_has_longer_intervals_and_loses_nothing() {
        let mut series = Series::new(Duration::from_us(1), 1);
        for us in 1..=100_000 {
            series.record(0, &ended(us, 1));
            series.sample(&stats(us, us));
        }
        let result = series.result(&["j".to_owned()], &stats(100_000, 100_000));
        assert_eq!(result.interval_us, 128.0);
        assert!(result.device.len() <= INTERVALS_MAX);
        let requests: u64 = result.tracks[0].intervals.iter().map(|i| i.requests).sum();
        let moved: u64 = result.device.iter().map(|d| d.gc_pages_moved).sum();
        assert_eq!((requests, moved), (100_000, 100_000));
    }

    #[test]
    fn buckets_hold_their_values() {
        for ps in [
            0,
            1,
            63,
            64,
            127,
            128,
            129,
            1_000_003,
            u64::MAX / 3,
            u64::MAX,
        ] {
            let (_, end) = bucket_values::<BUCKET_BITS>(bucket::<BUCKET_BITS>(ps));
            assert!(end >= ps && end as f64 <= ps as f64 * 1.016, "{ps} {end}");
        }
    }
}
