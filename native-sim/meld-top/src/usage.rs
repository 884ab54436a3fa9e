//! What a device and its volumes did between two looks at its counters.
//!
//! A rate is one of wall time, as the host sees it. What the counters call simulated time is the device's own: in
//! real-time mode it goes by `1 / dilation` as fast, in mode `account` only while somebody reads or writes.

use std::time::Duration;

use serde::Serialize;

use crate::datanode::{Answer, Bean};

/// All devices, and what did not answer.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Usage {
    /// Wall time between the looks, in seconds; the longest, where DataNodes differ.
    pub(crate) seconds: f64,
    pub(crate) devices: Vec<DeviceUsage>,
    /// A line for each DataNode that did not answer, or has no simulated SSD.
    pub(crate) troubles: Vec<String>,
}

/// One device.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct DeviceUsage {
    /// `HOST:PORT` of its DataNode.
    pub(crate) datanode: String,
    /// The shared device's name, or the volume's folder.
    pub(crate) device: String,
    pub(crate) profile: String,
    pub(crate) mode: String,
    /// Wall seconds that one simulated second takes in real-time mode.
    pub(crate) dilation: f64,
    pub(crate) healthy: bool,
    /// The last failure of the simulator; empty when there was none.
    pub(crate) last_error: String,
    /// Folders of its volumes.
    pub(crate) volumes: Vec<String>,

    /// Commands a second of wall time.
    pub(crate) read_iops: f64,
    pub(crate) write_iops: f64,
    /// MiB a second of wall time.
    pub(crate) read_mib_s: f64,
    pub(crate) write_mib_s: f64,
    /// The same of simulated time; none when none has gone by.
    pub(crate) simulated_read_mib_s: Option<f64>,
    /// Mean latency of the reads that completed, simulated, in us; none where none did.
    pub(crate) read_latency_us: Option<f64>,
    /// Percentiles of reads and of writes since the device was opened, simulated, in us: 50, 99 and 99.9.
    pub(crate) read_percentiles_us: [f64; 3],
    pub(crate) write_percentiles_us: [f64; 3],
    /// Commands submitted and not completed.
    pub(crate) outstanding: i64,
    /// Of simulated time, the share that the average channel and die were busy; none when none has gone by.
    pub(crate) channels_busy: Option<f64>,
    pub(crate) dies_busy: Option<f64>,
    pub(crate) channels: i64,
    pub(crate) dies: i64,
    /// Of the pages that hold data, the share that is melded.
    pub(crate) melded_share: f64,
    /// Pages programmed for each page of the host's; none where none was.
    pub(crate) write_amplification: Option<f64>,
    pub(crate) free_blocks: i64,
    /// Readers that waited for the device, on average.
    pub(crate) readers_waiting: f64,
    pub(crate) writers_waiting: f64,
    /// Blocks laid out since the DataNode started, by who decided.
    pub(crate) hints: Hints,
    /// Calls since the DataNode started that went on as stock, simulator calls that failed, waits given up.
    pub(crate) fallbacks: i64,
    pub(crate) errors: i64,
    pub(crate) timeouts: i64,
}

/// Blocks by who decided on their layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Hints {
    /// An extended attribute.
    pub(crate) explicit: i64,
    /// How the file or folder was read before.
    pub(crate) history: i64,
    /// The rule for full-size blocks.
    pub(crate) full_block: i64,
    pub(crate) none: i64,
}

impl Usage {
    /// Of all DataNodes, as they answered before and after; by name.
    pub(crate) fn between(before: &[Answer], after: &[Answer]) -> Usage {
        let mut usage = Usage::default();
        for now in after {
            let trouble = now.trouble();
            if !trouble.is_empty() {
                usage.troubles.push(trouble);
            }
            let earlier = before.iter().find(|answer| answer.datanode == now.datanode);
            let elapsed = earlier.map_or(Duration::ZERO, |answer| now.at - answer.at);
            usage.seconds = usage.seconds.max(elapsed.as_secs_f64());
            for bean in now.beans.iter().filter(|bean| bean.has_device()) {
                usage.devices.push(device(bean, now, earlier, elapsed));
            }
        }
        usage.sort_by_name();
        usage
    }

    /// Sorts devices by DataNode and name.
    pub(crate) fn sort_by_name(&mut self) {
        let name = |device: &DeviceUsage| (device.datanode.clone(), device.device.clone());
        self.devices.sort_by_key(name);
    }
}

/// A counter's growth. A DataNode that was restarted counts from zero, so its count is the growth.
/// A summed time of a device that goes on has begun anew, at 2^64 ps: of the difference the low bits are right.
fn grown(counter: &str, now: &Bean, before: Option<&Bean>) -> i64 {
    let count = |of: &str| (now.get(of), before.map_or(0, |bean| bean.get(of)));
    let (clock, earlier) = count("now_ps");
    let goes_on = counter.ends_with("_ps") && clock > earlier;
    let (now, before) = count(counter);
    match goes_on || now >= before {
        true => now.wrapping_sub(before) & i64::MAX,
        false => now,
    }
}

fn device(bean: &Bean, now: &Answer, earlier: Option<&Answer>, elapsed: Duration) -> DeviceUsage {
    let same = |name: &str| {
        let beans = earlier.map(|answer| answer.beans.iter());
        beans.and_then(|mut beans| beans.find(|bean| bean.name == name))
    };
    let before = same(&bean.name);
    // Without an earlier look there is nothing to say of the time since.
    let grown_of = |counter: &str, of: &Bean, before: Option<&Bean>| match before {
        Some(_) => grown(counter, of, before),
        None => 0,
    };
    let growth = |counter: &str| grown_of(counter, bean, before) as f64;
    let seconds = elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
    let rate = |counter: &str| match before {
        Some(_) => growth(counter) / seconds,
        None => 0.0,
    };
    let simulated = growth("now_ps");
    let of_time = |busy: &str, parts: &str| {
        let parts = bean.get(parts) as f64;
        (simulated > 0.0 && parts > 0.0).then(|| growth(busy) / (simulated * parts))
    };
    let ratio = |part: f64, of: f64| (of > 0.0).then(|| part / of);
    let us = |counter: &str| bean.get(counter) as f64 / 1e6;
    let volumes: Vec<&Bean> = match bean.is_volume() {
        true => vec![bean],
        false => {
            let on_it = |volume: &&Bean| volume.is_volume() && volume.device == bean.device;
            now.beans.iter().filter(on_it).collect()
        }
    };
    let sum = |counter: &str| {
        volumes
            .iter()
            .map(|volume| volume.get(counter))
            .sum::<i64>()
    };
    let waiting = |counter: &str| {
        let waited = volumes
            .iter()
            .map(|volume| grown_of(counter, volume, same(&volume.name)) as f64);
        waited.sum::<f64>() / (seconds * 1e9)
    };
    DeviceUsage {
        datanode: now.datanode.clone(),
        device: match bean.device.is_empty() {
            true => bean.volume.clone(),
            false => bean.device.clone(),
        },
        profile: bean.profile.clone(),
        mode: bean.mode.clone(),
        dilation: bean.time_dilation,
        healthy: bean.healthy,
        last_error: bean.last_error.clone(),
        volumes: volumes.iter().map(|volume| volume.volume.clone()).collect(),
        read_iops: rate("read_commands"),
        write_iops: rate("write_commands"),
        read_mib_s: rate("host_read_bytes") / MIB,
        write_mib_s: rate("host_written_bytes") / MIB,
        simulated_read_mib_s: ratio(growth("host_read_bytes") / MIB, simulated / 1e12),
        read_latency_us: ratio(growth("read_latency_ps") / 1e6, growth("read_commands")),
        read_percentiles_us: PERCENTILES.map(|name| us(&format!("read_latency_{name}_ps"))),
        write_percentiles_us: PERCENTILES.map(|name| us(&format!("write_latency_{name}_ps"))),
        outstanding: bean.get("outstanding_commands"),
        channels_busy: of_time("channel_busy_ps", "channels"),
        dies_busy: of_time("die_busy_ps", "dies"),
        channels: bean.get("channels"),
        dies: bean.get("dies"),
        melded_share: ratio(
            bean.get("melded_mapped_pages") as f64,
            bean.get("mapped_pages") as f64,
        )
        .unwrap_or(0.0),
        write_amplification: ratio(
            bean.get("programmed_bytes") as f64,
            bean.get("host_written_bytes") as f64,
        )
        .filter(|value| *value > 0.0),
        free_blocks: bean.get("free_blocks"),
        readers_waiting: waiting("reader_wait_ns"),
        writers_waiting: waiting("writer_wait_ns"),
        hints: Hints {
            explicit: sum("hints_explicit"),
            history: sum("hints_history"),
            full_block: sum("hints_full_block"),
            none: sum("hints_none"),
        },
        fallbacks: sum("fallbacks"),
        errors: sum("errors"),
        timeouts: sum("timeouts"),
    }
}

const MIB: f64 = 1_048_576.0;
/// As the metrics name them.
const PERCENTILES: [&str; 3] = ["p50", "p99", "p999"];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::datanode::tests::{answer, bean};
    use std::time::Instant;

    fn looks(before: &[serde_json::Value], after: &[serde_json::Value], seconds: u64) -> Usage {
        let at = Instant::now();
        let later = at + Duration::from_secs(seconds);
        Usage::between(&[answer(at, before)], &[answer(later, after)])
    }

    fn own(factor: i64) -> serde_json::Value {
        let counters = [
            ("now_ps", factor * 40_000_000_000),
            ("read_commands", factor * 200),
            ("host_read_bytes", factor * (256 << 20)),
            ("read_latency_ps", factor * 200 * 90_000_000),
            ("channel_busy_ps", factor * 8 * 30_000_000_000),
            ("channels", 8),
            ("die_busy_ps", factor * 64 * 10_000_000_000),
            ("dies", 64),
            ("mapped_pages", 100),
            ("melded_mapped_pages", 25),
            ("host_written_bytes", 4096),
            ("programmed_bytes", 10_240),
            ("reader_wait_ns", factor * 6_000_000_000),
            ("hints_full_block", 7),
        ];
        bean("MeldVolume-DS-1", &[("Volume", "/data/1")], &counters)
    }

    #[test]
    fn rates_are_of_wall_time_and_shares_of_simulated_time() {
        let usage = looks(&[own(1)], &[own(2)], 4);
        let [device] = usage.devices.as_slice() else {
            panic!("{usage:?}")
        };
        assert_eq!((device.read_iops, device.read_mib_s), (50.0, 64.0));
        assert!((device.simulated_read_mib_s.unwrap() - 6400.0).abs() < 1e-6);
        assert_eq!(device.read_latency_us, Some(90.0));
        assert_eq!(
            (device.channels_busy, device.dies_busy),
            (Some(0.75), Some(0.25))
        );
        assert_eq!(
            (device.melded_share, device.write_amplification),
            (0.25, Some(2.5))
        );
        assert_eq!((device.readers_waiting, device.hints.full_block), (1.5, 7));
        assert_eq!(
            (device.device.as_str(), device.volumes.as_slice()),
            ("/data/1", &["/data/1".to_owned()][..])
        );
    }

    #[test]
    fn a_shared_device_has_the_waits_of_its_volumes() {
        let device = |now| {
            bean(
                "MeldDevice-ssd-DS-1",
                &[("Device", "ssd")],
                &[("now_ps", now)],
            )
        };
        let volume = |name, wait| {
            let name = format!("MeldVolume-{name}");
            bean(
                &name,
                &[("Device", "ssd"), ("Volume", &name)],
                &[("reader_wait_ns", wait)],
            )
        };
        let other = bean(
            "MeldVolume-DS-9",
            &[("Volume", "/data/9")],
            &[("now_ps", 1)],
        );
        let before = [
            device(0),
            volume("DS-1", 0),
            volume("DS-2", 0),
            other.clone(),
        ];
        let second = 1_000_000_000;
        let after = [
            device(9),
            volume("DS-1", second),
            volume("DS-2", second / 2),
            other,
        ];
        let usage = looks(&before, &after, 1);
        assert_eq!(usage.devices.len(), 2);
        assert_eq!(usage.devices[1].readers_waiting, 1.5);
        assert_eq!(usage.devices[1].volumes.len(), 2);
        assert_eq!(usage.devices[0].readers_waiting, 0.0);
        assert_eq!(usage.devices[0].channels_busy, None, "no time has gone by");
    }

    #[test]
    fn a_datanode_that_was_restarted_counts_anew() {
        let usage = looks(&[own(5)], &[own(1)], 2);
        assert_eq!(usage.devices[0].read_iops, 100.0);
    }

    #[test]
    fn shares_stay_right_when_a_summed_time_begins_anew() {
        let look = |now_ps, die_busy_ps: u64| {
            let counters = [
                ("now_ps", now_ps),
                ("die_busy_ps", die_busy_ps as i64),
                ("dies", 4),
            ];
            bean("MeldVolume-DS-1", &[("Volume", "/data/1")], &counters)
        };
        // As the signed numbers of the metrics: where the sign changes, and where it begins anew.
        for before in [i64::MAX as u64 - 100, u64::MAX - 100] {
            let looks = looks(
                &[look(1000, before)],
                &[look(1100, before.wrapping_add(200))],
                1,
            );
            assert_eq!(looks.devices[0].dies_busy, Some(0.5));
        }
    }

    #[test]
    fn the_first_look_has_no_rates() {
        let usage = looks(&[], &[own(3)], 2);
        assert_eq!(
            (usage.devices[0].read_iops, usage.devices[0].dies_busy),
            (0.0, None)
        );
        assert_eq!(usage.devices[0].readers_waiting, 0.0);
    }
}
