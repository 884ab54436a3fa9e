//! Whether the data of jobs fit the device, before anything runs. Jobs with their namespaces come in; what does not fit is
//! refused.
//!
//! Namespaces are thin: what counts is what will be mapped, not how large they are. That is the region of a job that reads,
//! for it is preloaded, and what a job writes until it ends by itself. How much a job with a `runtime` will have written by
//! then is not known before: it counts for nothing, as long as its region alone is not larger than the device.

use std::collections::BTreeMap;

use super::distribution::Distribution;
use super::error::RunError;
use super::job::{Job, JobError};
use super::requests::map_bytes;
use meldsim::device::{Device, Precondition};
use meldsim::engine::available_memory;
use meldsim::nvme::NamespaceId;
use meldsim::profile::Kind;
use meldsim_stats::bytes;

/// Of a job with nothing outstanding: the pages of its tallies that it uses, and its state.
const JOB_BYTES: u64 = 128 << 10;
/// Of a request that is outstanding, in its job, its queue and the device.
const COMMAND_BYTES: u64 = 1 << 9;

/// Jobs by the namespace that they share, in the order of the jobs.
pub(super) type Sharing<'a> = BTreeMap<NamespaceId, Vec<&'a Job>>;

/// Refuses jobs whose data do not fit.
pub(super) fn check(device: &Device, jobs: &Sharing<'_>) -> Result<(), RunError> {
    for (&nsid, sharing) in jobs {
        let room = Room::of(device, nsid);
        for job in sharing {
            let asked = region_bytes(job);
            let what = format!("of {}", amount(asked));
            room.check(job, asked, &what, BEYOND)?;
        }
    }
    let remedy = "use smaller sizes, let jobs share data by filename, or use a larger profile";
    check_sum(device, jobs, remedy, |_, sharing| mapped_bytes(sharing))
}

/// Refuses jobs that take more memory than the process can have, before any is taken: their random maps, tallies and requests
/// outstanding, and the mapping of what they write at random.
pub(super) fn check_memory<'a>(
    device: &Device,
    jobs: impl Iterator<Item = (NamespaceId, &'a Job)>,
) -> Result<u64, RunError> {
    let (mut needed, mut written) = (0u64, BTreeMap::new());
    let mut last = "";
    for (nsid, job) in jobs {
        let own = map_bytes(job).saturating_add(JOB_BYTES + u64::from(job.iodepth) * COMMAND_BYTES);
        needed = needed.saturating_add(own);
        let random = job.rw.is_random() && job.rw.writes() && job.runtime.is_none();
        let bytes = if random {
            region_bytes(job).min(job.total_bytes())
        } else {
            0
        };
        let sum: &mut u64 = written.entry(nsid).or_default();
        *sum = sum.saturating_add(bytes);
        last = &job.name;
    }
    let written = written.iter().map(|(&nsid, &bytes)| {
        let of = device.namespace(nsid);
        bytes.min(of.map_or(0, |of| of.size_lbas * of.lba_bytes))
    });
    let written = written.fold(0, u64::saturating_add);
    needed = needed.saturating_add(device.memory_bytes(written));
    match available_memory() {
        Some(available) if needed > available => {
            let (needed, available) = (bytes(needed), bytes(available));
            let text = format!(
                "of about {needed} is needed, and this process can have {available}; use fewer jobs, a smaller size or zonerange, norandommap=1, or a higher limit (ulimit -v, the container's)"
            );
            Err(RunError::Room {
                job: last.to_owned(),
                error: JobError::new("memory", &text),
            })
        }
        _ => Ok(needed),
    }
}

/// Refuses a past that would leave more data than the device can hold.
pub(super) fn check_past(
    device: &Device,
    jobs: &Sharing<'_>,
    past: &Precondition,
) -> Result<(), RunError> {
    let remedy = "precondition with a lower fill, use smaller sizes, or use a larger profile";
    check_sum(device, jobs, remedy, |nsid, _| {
        let namespace = device.namespace(nsid);
        let bytes = namespace.map_or(0, |of| of.size_lbas * of.lba_bytes);
        (u128::from(bytes) * u128::from(past.fill_percent) / 100) as u64
    })
}

/// Refuses namespaces that together hold too much, so many bytes each.
fn check_sum(
    device: &Device,
    jobs: &Sharing<'_>,
    remedy: &str,
    held_bytes: impl Fn(NamespaceId, &[&Job]) -> u64,
) -> Result<(), RunError> {
    let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
    let mut beyond = None;
    for (&nsid, sharing) in jobs {
        let room = Room::of(device, nsid);
        let sum = sums.entry(room.set).or_default();
        *sum = sum.saturating_add(held_bytes(nsid, sharing));
        if *sum > room.bytes && beyond.is_none() {
            beyond = Some((room, sharing[0]));
        }
    }
    let Some((room, job)) = beyond else {
        return Ok(());
    };
    let sum = sums[&room.set];
    let what = format!("brings the data of all jobs to {}", amount(sum));
    room.check(job, sum, &what, remedy)
}

/// Devices are sold in powers of 1000.
const BEYOND: &str =
    "use a smaller size, 100% for all of it (units are powers of 1024), or a larger profile";

/// What an NVM set can hold.
struct Room {
    set: u32,
    bytes: u64,
    /// In words: the device, or one of its sets.
    holder: String,
}

impl Room {
    fn of(device: &Device, nsid: NamespaceId) -> Room {
        let set = device.set_of(nsid).unwrap_or(0);
        Room {
            set,
            // Memory that is mapped by address keeps nothing, and is never full.
            bytes: match device.profile().kind {
                // One that fits in zones was created.
                Kind::Nand if device.profile().zone_bytes().is_some() => u64::MAX,
                Kind::Nand => device.set_capacity_bytes(set),
                Kind::Xpoint => u64::MAX,
            },
            holder: match device.sets() {
                1 => "the device".to_owned(),
                _ => format!("NVM set {set}"),
            },
        }
    }

    fn check(&self, job: &Job, asked: u64, what: &str, remedy: &str) -> Result<(), RunError> {
        if asked <= self.bytes {
            return Ok(());
        }
        let (holder, bytes) = (&self.holder, amount(self.bytes));
        let text = format!("{what}, but {holder} can hold {bytes}; {remedy}");
        Err(RunError::Room {
            job: job.name.clone(),
            error: JobError::new("size", &text),
        })
    }
}

/// Bytes of a namespace that its jobs will have mapped for sure.
fn mapped_bytes(sharing: &[&Job]) -> u64 {
    let each = sharing.iter().map(|job| job_mapped_bytes(job));
    let all = each.fold(0, u64::saturating_add);
    let mapping = sharing.iter().filter(|job| job_mapped_bytes(job) > 0);
    let regions = mapping.map(|job| (job.offset_bytes, job.end_bytes()));
    let mut regions: Vec<(u64, u64)> = regions.collect();
    regions.sort_unstable();
    let (mut covered, mut from) = (0, 0);
    for (start, end) in regions {
        covered += end.saturating_sub(start.max(from));
        from = end.max(from);
    }
    covered.min(all)
}

/// Bytes of its region that a job will have mapped for sure.
fn job_mapped_bytes(job: &Job) -> u64 {
    let in_turn = !job.rw.is_random() || job.distribution == Distribution::Once;
    if job.rw.reads() {
        region_bytes(job)
    } else if !job.rw.writes() {
        0
    } else if job.runtime.is_none() && in_turn {
        region_bytes(job).min(job.total_bytes())
    } else {
        0
    }
}

/// Whether data that a job reads may be placed as late as it starts: the `earlier` jobs have written it, or leave room for it.
pub(super) fn is_later(
    device: &Device,
    jobs: &Sharing<'_>,
    earlier: &Sharing<'_>,
    (nsid, job): (NamespaceId, &Job),
) -> bool {
    let room = Room::of(device, nsid);
    let none = Vec::new();
    let mut writers = earlier.get(&nsid).unwrap_or(&none).clone();
    writers.retain(|job| !job.rw.reads());
    let written = mapped_bytes(&writers);
    writers.push(job);
    if room.bytes == u64::MAX || mapped_bytes(&writers) == written {
        return true;
    }
    let in_set = |(nsid, _): &(&NamespaceId, &Vec<&Job>)| device.set_of(**nsid) == Some(room.set);
    let mapped = jobs.iter().filter(in_set).map(|(_, of)| mapped_bytes(of));
    let unit = device.profile().mapping_unit().0;
    let stale = earlier.iter().filter(in_set).map(|(_, of)| {
        let written = of.iter().map(|job| most_written_bytes(job, unit));
        let first = match of.iter().any(|job| job.rw.reads()) {
            true => 0,
            false => mapped_bytes(of),
        };
        written.fold(0, u64::saturating_add).saturating_sub(first)
    });
    mapped.chain(stale).fold(0, u64::saturating_add) <= room.bytes
}

/// More than any link carries in a second.
const LINK_BYTES_PER_S: f64 = 64e9;

/// Bytes that a job programs at most; a random write of less than a mapping unit takes all of one.
fn most_written_bytes(job: &Job, unit: u64) -> u64 {
    let total = match job.time_based {
        true => u64::MAX,
        false => job.total_bytes(),
    };
    let runtime = job
        .runtime
        .map(|time| (time + job.ramp_time).as_secs_f64() * LINK_BYTES_PER_S);
    let bytes = runtime.map_or(total, |bytes| total.min(bytes as u64));
    let least = job.unit_bytes().max(1);
    let units = if job.rw.is_random() {
        unit.div_ceil(least)
    } else {
        1
    };
    if job.rw.writes() {
        bytes.saturating_mul(units)
    } else {
        0
    }
}

fn region_bytes(job: &Job) -> u64 {
    job.end_bytes() - job.offset_bytes
}

/// `9663676416000 B (8.79 TiB)`.
fn amount(of: u64) -> String {
    format!("{of} B ({})", bytes(of))
}
