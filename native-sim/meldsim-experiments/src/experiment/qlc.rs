//! `qlc-melding`: melding the four pages of a QLC wordline, extrapolated from TLC's published read times.

use super::burst::{ExperimentError, Layout, burst_read, burst_read_at};
use super::claim::{Basis, Claim};
use super::melded::{fit, size_axis};
use super::outcome::{Chart, Figure, Grounds, Outcome};
use super::published::SOURCE;
use super::sheet::{Cell, Sheet};
use crate::report::chart::{Axis, Line, LineChart};
use meldsim::profile::{MeldedPartialRead, Profile};

const SECTION: u32 = 1;
/// Reference voltages for LSB, CSB, MSB and the top page of QLC, and for all of them at once.
const SENSES: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 15.0];
/// Smallest request of the sweep.
const SMALLEST: u64 = 64 << 10;
/// Largest deviation from the arithmetic of a device whose dies are always busy.
const TOLERANCE: f64 = 0.01;

struct Row {
    request_bytes: u64,
    normal_us: f64,
    melded_us: f64,
}

impl Row {
    fn gain(&self) -> f64 {
        self.normal_us / self.melded_us
    }
}

/// Reads bursts from 64 KiB to 128 MiB from the QLC device in both layouts.
pub(super) fn qlc_melding(
    base: &Profile,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let mut profile = base.clone();
    profile.ftl.melded_partial_read = MeldedPartialRead::WholeWordline;
    let sizes: Vec<u64> = (0..12).map(|doubling| SMALLEST << doubling).collect();
    let mut rows = Vec::new();
    for &request_bytes in &sizes {
        let us = |layout| {
            burst_read(&profile, request_bytes, layout).map(|time| time.as_ps() as f64 / 1e6)
        };
        rows.push(Row {
            request_bytes,
            normal_us: us(Layout::Normal)?,
            melded_us: us(Layout::Melded)?,
        });
        progress(rows.len() as f64 / sizes.len() as f64);
    }
    let (x, y, _) = fit();
    Ok(Outcome {
        experiment: "qlc-melding",
        profile: base.name.clone(),
        about: "One request as one burst on an idle QLC device, four pages of a wordline apart or melded, by its size.".to_owned(),
        grounds: Grounds {
            published: vec![format!(
                "{SOURCE}: QLC melds four pages the same way; the read times of TLC, from which X + nY is fitted"
            )],
            fitted: vec![format!("X = {x:.2} us and Y = {y:.2} us, by least squares over 1, 2, 4 and 7 senses of TLC")],
            assumed: vec![
                "every QLC time and so every number here: pages of 1, 2, 4 and 8 senses, 15 for all four, with TLC's X and Y".to_owned(),
                "bus, geometry and spare area as those of the TLC device".to_owned(),
            ],
        },
        sheets: vec![sheet(&rows)],
        figures: vec![figure(&rows)],
        claims: claims(&profile, &rows)?,
    })
}

fn sheet(rows: &[Row]) -> Sheet {
    let mut sheet = Sheet::new(
        "cells",
        &[
            ("request_bytes", "request"),
            ("normal_us", "normal us (extrapolated)"),
            ("melded_us", "melded us (extrapolated)"),
            ("gain", "gain"),
        ],
    );
    for row in rows {
        sheet.row([
            Cell::Bytes(row.request_bytes),
            Cell::Number(row.normal_us, 1),
            Cell::Number(row.melded_us, 1),
            Cell::Number(row.gain(), 3),
        ]);
    }
    sheet
}

fn figure(rows: &[Row]) -> Figure {
    let points = rows
        .iter()
        .map(|row| (row.request_bytes as f64, row.gain()));
    Figure {
        chart: Chart::Line(LineChart {
            title: "Gain of melding four QLC pages".to_owned(),
            x: size_axis("request", rows.iter().map(|row| row.request_bytes)),
            y: Axis::linear("normal / melded time"),
            lines: vec![Line::new("extrapolated", points.collect())],
        }),
        caption: "Extrapolated from TLC: a wordline of four pages keeps fewer dies busy, so the crossover comes later.".to_owned(),
    }
}

/// How often the dies deliver a wordline sooner when it is melded, if they never wait for the bus.
fn gain_of_busy_dies(profile: &Profile) -> f64 {
    let us = |time: meldsim::Time| time.as_ps() as f64 / 1e6;
    let byte_us = 8.0 / (profile.bus.rate.0 as f64 * f64::from(profile.bus.width_bits));
    let page = f64::from(profile.bus.bytes_per_4kib) * profile.geometry.page_size.0 as f64 / 4096.0;
    let transfers = byte_us * page * profile.timing.read.len() as f64;
    let command = byte_us * f64::from(profile.bus.command_bytes);
    let apart: f64 = profile
        .timing
        .read
        .iter()
        .map(|&sense| us(sense) + command)
        .sum();
    let melded = profile.timing.melded_read.map_or(f64::INFINITY, us) + command;
    (apart + transfers) / (melded + transfers)
}

fn claims(profile: &Profile, rows: &[Row]) -> Result<Vec<Claim>, ExperimentError> {
    let claim =
        |id, basis, statement: &str, published: String, measured, criterion: &str, holds| Claim {
            id,
            section: SECTION,
            basis,
            statement: statement.to_owned(),
            published,
            measured,
            criterion: criterion.to_owned(),
            holds,
            command: "meldsim experiment qlc-melding".to_owned(),
        };
    let us = |time: meldsim::Time| time.as_ps() as f64 / 1e6;
    let timing = &profile.timing;
    let times: Vec<f64> = timing
        .read
        .iter()
        .chain(&timing.melded_read)
        .map(|&time| us(time))
        .collect();
    let (x, y, _) = fit();
    let derived = SENSES.map(|senses| x + senses * y);
    let follows = times.len() == derived.len()
        && times
            .iter()
            .zip(derived)
            .all(|(time, derived)| (time - derived).abs() <= 0.5);

    let wordline_bytes = profile.geometry.page_size.0 * timing.read.len() as u64;
    let melded = us(burst_read_at(profile, 0, wordline_bytes, Layout::Melded)?);
    let dies = u64::from(profile.geometry.channels * profile.geometry.dies_per_channel);
    let mut apart = 0.0;
    for page in 0..timing.read.len() as u64 {
        let page_bytes = profile.geometry.page_size.0;
        apart += us(burst_read_at(
            profile,
            page * dies * page_bytes,
            page_bytes,
            Layout::Normal,
        )?);
    }
    let largest = rows.last().map_or(f64::NAN, Row::gain);
    let expected = gain_of_busy_dies(profile);
    let texts: Vec<String> = times.iter().map(|time| format!("{time:.0}")).collect();
    let wanted: Vec<String> = derived.iter().map(|time| format!("{time:.1}")).collect();
    Ok(vec![
        claim(
            "qlc-melding.times",
            Basis::Assumption,
            "the preset's read times are X + nY for 1, 2, 4, 8 and (melded) 15 senses",
            format!("{} us", wanted.join(" / ")),
            format!("{} us", texts.join(" / ")),
            "they are equal to 0.5 us",
            follows,
        ),
        claim(
            "qlc-melding.four-pages",
            Basis::Published,
            "QLC melds four pages the same way: one melded read instead of four",
            "less than apart".to_owned(),
            format!("{melded:.1} instead of {apart:.1} us on a die"),
            "melded is sooner",
            melded < apart,
        ),
        claim(
            "qlc-melding.gain",
            Basis::Assumption,
            "the gain on 128 MiB is that of dies that are always busy (extrapolated)",
            format!("x{expected:.3}"),
            format!("x{largest:.3}"),
            "it is within 1 % of arithmetic",
            (largest / expected - 1.0).abs() <= TOLERANCE,
        ),
    ])
}
