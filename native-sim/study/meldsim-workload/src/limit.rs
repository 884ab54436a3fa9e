//! What kept a run from being faster, and where the number behind that comes from.
//!
//! Of what serves one thing after the other, that which was busy longest is the limit, if it was hardly ever idle and somebody
//! waited for it: what writes leave in the buffer keeps dies busy, and holds nobody back before the buffer is full. Where
//! nothing was, writes may have waited for the write buffer, which bursts fill and reads keep full: they suspend programs, and a
//! suspended program keeps no die busy. Else requests were too few: by the queue depth, or by when they arrived.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::job::Job;
use meldsim::policy::pacing::PacingPolicy;
use meldsim::profile::{Flush, HostPath, Kind, MapKind, Profile, Source, Sources};
use meldsim::{Duration, Stats};
use meldsim_stats::count;

/// Busy for this share of the time, a part of the device has no room for more, %.
pub const FULL_PERCENT: f64 = 85.0;
/// What writes wait for the write buffer is most of their time from this share on, %, and flushes of a run's.
const MOST_PERCENT: f64 = 50.0;
/// Below that share of their time writes do not wait for the write buffer, %.
const HARDLY_PERCENT: f64 = 10.0;
/// Without a host a run is worth a note where one would cost this share of its requests a second.
const WORTH_A_NOTE: f64 = 0.2;
/// Lanes of a link of four carry so many GB/s at most, by generation of PCI Express: 128 of 130 bits are data.
const PCIE_X4: [(&str, f64); 2] = [("4.0", 7.88), ("5.0", 15.75)];

/// What decides when requests are made, other than that one before them has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Nothing: as many are outstanding as may be.
    Closed,
    /// A job's `rate`, or its pauses.
    Rate,
    /// The times of a trace.
    Trace,
}

/// The load of a run, as far as it may be the limit.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// What decides when requests are made.
    pub arrivals: Arrivals,
    /// Submitting threads.
    pub threads: u32,
    /// Commands that may be outstanding.
    pub depth: u64,
    /// Flushes that may be.
    pub flushes: u64,
}

impl Load {
    pub(super) fn of_jobs(jobs: &[Job]) -> Load {
        let (mut depth, mut together) = (0, 0);
        for job in jobs {
            together *= u64::from(!job.stonewall);
            together += u64::from(job.numjobs) * u64::from(job.iodepth);
            depth = depth.max(together);
        }
        let threads = jobs.iter().map(|job| job.numjobs).sum();
        Load {
            arrivals: match jobs.iter().any(Job::has_times) {
                true => Arrivals::Rate,
                false => Arrivals::Closed,
            },
            threads,
            depth,
            flushes: threads.into(),
        }
    }
}

/// What limited a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// `link`, `bus`, `dies`, `host path`, `firmware`, `command fetch`, `zone writes`, `data path`, `throttle`, `flush`,
    /// `write buffer`, `suspended programs`, `rate`, `trace`, `iodepth`, or `latency`: that of one command at a time.
    pub what: &'static str,
    /// The key of the profile that decides, with its value and where that comes from; none of the last four.
    pub key: Option<(&'static str, String, Source)>,
    /// Share of the run that it was busy; of a flush that its programs take; of the write buffer and of suspended programs the share
    /// of their time that writes waited for the buffer; none of the last four.
    pub busy_percent: Option<f64>,
    /// The dies were busy, with what writes had left in the buffer.
    pub is_buffered: bool,
    /// Requests a second, and about how many they would be through `io_uring`; where no host is modelled, and that is much less.
    pub without_host: Option<[f64; 2]>,
    /// What the run moved is more than four lanes of this generation of PCI Express carry, in GB/s, and the profile has no
    /// link that limits it.
    pub beyond_pcie: Option<(&'static str, f64)>,
    /// Writes waited for collection, which frees whole blocks: the profile has `gc.pacing = "off"`.
    pub waits_for_blocks: bool,
}

impl Limit {
    /// That of a run with these counts, on the device of a profile whose numbers have these sources.
    pub fn of(stats: &Stats, load: Load, profile: &Profile, sources: &Sources) -> Limit {
        let time_ps = stats.now_ps.max(1) as f64;
        let second_ps = 1e12;
        let commands = (stats.read_commands + stats.write_commands) as f64;
        let host = &profile.host;
        let submit = host.path_times().submit;
        let firmware_ps = stats.firmware_busy_ps().iter().sum::<u64>() as f64;
        let per = |busy_ps: f64, units: u64| busy_ps / units.max(1) as f64;
        let source = |key| sources.get(key);

        let link_ps = stats.link_to_host_busy_ps.max(stats.link_to_device_busy_ps);
        let link = ("host.link_rate", host.link_rate.to_string());
        let mut parts = vec![
            ("link", link, link_ps as f64),
            (
                "host path",
                ("host.path_submit_time", submit.to_string()),
                per(commands * submit.as_ps() as f64, load.threads.into()),
            ),
            (
                "command fetch",
                ("host.command_cost", host.command_cost.to_string()),
                commands * host.command_cost.as_ps() as f64,
            ),
            (
                "zone writes",
                ("zones.write_time", profile.zones.write_time.to_string()),
                stats.zone_unit_busy_ps as f64,
            ),
            (
                "firmware",
                ("firmware.cores", profile.firmware.cores.to_string()),
                per(firmware_ps, stats.firmware_cores),
            ),
        ];
        let dies_ps = per(stats.die_busy_ps as f64, stats.dies);
        let dies;
        let mut flushes_ps = 0.0;
        match profile.kind {
            Kind::Nand => {
                parts.push((
                    "bus",
                    ("bus.rate", profile.bus.rate.to_string()),
                    per(stats.channel_busy_ps as f64, stats.channels),
                ));
                let timing = &profile.timing;
                let slowest = timing.read.iter().copied().max().unwrap_or_default();
                let melded = timing.melded_read.unwrap_or_default();
                let ps = |count: u64, time: Duration| count as f64 * time.as_ps() as f64;
                let of_map = stats.map_pages_read.min(stats.page_reads);
                // Of what has not ended there are the commands.
                let reads_ps = ps(stats.page_reads - of_map, slowest) + stats.read_commands as f64;
                let writes_ps = ps(stats.programs, timing.program) + stats.write_commands as f64;
                let kinds = [
                    (
                        "ftl.map_cache",
                        profile.ftl.map_cache.to_string(),
                        ps(of_map, slowest),
                    ),
                    ("timing.read", format!("up to {slowest}"), reads_ps),
                    (
                        "timing.melded_read",
                        melded.to_string(),
                        ps(stats.melded_reads, melded),
                    ),
                    ("timing.program", timing.program.to_string(), writes_ps),
                ];
                let most = kinds.into_iter().max_by(|a, b| a.2.total_cmp(&b.2));
                dies = most.map_or(("", String::new()), |(key, value, _)| (key, value));
                if profile.controller.flush == Flush::Program && !profile.has_zones() {
                    flushes_ps = per(ps(stats.flush_commands, timing.program), load.flushes);
                }
                // A device that collects nothing holds nobody back.
                if profile.gc.pacing == PacingPolicy::named("throttle") && stats.gc_collections > 0
                {
                    let iops = profile.gc.throttle_iops;
                    let units = stats.host_written_bytes as f64 / f64::from(4 << 10);
                    parts.push((
                        "throttle",
                        ("gc.throttle_iops", iops.to_string()),
                        units * second_ps / f64::from(iops.max(1)),
                    ));
                }
            }
            Kind::Xpoint => {
                let xpoint = &profile.xpoint;
                let [read_ps, write_ps] = [
                    (stats.host_read_bytes, xpoint.read_rate),
                    (stats.host_written_bytes, xpoint.write_rate),
                ]
                .map(|(bytes, rate)| bytes as f64 * second_ps / rate.0 as f64);
                let (key, rate) = match read_ps > write_ps {
                    true => ("xpoint.read_rate", xpoint.read_rate),
                    false => ("xpoint.write_rate", xpoint.write_rate),
                };
                parts.push(("data path", (key, rate.to_string()), read_ps + write_ps));
                dies = ("xpoint.read_interval", xpoint.read_interval.to_string());
            }
        }
        let share = |busy_ps: f64| 100.0 * (busy_ps / time_ps).min(1.0);
        let full = |(_, _, busy_ps): &(_, _, f64)| share(*busy_ps) >= FULL_PERCENT;
        // With a cached mapping writes wait for that as well.
        let waited_ps = stats.buffer_wait_ps.min(stats.write_latency_ps) as f64;
        let waited = 100.0 * waited_ps / stats.write_latency_ps.max(1) as f64;
        let reads = stats.read_commands + stats.merge_pages_read + stats.map_pages_read;
        let waits = reads + stats.flush_commands > 0 || waited >= HARDLY_PERCENT;
        let is_buffered = !waits && profile.kind == Kind::Nand && profile.controller.write_cache;
        if is_buffered {
            parts.retain(|(what, ..)| *what != "bus");
        }
        let busiest = parts.into_iter().max_by(|a, b| a.2.total_cmp(&b.2));
        // A die is busy as well while its data waits for the bus.
        let busiest = busiest
            .filter(full)
            .or(Some(("dies", dies, dies_ps)).filter(|dies| !is_buffered && full(dies)))
            .map(|(what, key, busy_ps)| (what, key, share(busy_ps)));
        let of_buffer = waited >= MOST_PERCENT && profile.ftl.map == MapKind::Table;
        let buffer = (
            "controller.write_buffer",
            profile.controller.write_buffer.to_string(),
        );
        // Reads may keep it full: what suspending costs is then more than what is programmed.
        let (suspends, program) = (&profile.commands, profile.timing.program);
        let costs_ps = (suspends.suspend_time + suspends.resume_time).as_ps() as f64;
        let of_reads = stats.program_suspends as f64 * costs_ps
            > stats.programs as f64 * program.as_ps() as f64;
        let resume = ("commands.resume_time", suspends.resume_time.to_string());
        let of_buffer = of_buffer.then_some(match of_reads {
            true => ("suspended programs", resume, waited),
            false => ("write buffer", buffer, waited),
        });
        let flush = ("controller.flush", profile.controller.flush.to_string());
        let of_flush = share(flushes_ps) >= MOST_PERCENT;
        let busiest = busiest
            .or(of_flush.then(|| ("flush", flush, share(flushes_ps))))
            .or(of_buffer);
        let moved = stats.host_read_bytes.max(stats.host_written_bytes);
        let gb_s = moved as f64 * 1e3 / time_ps;
        let is_free = host.link_rate.0 == 0;
        let beyond = PCIE_X4.into_iter().rfind(|(_, most)| gb_s > *most);
        let beyond_pcie = beyond.map(|(name, _)| (name, gb_s)).filter(|_| is_free);
        // At a depth that does not saturate the device each command takes the host's times longer.
        let times = HostPath::IoUring.times();
        let host_s = (times.submit + times.completion).as_secs_f64();
        let rate = (commands + stats.flush_commands as f64) * second_ps / time_ps;
        let most = f64::from(load.threads) / times.submit.as_secs_f64();
        let longer = 1.0 + rate * host_s / load.depth.max(1) as f64;
        let through = most.min(rate / if busiest.is_none() { longer } else { 1.0 });
        let is_closed = load.arrivals == Arrivals::Closed && host.path == HostPath::None;
        let without_host =
            Some([rate, through]).filter(|_| is_closed && through < (1.0 - WORTH_A_NOTE) * rate);
        let waits_for_blocks = profile.kind == Kind::Nand
            && profile.gc.pacing == PacingPolicy::named("off")
            && stats.gc_collections > 0
            && stats.buffer_wait_ps > 0;
        let Some((what, (key, value), percent)) = busiest else {
            return Limit {
                what: match load.arrivals {
                    Arrivals::Closed if load.depth == 1 => "latency",
                    Arrivals::Closed => "iodepth",
                    Arrivals::Rate => "rate",
                    Arrivals::Trace => "trace",
                },
                key: None,
                busy_percent: None,
                is_buffered: is_buffered && share(dies_ps) >= FULL_PERCENT,
                without_host,
                beyond_pcie,
                waits_for_blocks,
            };
        };
        // What the profile leaves out is that of the software.
        let source = match (what, host.path) {
            ("host path", HostPath::IoUring | HostPath::Libaio)
                if host.path_submit_time.is_none() =>
            {
                Source::Published
            }
            _ => source(key),
        };
        Limit {
            what,
            key: Some((key, value, source)),
            busy_percent: Some(percent),
            is_buffered: false,
            without_host,
            beyond_pcie,
            waits_for_blocks,
        }
    }

    /// Whether the result is as good as a number that nobody measured.
    pub fn is_assumed(&self) -> bool {
        self.key
            .as_ref()
            .is_some_and(|(_, _, source)| *source == Source::Assumed)
    }

    /// Lines for people.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("limit: {self}\n");
        if let Some([rate, through]) = self.without_host {
            text += &format!(
                "note: no host is modelled; through io_uring these {} requests a second would be about {}; set host.path\n",
                count(rate),
                count(through)
            );
        }
        if let Some((generation, gb_s)) = self.beyond_pcie {
            text += &format!(
                "note: {gb_s:.1} GB/s is more than PCIe {generation} x4 carries, and nothing limits the link; set host.link_rate\n"
            );
        }
        if self.waits_for_blocks {
            text += "note: writes stand still while whole blocks are collected, as gc.pacing \"off\" of the profile says; with \"credit\" both take turns\n";
        }
        text
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.what {
            "latency" => "latency of one command at a time",
            what => what,
        })?;
        if let (Some((key, value, source)), Some(busy)) = (&self.key, self.busy_percent) {
            write!(f, " ({key} {value}, {source}), ")?;
            return match self.what {
                "write buffer" => write!(
                    f,
                    "for which writes waited {busy:.1} % of their time; a larger one takes a longer burst, fewer reads let it empty faster"
                ),
                "suspended programs" => write!(
                    f,
                    "for which writes waited {busy:.1} % of their time: reads suspend them, and each time costs this; fewer reads let the write buffer empty faster"
                ),
                "flush" => write!(f, "whose programs take {busy:.1} % of the time"),
                _ => write!(f, "{busy:.1} % busy"),
            };
        }
        let comes = match self.what {
            "rate" | "trace" => "requests come no faster; ",
            _ => "",
        };
        let why = match self.is_buffered {
            true => "writes hardly wait for the busy dies",
            false => "no part of the device is saturated",
        };
        write!(f, " ({comes}{why})")
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("what", self.what)?;
        if let Some((key, value, source)) = &self.key {
            map.serialize_entry("key", key)?;
            map.serialize_entry("value", value)?;
            map.serialize_entry("source", source.name())?;
        }
        if let Some(busy) = self.busy_percent {
            map.serialize_entry("busy_percent", &busy)?;
        }
        if let Some([_, through]) = self.without_host {
            map.serialize_entry("io_uring_iops", &through)?;
        }
        if let Some((generation, _)) = self.beyond_pcie {
            map.serialize_entry("beyond_pcie_x4", generation)?;
        }
        if self.waits_for_blocks {
            map.serialize_entry("waits_for_blocks", &true)?;
        }
        map.end()
    }
}
