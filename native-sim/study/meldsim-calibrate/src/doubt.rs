//! What the measured cells cannot be, and what they cannot tell: said in words, with what to measure next.

use super::finding::Finding;
use super::fio::IdleRead;
use super::request::Request;
use meldsim_measured::{Table, distinct, rows};

const READS: &str = "read_latency_by_depth.csv";
const STEADY: &str = "steady_random_writes.csv";

/// A read row as far as it matters here.
struct Read {
    line: u64,
    curve: String,
    block: f64,
    depth: f64,
    iops: Option<f64>,
    mean_us: Option<f64>,
}

/// What the cells cannot tell.
pub(super) struct Doubts {
    pub(super) findings: Vec<Finding>,
    /// Writes a second at which firmware holds them.
    pub(super) held_iops: Option<f64>,
}

/// Refuses cells that contradict themselves, and says what the others cannot tell.
pub(super) fn doubts(
    request: &Request,
    tables: &[Table],
    idle: &[IdleRead],
) -> Result<Doubts, String> {
    let mut reads = Vec::new();
    for row in rows(tables, READS) {
        reads.push(Read {
            line: row.line,
            curve: format!("{} {}", row.text("dataset")?, row.text("threads")?),
            block: row.number("block_bytes")?,
            depth: row.number("threads")? * row.number("depth_per_thread")?,
            iops: row.measured("iops")?,
            mean_us: row.measured("mean_us")?,
        });
    }
    for read in &reads {
        units(read)?;
    }
    sizes(request, tables)?;
    let mut findings = Vec::new();
    findings.extend(depth_1(&reads));
    findings.extend(host_limited(&reads));
    let held_iops = held_iops(tables)?;
    findings.extend(held_iops.map(throttled));
    findings.extend(unsteady(tables)?);
    findings.extend(sleeps(&reads, idle));
    Ok(Doubts {
        findings,
        held_iops,
    })
}

/// Requests outstanding are rate times latency (Little's law).
fn units(read: &Read) -> Result<(), String> {
    const FAR: f64 = 1.5;
    let Some((iops, mean_us)) = read.iops.zip(read.mean_us) else {
        return Ok(());
    };
    let outstanding = iops * mean_us / 1e6;
    let off = outstanding / read.depth;
    if off < FAR && off > 1.0 / FAR {
        return Ok(());
    }
    let guess = match off {
        off if (500.0..2_000.0).contains(&off) => {
            "the latency may be in nanoseconds, or the rate in requests a millisecond; write microseconds and requests a second"
        }
        off if (0.0005..0.002).contains(&off) => {
            "the latency may be in milliseconds, or the rate in thousands; write microseconds and requests a second"
        }
        _ => {
            "one of the columns is of something else; write all of one run, in microseconds and requests a second"
        }
    };
    Err(format!(
        "{READS}:{}: {iops:.0} requests a second of {mean_us:.1} us make a depth of {outstanding:.3}, but the row says {}; {guess}",
        read.line, read.depth
    ))
}

fn sizes(request: &Request, tables: &[Table]) -> Result<(), String> {
    let capacity = request.capacity() as f64;
    for row in rows(tables, STEADY) {
        let bytes = row.number("file_bytes")?;
        if bytes > 1.01 * capacity {
            return Err(row.wrong(
                "file_bytes",
                &format!("is {bytes} B, and the drive has {capacity} B"),
                "give the capacity in bytes as blockdev --getsize64 prints it",
            ));
        }
    }
    Ok(())
}

fn depth_1(reads: &[Read]) -> Option<Finding> {
    let deepest = reads.iter().map(|read| read.depth).fold(0.0, f64::max);
    if reads.is_empty() || deepest > 4.0 {
        return None;
    }
    Some(Finding::new(
        "depth-1",
        format!(
            "reads were measured at a depth of {deepest} at most: one die at a time works, so they do not tell the number of dies"
        ),
        "4 KiB random reads at depths 1, 2, 4 and on to 256, until the rate does not grow",
    ))
}

/// Dies that are asked at random collide long before all of them work: their curve bends early. What grows in proportion to the
/// depth and then stops at once is limited by something that is one: a thread of the host, or the link.
fn host_limited(reads: &[Read]) -> Option<Finding> {
    /// Of the ceiling, at the depth at which a straight line meets it. N dies give about half of it there.
    const STRAIGHT: f64 = 0.85;
    let curves = distinct(reads.iter().map(|read| (&read.curve, read.block)));
    let found = curves.into_iter().find_map(|(curve, block)| {
        let of_curve = reads
            .iter()
            .filter(|read| (&read.curve, read.block) == (curve, block));
        let points = of_curve.filter_map(|read| Some((read.depth, read.iops?)));
        let mut points: Vec<(f64, f64)> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (first, last) = (*points.first()?, *points.last()?);
        let ceiling = points.iter().map(|point| point.1).fold(0.0, f64::max);
        let knee = ceiling / (first.1 / first.0);
        let at_knee = points
            .iter()
            .filter(|(depth, _)| (0.7..1.45).contains(&(depth / knee)))
            .map(|point| point.1)
            .fold(0.0, f64::max);
        let goes_on = last.0 >= 2.0 * knee && knee >= 2.0;
        (goes_on && at_knee >= STRAIGHT * ceiling).then_some((block, ceiling))
    });
    let (block, ceiling) = found?;
    Some(Finding::new(
        "host-limited",
        format!(
            "reads of {} KiB grow with the depth as one server would and stop at {ceiling:.0} a second ({:.2} GB/s): the host or the link is the limit, not the dies",
            block / 1024.0,
            ceiling * block / 1e9
        ),
        "the same with a job on each core (numjobs), or without interrupts (SPDK, io_uring with hipri); then the dies show",
    ))
}

/// A rate that is the same in every interval is held by firmware.
fn held_iops(tables: &[Table]) -> Result<Option<f64>, String> {
    /// Spread of a rate over its mean that only a clock has: of what was measured free it is 0.002 and more.
    const HELD: f64 = 1e-4;
    for row in rows(tables, STEADY) {
        let spread = row.measured("cv_last_quarter")?;
        let rate = row.measured("iops_steady")?;
        if spread.is_some_and(|spread| spread < HELD) && rate.is_some() {
            return Ok(rate);
        }
    }
    Ok(None)
}

fn throttled(rate: f64) -> Finding {
    Finding::new(
        "throttled",
        format!(
            "steady writes are held at {rate:.0} a second, the same in every interval: firmware limits them, so they tell neither collection nor spare flash"
        ),
        "write amplification by the drive's counters (nvme ocp smart-add-log), or writes of a pattern that is slower than the limit",
    )
}

fn unsteady(tables: &[Table]) -> Result<Option<Finding>, String> {
    for row in rows(tables, STEADY) {
        if row.measured("steady")? == Some(0.0) {
            return Ok(Some(Finding::new(
                "not-steady",
                format!(
                    "{STEADY}:{}: the rate still changed when the run ended; the row is judged and nothing is fitted to it",
                    row.line
                ),
                "the same for longer: until three drive writes gave the same rate",
            )));
        }
    }
    Ok(None)
}

/// A drive or a core that sleeps shows in the first read after a pause.
fn sleeps(reads: &[Read], idle: &[IdleRead]) -> Option<Finding> {
    const LONGER: f64 = 1.3;
    let alone = reads.iter().find(|read| read.depth == 1.0)?;
    let mean_us = alone.mean_us?;
    let slow = idle.iter().filter(|idle| {
        idle.reads == 1 && idle.block_bytes as f64 == alone.block && idle.mean_us > LONGER * mean_us
    });
    let slowest = slow.max_by(|a, b| a.mean_us.total_cmp(&b.mean_us))?;
    Some(Finding::new(
        "sleeps",
        format!(
            "a read after {} s without any takes {:.0} us, and {mean_us:.0} us when one follows the other: the drive or the host sleeps, which is not modelled",
            slowest.pause_s, slowest.mean_us
        ),
        "the same with the host's C-states off (intel_idle.max_cstate=0) and the drive's power states off (nvme set-feature -f 0x0c)",
    ))
}
