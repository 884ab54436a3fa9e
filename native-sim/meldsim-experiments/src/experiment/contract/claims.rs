//! The published rules, held against the two devices.

use super::super::claim::{Basis, Claim};
use super::heat::Cell;
use super::{Contract, SECTION};
use crate::report::bytes;

/// How far the ratios of rules 3, 5 and 6 may be from the published ones.
const RATIO_TOLERANCE: f64 = 0.1;
/// What is flat, or the same.
const FLAT: f64 = 0.05;
/// How far rates and times of flash may be from the published round numbers.
const ROUND_TOLERANCE: f64 = 0.1;
/// Published ratios of rules 3, 5 and 6.
const CROWDING: f64 = 4.6;
const TINY_LOSS: f64 = 5.0;
const OFFSET_LOSS: f64 = 1.2;

pub(super) fn claims(contract: &Contract) -> Vec<Claim> {
    let Contract { optane, flash, .. } = contract;
    let mut claims = heat_map(&contract.reads);
    claims.extend(flat(
        [
            "optane-contract.random-is-ok",
            "optane-contract.random-on-flash",
        ],
        "rule 2: random reads against sequential ones of the same size and depth",
        [optane.worst_order(), flash.worst_order()],
    ));
    claims.push(ratio(
        "optane-contract.crowded",
        "rule 3: one-sector reads of one chunk against spread ones, mean latency",
        CROWDING,
        optane.crowding(),
    ));
    claims.extend(flat(
        [
            "optane-contract.overall-load",
            "optane-contract.load-on-flash",
        ],
        "rule 4: 4 KiB requests a second at depth 64, over the share of writes",
        [optane.mix_spread(), flash.mix_spread()],
    ));
    claims.push(ratio(
        "optane-contract.tiny",
        "rule 5: bandwidth of 4 KiB reads against one-sector reads, depth 64",
        TINY_LOSS,
        optane.tiny_loss()[0],
    ));
    claims.push(ratio(
        "optane-contract.aligned",
        "rule 6: latency of 4 KiB reads one sector off against aligned ones",
        OFFSET_LOSS,
        optane.offset_loss()[0],
    ));
    claims.extend(flat(
        ["optane-contract.no-gc", "optane-contract.gc-on-flash"],
        "rule 7: bandwidth of sustained 4 KiB random overwrites",
        [optane.sustained_spread(), flash.sustained_spread()],
    ));
    claims.extend(base(contract));
    claims
}

fn claim(
    id: &'static str,
    statement: impl Into<String>,
    published: impl Into<String>,
    measured: impl Into<String>,
    criterion: impl Into<String>,
    holds: bool,
) -> Claim {
    Claim {
        id,
        section: SECTION,
        basis: Basis::Published,
        statement: statement.into(),
        published: published.into(),
        measured: measured.into(),
        criterion: criterion.into(),
        holds,
        command: "meldsim experiment optane-contract".to_owned(),
    }
}

fn heat_map(cells: &[Cell]) -> Vec<Claim> {
    let judge = |id, what: &str, criterion: &str, holds: fn(&Cell) -> Option<bool>| {
        let judged: Vec<(&Cell, bool)> = cells
            .iter()
            .filter_map(|cell| holds(cell).map(|holds| (cell, holds)))
            .collect();
        let held = judged.iter().filter(|(_, holds)| *holds).count();
        let off = judged.iter().filter(|(_, holds)| !holds).map(|(cell, _)| {
            let published = cell.comparable().unwrap_or(f64::NAN);
            let (size, depth) = (bytes(cell.request_bytes), cell.depth);
            format!(
                "{size} at depth {depth} {:+.2} for {published:+.1}",
                cell.t()
            )
        });
        let off: Vec<String> = off.collect();
        let measured = match off.as_slice() {
            [] => format!("all of {}", judged.len()),
            off => format!("{held} of {}; not {}", judged.len(), off.join(", ")),
        };
        let statement = format!(
            "rule 1: {what} of T in each certain cell of the heat map of reads with |T| of 0.2 or more"
        );
        claim(
            id,
            statement,
            "the published T",
            measured,
            criterion,
            held == judged.len() && held > 0,
        )
    };
    vec![
        judge(
            "optane-contract.heat-sign",
            "the sign",
            "all are the same",
            Cell::sign_holds,
        ),
        judge(
            "optane-contract.heat-magnitude",
            "the magnitude",
            "all are within 30 %",
            Cell::magnitude_holds,
        ),
    ]
}

/// Flat for Optane, and visibly not for flash.
fn flat(ids: [&'static str; 2], statement: &str, [optane, flash]: [f64; 2]) -> [Claim; 2] {
    let percent = |share: f64| format!("{:.1} % at most", 100.0 * share);
    [
        claim(
            ids[0],
            format!("{statement}, of Optane"),
            "no difference",
            percent(optane),
            "it is within 5 %",
            optane <= FLAT,
        ),
        claim(
            ids[1],
            format!("{statement}, of flash"),
            "a difference",
            percent(flash),
            "it is more than 5 %",
            flash > FLAT,
        ),
    ]
}

fn ratio(id: &'static str, statement: &str, published: f64, measured: f64) -> Claim {
    claim(
        id,
        format!("{statement}, of Optane"),
        format!("x{published:.1}"),
        format!("x{measured:.2}"),
        "it is within 10 %",
        (measured / published - 1.0).abs() <= RATIO_TOLERANCE,
    )
}

/// What the devices do at all.
fn base(contract: &Contract) -> Vec<Claim> {
    let Contract { optane, flash, .. } = contract;
    let within = |value: f64, least: f64, most: f64| (least..=most).contains(&value);
    let near = |value: f64, round: f64| (value / round - 1.0).abs() <= ROUND_TOLERANCE;
    let [read, write] = optane.large_mb_s.map(|rate| rate / 1000.0);
    let flash_read = flash.large_mb_s[0] / 1000.0;
    let optane_us = optane.aligned_us[0];
    let flash_us = flash.aligned_us[0];
    vec![
        claim(
            "optane-contract.latency",
            "4 KiB reads of Optane at depth 1",
            "9 to 11 us",
            format!("{optane_us:.1} us"),
            "it is in that range",
            within(optane_us, 9.0, 11.0),
        ),
        claim(
            "optane-contract.bandwidth",
            "large reads and writes of Optane",
            "2.2 to 2.5 GB/s and 2.2 GB/s",
            format!("{read:.2} and {write:.2} GB/s"),
            "reads are in that range, writes within 5 %",
            within(read, 2.2, 2.5) && (write / 2.2 - 1.0).abs() <= FLAT,
        ),
        claim(
            "optane-contract.flash-latency",
            "4 KiB reads of flash at depth 1",
            "about 76 to 90 us",
            format!("{flash_us:.1} us"),
            "it is in that range",
            within(flash_us, 76.0, 90.0),
        ),
        claim(
            "optane-contract.flash-rates",
            "large reads of flash, and 4 KiB reads at depth 256",
            "3.4 GB/s and 500 K a second",
            format!(
                "{flash_read:.2} GB/s and {:.0} K",
                flash.small_iops / 1000.0
            ),
            "both are within 10 %",
            near(flash_read, 3.4) && near(flash.small_iops, 500e3),
        ),
    ]
}
