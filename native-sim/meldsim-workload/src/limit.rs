//! What kept a run from being faster, and where the number behind that comes from.
//!
//! Of what serves one thing after the other, that which was busy longest is the limit, if it was hardly ever idle. Where
//! nothing was, writes may have waited for the write buffer, which bursts fill and reads keep full: they suspend programs, and a
//! suspended program keeps no die busy. Else requests were too few: by the queue depth, or by when they arrived.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::job::Job;
use meldsim::Stats;
use meldsim::policy::pacing::PacingPolicy;
use meldsim::profile::{HostPath, Kind, MapKind, Profile, Source, Sources};

/// Busy for this share of the time, a part of the device has no room for more, %.
pub const FULL_PERCENT: f64 = 85.0;
/// What writes wait for the write buffer is most of their time from this share on, %.
const MOST_PERCENT: f64 = 50.0;
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
}

impl Load {
    pub(super) fn of_jobs(jobs: &[Job]) -> Load {
        Load {
            arrivals: match jobs.iter().any(Job::has_times) {
                true => Arrivals::Rate,
                false => Arrivals::Closed,
            },
            threads: jobs.iter().map(|job| job.numjobs).sum(),
        }
    }
}

/// What limited a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// `link`, `bus`, `dies`, `host path`, `firmware`, `command fetch`, `zone writes`, `data path`, `throttle`, `write buffer`,
    /// `suspended programs`, `rate`, `trace` or `iodepth`.
    pub what: &'static str,
    /// The key of the profile that decides, with its value and where that comes from; none of the last three.
    pub key: Option<(&'static str, String, Source)>,
    /// Share of the run that it was busy; of the write buffer and of suspended programs the share of their time that writes
    /// waited for the buffer; none of the last three.
    pub busy_percent: Option<f64>,
    /// What the run moved is more than four lanes of this generation of PCI Express carry, in GB/s, and the profile has no
    /// link that limits it.
    pub beyond_pcie: Option<(&'static str, f64)>,
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
        match profile.kind {
            Kind::Nand => {
                parts.push((
                    "bus",
                    ("bus.rate", profile.bus.rate.to_string()),
                    per(stats.channel_busy_ps as f64, stats.channels),
                ));
                let timing = &profile.timing;
                let slowest = timing.read.iter().copied().max().unwrap_or_default();
                let programs_ps = stats.programs as f64 * timing.program.as_ps() as f64;
                dies = match programs_ps > stats.page_reads as f64 * slowest.as_ps() as f64 {
                    true => ("timing.program", timing.program.to_string()),
                    false => ("timing.read", format!("up to {slowest}")),
                };
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
        let busiest = parts.into_iter().max_by(|a, b| a.2.total_cmp(&b.2));
        // A die is busy as well while its data waits for the bus.
        let busiest = busiest
            .filter(full)
            .or(Some(("dies", dies, dies_ps)).filter(full))
            .map(|(what, key, busy_ps)| (what, key, share(busy_ps)));
        // With a cached mapping writes wait for that as well.
        let waited_ps = stats.buffer_wait_ps.min(stats.write_latency_ps) as f64;
        let waited = 100.0 * waited_ps / stats.write_latency_ps.max(1) as f64;
        let of_buffer = waited >= MOST_PERCENT && profile.ftl.map == MapKind::Table;
        let buffer = (
            "controller.write_buffer",
            profile.controller.write_buffer.to_string(),
        );
        // Reads may keep it full: what suspending costs is then more than what is programmed.
        let (commands, program) = (&profile.commands, profile.timing.program);
        let costs_ps = (commands.suspend_time + commands.resume_time).as_ps() as f64;
        let of_reads = stats.program_suspends as f64 * costs_ps
            > stats.programs as f64 * program.as_ps() as f64;
        let resume = ("commands.resume_time", commands.resume_time.to_string());
        let of_buffer = of_buffer.then_some(match of_reads {
            true => ("suspended programs", resume, waited),
            false => ("write buffer", buffer, waited),
        });
        let busiest = busiest.or(of_buffer);
        let moved = stats.host_read_bytes.max(stats.host_written_bytes);
        let gb_s = moved as f64 * 1e3 / time_ps;
        let is_free = host.link_rate.0 == 0;
        let beyond = PCIE_X4.into_iter().rfind(|(_, most)| gb_s > *most);
        let beyond_pcie = beyond.map(|(name, _)| (name, gb_s)).filter(|_| is_free);
        let Some((what, (key, value), percent)) = busiest else {
            return Limit {
                what: match load.arrivals {
                    Arrivals::Closed => "iodepth",
                    Arrivals::Rate => "rate",
                    Arrivals::Trace => "trace",
                },
                key: None,
                busy_percent: None,
                beyond_pcie,
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
            beyond_pcie,
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
        if let Some((generation, gb_s)) = self.beyond_pcie {
            text += &format!(
                "note: {gb_s:.1} GB/s is more than PCIe {generation} x4 carries, and nothing limits the link; set host.link_rate\n"
            );
        }
        text
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
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
                _ => write!(f, "{busy:.1} % busy"),
            };
        }
        let why = match self.what {
            "iodepth" => "no part of the device is saturated",
            _ => "requests come no faster; no part of the device is saturated",
        };
        write!(f, " ({why})")
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
        if let Some((generation, _)) = self.beyond_pcie {
            map.serialize_entry("beyond_pcie_x4", generation)?;
        }
        map.end()
    }
}
