//! `zone_overwrite`: random zones of a conventional namespace are overwritten in order.

use super::prelude::*;
use super::sources::write_amplification;
use meldsim::engine::Random;
use meldsim::nvme::NamespaceId;
use meldsim::policy::pacing::PacingPolicy;
use meldsim::profile::HostPath;

const KIND: &str = "zone_overwrite";
const BY_7450: Class = Class::new(KIND, "7450s", Bar::Within(0.15));
const BY_OTHERS: Class = Class::new(KIND, "others", Bar::Reported);
const LATENCY: Class = Class::new(KIND, "latency", Bar::Reported);
/// Pages of flash and rows of a superblock: as many superblocks as the drive has, which decides here.
const PAGES: (u64, u64) = (1_600_000, 4);
/// Drive writes before anything is counted, and that are.
const WARM_UP: f64 = 1.5;
const COUNTED: f64 = 0.7;

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    tasks.leave_out_columns(
        table,
        &[
            "MBps_third_quarter",
            "MBps_last_quarter",
            "MBps_first_minute",
        ],
        "parts of MBps_steady, and an interval before the steady state",
    );
    let asked = tasks.ask(table, |tasks, row, drive| {
        let (zone, active) = (row.count("zone_bytes")?, row.count("active_zones")?);
        let (block, depth) = (row.count("block_bytes")?, row.count("depth_per_thread")?);
        if active == 0 || block < PAGE || zone < block {
            let remedy =
                "write at least one active zone, of one block at least, of 4096 B at least";
            return Err(row.wrong("zone_bytes", "is no zone to overwrite", remedy));
        }
        if active * zone > drive.capacity_bytes / 10 * 9 {
            tasks.leave_out(row, "the active zones fill the drive")?;
            return Ok(None);
        }
        let cells = Cells {
            row,
            drive,
            curve: format!("{}, {active} active", row.text("dataset")?),
            at: format!("{:.2} GiB", zone as f64 / (1u64 << 30) as f64),
            x: zone as f64,
            // They gave the superblock.
            is_fitted: tasks.are_own && drive.name.starts_with("7450") && zone == 1 << 30,
        };
        let class = match drive.name {
            "7450PRO" | "7450MAX" => BY_7450,
            _ => BY_OTHERS,
        };
        let questions = cells.questions([
            ("MBps_steady", class, 0.0),
            ("waf_counter", class, 0.0),
            ("media_write_MBps", class, 0.0),
            ("write_p50_us", LATENCY, 1.0),
            ("write_p99_us", LATENCY, 1.0),
        ])?;
        Ok(Some(((zone, active, block, depth), questions)))
    })?;
    tasks.simulate(asked, |tasks, drive, (zone, active, block, depth)| {
        let smaller = tasks.smaller_of(drive, PAGES)?.with_small_buffer();
        let mut smaller = smaller.through(HostPath::IoUring);
        // A firmware that holds random writes to a rate does not hold these.
        if smaller.profile.gc.pacing == PacingPolicy::named("throttle") {
            smaller.profile.gc.pacing = PacingPolicy::named("credit");
        }
        // Zones are as much smaller as the drive is, in whole pages; so are writes, where a zone has only some.
        let zone_pages = (smaller.bytes(zone, PAGE) / PAGE).max(1);
        let per = (block / PAGE).min(zone_pages.div_ceil(2)).max(1);
        let zone_pages = zone_pages.next_multiple_of(per);
        let zones = smaller.bytes(drive.capacity_bytes, PAGE) / PAGE / zone_pages;
        let writes = |times: f64| (times * (zones * zone_pages / per) as f64) as u64;
        let (warm_up, counted) = (writes(WARM_UP), writes(COUNTED));
        Ok(Simulation {
            smaller,
            bytes: zones * zone_pages * PAGE,
            past: Past::Filled,
            sources: Box::new(move |nsid| {
                vec![source(
                    nsid,
                    (zones, zone_pages),
                    active.min(zones),
                    per,
                    depth,
                )]
            }),
            warm_up,
            counted,
            cost: 2 * (warm_up + counted) * per,
            value: Box::new(move |measured, column| {
                let amplification = write_amplification(measured) * drive.overhead;
                let writes = measured.writes_from(0);
                let mb_s = writes.iops()? * (per * PAGE) as f64 / 1e6;
                match column {
                    "MBps_steady" => Some(mb_s),
                    "waf_counter" => Some(amplification),
                    "media_write_MBps" => Some(amplification * mb_s),
                    // At depth 1 shorter writes take as much longer as they are more.
                    column => latency_us(writes.latencies(), column)
                        .map(|us| us * (block / (per * PAGE)) as f64),
                }
            }),
        })
    })
}

/// Writes of `per` pages, each to one of the active zones; a zone that is full is followed by another at random.
fn source(
    nsid: NamespaceId,
    (zones, zone_pages): (u64, u64),
    active: u64,
    per: u64,
    depth: u64,
) -> Source<'static> {
    let mut random = Random::new(1);
    let mut open: Vec<(u64, u64)> = Vec::new();
    let writes = std::iter::repeat_with(move || {
        while (open.len() as u64) < active {
            let zone = random.below(zones);
            if open.iter().all(|(other, _)| *other != zone) {
                open.push((zone, 0));
            }
        }
        let at = random.below(active) as usize;
        let (zone, done) = open[at];
        if done + per == zone_pages {
            open.swap_remove(at);
        } else {
            open[at].1 += per;
        }
        transfer(true, nsid, zone * zone_pages + done, per)
    });
    Source::new(depth, writes)
}
