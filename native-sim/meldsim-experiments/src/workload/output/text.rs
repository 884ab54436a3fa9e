//! A result as tables for people.

use super::super::result::{DeviceResult, DirectionResult, JobResult, RunResult};
use crate::report::{Align, Table, bytes, count, duration, percent, rate_mib_s};
use meldsim::engine::Time;

impl RunResult {
    /// The run as text.
    pub fn to_text(&self) -> String {
        let mut text = self.table().to_string();
        for job in &self.jobs {
            let failed: u64 = job
                .directions()
                .map(|(_, direction)| direction.failed)
                .sum();
            if failed > 0 {
                text += &format!(
                    "{}: {failed} requests failed: the device is full\n",
                    job.name
                );
            }
        }
        if let Some(trace) = self.trace {
            text += &trace.to_text();
        }
        text + &self.device.to_text()
    }

    /// One row for each direction of each job.
    pub(super) fn table(&self) -> Table {
        let columns = [
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
        ];
        let mut table = Table::new(columns);
        for job in &self.jobs {
            for (op, direction) in job.directions() {
                table.row(direction.cells(job, op));
            }
        }
        table
    }
}

impl DirectionResult {
    fn cells(&self, job: &JobResult, op: &str) -> Vec<String> {
        let succeeded = self.requests - self.failed;
        let mut cells = vec![
            job.name.clone(),
            op.to_owned(),
            match succeeded {
                0 => "-".to_owned(),
                succeeded => bytes(self.bytes / succeeded),
            },
            job.iodepth.to_string(),
            self.requests.to_string(),
            self.bandwidth_mib_s.map_or("-".to_owned(), rate_mib_s),
            self.iops.map_or("-".to_owned(), count),
        ];
        if let Some(l) = &self.latency {
            let figures = [
                l.min_us, l.mean_us, l.p50_us, l.p99_us, l.p99_9_us, l.max_us,
            ];
            cells.extend(figures.map(|us| format!("{us:.1}")));
        }
        cells
    }
}

impl DeviceResult {
    /// Two lines on what the device was busy with.
    pub(super) fn to_text(&self) -> String {
        let s = &self.stats;
        let (now, channels, dies) = (s.now_ps as f64, s.channels as f64, s.dies as f64);
        let pages = s.page_reads + s.melded_pages_read;
        format!(
            "device: {} simulated; channels {} busy, dies {} busy; {} of {} pages read came from {} melded reads\n\
             flash: {} wordlines programmed ({} melded, {} pages of padding), {} blocks erased, {} pages moved by garbage collection\n",
            duration(Time::from_ps(s.now_ps)),
            percent(s.channel_busy_ps as f64, now * channels),
            percent(s.die_busy_ps as f64, now * dies),
            percent(s.melded_pages_read as f64, pages as f64),
            pages,
            s.melded_reads,
            s.programs,
            s.melded_wordlines_programmed,
            s.padded_pages,
            s.erases,
            s.gc_pages_moved,
        )
    }
}
