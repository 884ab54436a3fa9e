//! How a replay used its device: what the counters say of it.

use serde::Serialize;

use meldsim_workload::Group;
use meldsim_workload::RunResult;

const MIB: f64 = 1_048_576.0;

/// How a replay used the device. Every figure is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Use {
    /// Mean latency of what the replay is compared by: reads where requests arrive when they were recorded.
    pub mean_us: f64,
    /// Reads outstanding, in the mean over the time with any.
    pub depth: f64,
    /// Bytes of them.
    pub outstanding_bytes: f64,
    /// Bytes that the reader of one block had outstanding, in the mean over the time it had any.
    pub window_bytes: f64,
    /// Dies busy at a time, in the mean over the time with reads outstanding.
    pub dies_at_work: f64,
    /// Time of dies for each MiB read or written.
    pub die_us_per_mib: f64,
    /// Pages that one sensing gave.
    pub pages_per_sensing: f64,
    /// Share of the pages read that came from the write buffer.
    pub from_buffer_percent: f64,
}

impl Use {
    pub(super) fn new(run: &RunResult) -> Use {
        let stats = &run.device.run;
        let sum = |value: fn(&Group) -> u128| -> f64 {
            run.groups.iter().map(|group| value(group) as f64).sum()
        };
        let bytes = (stats.host_read_bytes + stats.host_written_bytes) as f64;
        let part = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let (read_active_ps, die_busy_ps) = (stats.read_active_ps as f64, stats.die_busy_ps as f64);
        let sensings = stats.page_reads + stats.melded_reads;
        let pages = stats.page_reads + stats.melded_pages_read;
        let buffered = stats.buffer_page_reads;
        Use {
            mean_us: 0.0,
            depth: part(stats.read_latency_ps as f64, read_active_ps),
            outstanding_bytes: part(sum(|group| group.outstanding_byte_ps), read_active_ps),
            window_bytes: part(
                sum(|group| group.outstanding_byte_ps),
                sum(|group| group.reader_ps),
            ),
            dies_at_work: part(die_busy_ps, read_active_ps),
            die_us_per_mib: part(die_busy_ps / 1e6, bytes / MIB),
            pages_per_sensing: part(pages as f64, sensings as f64),
            from_buffer_percent: 100.0 * part(buffered as f64, (buffered + pages) as f64),
        }
    }
}
