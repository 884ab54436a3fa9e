//! A result as CSV (RFC 4180): one row for each direction of each job, or for each interval.

use super::super::result::RunResult;
use super::super::series::TimeSeries;

impl RunResult {
    /// One row for each direction of each job, under a header.
    pub fn to_csv(&self) -> String {
        let mut csv = "job,direction,requests,failed,bytes,duration_us,bandwidth_mib_s,iops,min_us,mean_us,deviation_us,\
                       p50_us,p90_us,p99_us,p99_9_us,p99_99_us,p99_999_us,max_us\n"
            .to_owned();
        for job in &self.jobs {
            for (name, direction) in job.directions() {
                let mut row = vec![
                    field(&job.name),
                    name.to_owned(),
                    direction.requests.to_string(),
                    direction.failed.to_string(),
                    direction.bytes.to_string(),
                    number(job.duration_us),
                    direction.bandwidth_mib_s.map_or(String::new(), number),
                    direction.iops.map_or(String::new(), number),
                ];
                if let Some(l) = &direction.latency {
                    let figures = [
                        l.min_us,
                        l.mean_us,
                        l.deviation_us,
                        l.p50_us,
                        l.p90_us,
                        l.p99_us,
                        l.p99_9_us,
                        l.p99_99_us,
                        l.p99_999_us,
                        l.max_us,
                    ];
                    row.extend(figures.map(number));
                }
                csv += &(row.join(",") + "\n");
            }
        }
        csv
    }
}

impl TimeSeries {
    /// One row for each interval of each direction of each job, under a header; the device's columns repeat.
    pub fn to_csv(&self) -> String {
        let mut csv = "start_us,interval_us,job,direction,requests,iops,bandwidth_mib_s,mean_us,p99_us,max_us,\
                       device_gc_pages_moved,device_blocks_erased,device_wordlines_programmed,\
                       device_channel_busy_percent,device_die_busy_percent\n"
            .to_owned();
        for (index, device) in self.device.iter().enumerate() {
            for track in &self.tracks {
                let interval = &track.intervals[index];
                let optional = |value: Option<f64>| value.map_or(String::new(), number);
                let row = [
                    number(device.start_us),
                    number(self.interval_us),
                    field(&track.job),
                    track.direction.to_owned(),
                    interval.requests.to_string(),
                    number(interval.iops),
                    number(interval.bandwidth_mib_s),
                    optional(interval.mean_us),
                    optional(interval.p99_us),
                    optional(interval.max_us),
                    device.gc_pages_moved.to_string(),
                    device.erases.to_string(),
                    device.programs.to_string(),
                    number(device.channel_busy_percent),
                    number(device.die_busy_percent),
                ];
                csv += &(row.join(",") + "\n");
            }
        }
        csv
    }
}

/// A number with up to six decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A text, quoted when it must be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_when_they_must_be() {
        assert_eq!(field("scan"), "scan");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(number(1.5), "1.5");
        assert_eq!(number(200.0), "200");
    }
}
