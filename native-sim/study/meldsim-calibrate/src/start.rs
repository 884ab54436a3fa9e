//! Where the search begins: what is looked for in these cells, and values reckoned from them.
//!
//! - a die: percentiles of reads at depth 1, less the host's path and the transfer
//! - programming: bytes of a wordline of every plane over the rate of a sequential fill
//! - spare flash: the write amplification of uniform writes, by the closed form of Desnoyers (SYSTOR'12)
//! - the channel: what larger reads take longer at depth 1

use meldsim::profile::{HostPath, Profile};

use super::parameter::{Key, planes, wordline_bytes};
use super::quantile::quantile;
use super::request::Request;
use meldsim_measured::{Row, Table, of_key, reached_by, rows};

const READS: &str = "read_latency_by_depth.csv";
const RATES: &str = "latency_by_offered_rate.csv";
const MIXED: &str = "mixed_read_write.csv";
const STEADY: &str = "steady_random_writes.csv";
const FILL: &str = "waf_by_fill.csv";
const FILLED: &str = "sequential_write.csv";
const WRITES: &str = "write_latency_by_depth.csv";
const ZONES: &str = "zone_overwrite.csv";
const PASSES: &str = "waf_permutation_profile.csv";

/// Parameters and their first values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Start(pub(super) Vec<(Key, f64)>);

impl Start {
    pub(super) fn of(request: &Request, tables: &[Table], base: &Profile) -> Result<Start, String> {
        let cells = Cells { request, tables };
        let mut start = vec![(Key::Dies, f64::from(base.geometry.dies_per_channel))];
        start.extend(cells.reads(base)?);
        start.extend(cells.bus_rate()?.map(|value| (Key::BusRate, value)));
        start.extend(cells.ceilings()?);
        if cells.has(RATES) || cells.has(WRITES) {
            start.push((Key::Latency, cells.latency()?));
        }
        let rate = cells.fill_rate()?;
        if let Some(rate) = rate {
            start.push((Key::Program, program_us(base, rate)));
        }
        if let Some(spare) = cells.spare(rate)? {
            start.push((Key::Spare, spare));
        }
        if cells.has(ZONES) {
            start.push((Key::Superblock, 1_024.0));
        }
        if cells.has(RATES) || cells.has(MIXED) {
            start.push((Key::Phase, cells.phase()?));
            start.push((Key::Resume, 100.0));
            start.push((Key::ReadsFirst, 2.0));
        }
        if cells.of(RATES).len() >= 3 {
            start.push((Key::Burst, 0.0));
        }
        start.retain(|(key, _)| !request.gives(*key));
        for (key, value) in &mut start {
            let (least, most) = key.range();
            *value = value.clamp(least, most);
        }
        start.sort_by_key(|(key, _)| *key);
        Ok(Start(start))
    }
}

impl Start {
    /// Leaves out what a drive does not show whose firmware holds its writes.
    pub(super) fn hold(&mut self) {
        let shown = |key: Key| !matches!(key, Key::Spare | Key::Burst | Key::Superblock);
        self.0.retain(|(key, _)| shown(*key));
    }
}

/// Time of a program with which wordlines of every plane make that rate of bytes.
pub(super) fn program_us(profile: &Profile, bytes_per_s: f64) -> f64 {
    planes(profile) * wordline_bytes(profile) / bytes_per_s * 1e6 - transfer_us(profile)
}

/// What a wordline takes on the channel before it is programmed.
pub(super) fn transfer_us(profile: &Profile) -> f64 {
    let width = f64::from(profile.bus.width_bits) / 8.0;
    wordline_bytes(profile) / (profile.bus.rate.0 as f64 * width)
}

/// Flash over what is written uniformly, by write amplification, where collection takes the emptiest of many blocks.
fn flash_over_written(write_amplification: f64) -> f64 {
    let valid = 1.0 - 1.0 / write_amplification;
    -libm::log(valid) / (1.0 - valid)
}

struct Cells<'a> {
    request: &'a Request,
    tables: &'a [Table],
}

impl<'a> Cells<'a> {
    fn of(&self, file: &str) -> &'a [Row] {
        rows(self.tables, file)
    }

    fn has(&self, file: &str) -> bool {
        !self.of(file).is_empty()
    }

    /// Values of a column in the rows that `takes` takes.
    fn values(
        &self,
        file: &str,
        column: &str,
        takes: impl Fn(&Row) -> Result<bool, String>,
    ) -> Result<Vec<f64>, String> {
        let mut values = Vec::new();
        for row in self.of(file) {
            if takes(row)? {
                values.extend(row.measured(column)?);
            }
        }
        Ok(values)
    }

    /// The rows of writes at the lowest rate.
    fn lowest_rate(&self) -> Result<Option<&'a Row>, String> {
        let mut lowest: Option<(f64, &Row)> = None;
        for row in self.of(RATES) {
            let rate = row.number("offered_total_iops")?;
            if lowest.is_none_or(|(known, _)| rate < known) {
                lowest = Some((rate, row));
            }
        }
        Ok(lowest.map(|(_, row)| row))
    }

    /// Pages of a wordline, by percentiles of reads that met nothing else.
    fn reads(&self, base: &Profile) -> Result<Vec<(Key, f64)>, String> {
        const TRANSFER_US: f64 = 4.0;
        let mut depth_1 = None;
        for row in self.of(READS) {
            let is_alone = row.count("threads")? * row.count("depth_per_thread")? == 1;
            if is_alone && row.count("block_bytes")? == 4_096 && depth_1.is_none() {
                depth_1 = Some(("", path_us(row)?, row));
            }
        }
        if depth_1.is_none() {
            let lowest = self.lowest_rate()?;
            depth_1 = lowest.map(|row| ("read_", path_of(HostPath::IoUring), row));
        }
        let pages = base.timing.read.len();
        let Some((prefix, path_us, row)) = depth_1 else {
            return Ok(Vec::new());
        };
        let percentile = |name: &str| row.measured(&format!("{prefix}{name}_us"));
        let Some(median) = percentile("p50")?.or(percentile("mean")?) else {
            return Ok(Vec::new());
        };
        let low = percentile("p10")?.unwrap_or(median);
        // Beside writes the upper percentiles have waits in them.
        let high = match prefix.is_empty() {
            true => percentile("p90")?.unwrap_or(median),
            false => median * 1.1,
        };
        let fixed = path_us + TRANSFER_US;
        let value = |page: usize| {
            let place = (page as f64 + 0.5) / pages as f64;
            let latency = match place {
                place if place < 0.4 => low,
                place if place > 0.6 => high,
                _ => median,
            };
            (Key::Read(page), latency - fixed)
        };
        Ok((0..pages).map(value).collect())
    }

    /// What larger reads take longer than small ones, alone.
    fn bus_rate(&self) -> Result<Option<f64>, String> {
        let mut alone: Vec<(f64, f64)> = Vec::new();
        for row in self.of(READS) {
            if row.count("threads")? * row.count("depth_per_thread")? == 1 {
                let block = row.count("block_bytes")? as f64;
                alone.extend(row.measured("mean_us")?.map(|mean| (block, mean)));
            }
        }
        alone.sort_by(|a, b| a.0.total_cmp(&b.0));
        // More than a page is of several dies.
        alone.retain(|(block, _)| *block <= 16_384.0);
        let ends = alone.first().zip(alone.last());
        let Some(((small, quick), (large, slow))) = ends else {
            return Ok(None);
        };
        Ok((large > small).then(|| (large - small) / (slow - quick).max(0.1)))
    }

    /// The link and the fetching of commands, where more depth gives no more.
    fn ceilings(&self) -> Result<Vec<(Key, f64)>, String> {
        let mut found = Vec::new();
        for (block, ceiling) in self.flat()? {
            let rate = ceiling * block / 1e9;
            match block <= 4_096.0 {
                true => found.push((Key::CommandCost, 1e6 / ceiling)),
                false => match found.iter_mut().find(|(key, _)| *key == Key::LinkRate) {
                    Some((_, known)) => *known = rate.max(*known),
                    None => found.push((Key::LinkRate, rate)),
                },
            }
        }
        Ok(found)
    }

    /// Sizes of reads whose rate at the two greatest depths is the same, with that rate.
    fn flat(&self) -> Result<Vec<(f64, f64)>, String> {
        const SAME: f64 = 0.06;
        let mut curves: Vec<(f64, Vec<(f64, f64)>)> = Vec::new();
        for row in self.of(READS) {
            let depth = row.number("threads")? * row.number("depth_per_thread")?;
            let block = row.number("block_bytes")?;
            let Some(iops) = row.measured("iops")? else {
                continue;
            };
            of_key(&mut curves, block).push((depth, iops));
        }
        let flat = curves.into_iter().filter_map(|(block, mut curve)| {
            curve.sort_by(|a, b| b.0.total_cmp(&a.0));
            let (deepest, before) = (
                *curve.first()?,
                *curve.iter().find(|(depth, _)| *depth <= curve[0].0 / 1.9)?,
            );
            (deepest.1 < before.1 * (1.0 + SAME)).then_some((block, deepest.1))
        });
        Ok(flat.collect())
    }

    /// What a write takes that goes to the buffer.
    fn latency(&self) -> Result<f64, String> {
        if let Some(row) = self.lowest_rate()? {
            if let Some(median) = row.measured("write_p50_us")? {
                return Ok((median - path_of(HostPath::IoUring)).max(0.5));
            }
        }
        for row in self.of(WRITES) {
            if row.count("block_bytes")? <= 4_096 {
                if let Some(mean) = row.measured("mean_us")? {
                    return Ok((mean - path_us(row)?).max(0.5));
                }
            }
        }
        Ok(3.0)
    }

    /// Bytes a second while nothing is collected.
    fn fill_rate(&self) -> Result<Option<f64>, String> {
        let all = |_: &Row| Ok(true);
        let filled = self.values(FILLED, "MBps_median", all)?;
        if let Some(rate) = median(filled) {
            return Ok(Some(rate * 1e6));
        }
        let first = self.values(STEADY, "iops_first_interval", all)?;
        if let Some(iops) = median(first) {
            return Ok(Some(iops * 4_096.0));
        }
        let deep = self.values(WRITES, "MBps", all)?;
        let most = deep.into_iter().reduce(f64::max);
        if let Some(rate) = most {
            return Ok(Some(rate * 1e6));
        }
        // Where collection is, three times what the host writes.
        let iops = self.values(STEADY, "iops_steady", all)?;
        Ok(median(iops).map(|iops| iops * 4_096.0 * 3.0))
    }

    fn spare(&self, fill_rate: Option<f64>) -> Result<Option<f64>, String> {
        /// A first interval or a fill is as much faster than what is programmed while collection reads.
        const READS_TOO: f64 = 1.1;
        let mut found = Vec::new();
        let uniform = |row: &&Row| row.text("pattern").map_or(true, |name| name == "uniform");
        let steady = self.of(STEADY).iter().filter(uniform);
        for row in steady.chain(self.of(FILL)) {
            let counted = row.measured("waf_counter")?;
            let counted = counted.map(|waf| waf / self.request.overhead);
            let implied = row.measured("iops_steady")?.zip(fill_rate);
            let implied = implied.map(|(iops, rate)| rate / (iops * 4_096.0) / READS_TOO);
            let Some(waf) = counted.or(implied) else {
                continue;
            };
            let written = row.number("file_bytes")?;
            let flash = flash_over_written(waf.clamp(1.02, 30.0)) * written;
            found.push(flash / self.request.capacity() as f64 - 1.0);
        }
        let passes = self.values(PASSES, "waf_mean", |row| Ok(row.number("n_passes")? > 1.0))?;
        if found.is_empty() && !passes.is_empty() {
            found.push(0.12);
        }
        Ok(median(found))
    }

    /// What a read waits for a program.
    fn phase(&self) -> Result<f64, String> {
        for row in self.lowest_rate()?.into_iter().chain(self.of(MIXED)) {
            let most = row.measured("read_p99_us")?;
            if let Some((most, median)) = most.zip(row.measured("read_p50_us")?) {
                return Ok((most - median).clamp(20.0, 500.0));
            }
        }
        Ok(100.0)
    }
}

fn median(values: Vec<f64>) -> Option<f64> {
    quantile(values, 0.5)
}

fn path_us(row: &Row) -> Result<f64, String> {
    Ok(path_of(reached_by(row)?))
}

fn path_of(path: HostPath) -> f64 {
    let times = path.times();
    (times.submit + times.completion).as_ps() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_amplification_gives_the_flash() {
        // Greedy collection of many blocks, from the closed form's authors and the files' notes: f = 0.85 has 3.5, 0.7 has 1.9.
        for (amplification, used) in [(3.51, 0.85), (1.87, 0.70)] {
            let over = flash_over_written(amplification);
            assert!((over * used - 1.0).abs() < 0.06, "{amplification}: {over}");
        }
    }
}
