//! `qlc-melding`: melding the four pages of a QLC wordline, extrapolated from TLC's published read times.

use super::burst::burst_read;
use super::melded::{PAPER, fit, timeline_of_reads, wordline_us};
use super::setup::{bus_bytes, bus_us, us};
use crate::prelude::*;
use meldsim::profile::{MeldedPartialRead, Profile};

pub(super) const QLC_MELDING: Experiment = Experiment {
    name: "qlc-melding",
    about: "Melding the four pages of a QLC wordline, extrapolated from TLC",
    paper: PAPER,
    profile: "melded-qlc-8x8",
    request_unit: Some(64 << 10),
    plan,
    timeline: Some(timeline_of_reads),
    ..Experiment::DEFAULT
};

/// Reference voltages for LSB, CSB, MSB and the top page of QLC, and for all of them at once.
const SENSES: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 15.0];
/// Smallest request of the sweep.
const SMALLEST: u64 = 64 << 10;
/// Largest deviation from the arithmetic of a device whose dies are always busy.
const TOLERANCE: f64 = 0.01;

struct QlcRow {
    request_bytes: u64,
    normal_us: f64,
    melded_us: f64,
}

impl QlcRow {
    fn gain(&self) -> f64 {
        self.normal_us / self.melded_us
    }
}

/// Reads bursts from 64 KiB to 128 MiB from the QLC device in both layouts.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let mut profile = run.profile.clone();
    profile.ftl.melded_partial_read = MeldedPartialRead::WholeWordline;
    let device = profile.clone();
    let rows = cells.each(
        (0..12).map(|doubling| SMALLEST << doubling),
        move |&request_bytes| {
            let time_us = |layout| burst_read(&device, request_bytes, layout).map(us);
            Ok(QlcRow {
                request_bytes,
                normal_us: time_us(Layout::Normal)?,
                melded_us: time_us(Layout::Melded)?,
            })
        },
    );
    let device = profile.clone();
    let pages = device.timing.read.len() as u64;
    let wordline = cells.one(move || wordline_us(&device, pages));
    Ok(Box::new(move || {
        let rows = rows.take()?;
        let wordline = wordline.single()?;
        Some(outcome(run, &rows).claims(claims(&profile, &rows, wordline)))
    }))
}

fn outcome(run: &Run, rows: &[QlcRow]) -> Outcome {
    let (x, y, _) = fit();
    let gains = Line::over("extrapolated", rows, |row| {
        (row.request_bytes as f64, row.gain())
    });
    let chart = LineChart {
        title: "Gain of melding four QLC pages".to_owned(),
        x: size_axis("request", rows.iter().map(|row| row.request_bytes)),
        y: Axis::linear("normal / melded time"),
        lines: vec![gains],
    };
    run.report("One request as one burst on an idle QLC device, four pages of a wordline apart or melded, by its size.")
        .published(format!(
            "Arpith K, K. Gopinath: {PAPER}: QLC melds four pages the same way; the read times of TLC, from which X + nY is fitted"
        ))
        .fitted(format!("X = {x:.2} us and Y = {y:.2} us, by least squares over 1, 2, 4 and 7 senses of TLC"))
        .assumed("every QLC time, and so every number here: the four pages take 1, 2, 4 and 8 senses, 15 when melded, with TLC's X and Y")
        .assumed("bus, geometry and spare area are those of the TLC device")
        .sheet(
            Sheet::of("cells", rows)
                .bytes("request_bytes", "request", |row| row.request_bytes)
                .number("normal_us", "normal us (extrapolated)", 1, |row| row.normal_us)
                .number("melded_us", "melded us (extrapolated)", 1, |row| row.melded_us)
                .number("gain", "gain", 3, QlcRow::gain),
        )
        .figure(
            chart,
            "Extrapolated from TLC: a wordline of four pages keeps fewer dies busy, so the crossover comes later.",
        )
}

/// How often the dies deliver a wordline sooner when it is melded, if they never wait for the bus.
fn gain_of_busy_dies(profile: &Profile) -> f64 {
    let byte_us = bus_us(profile);
    let transfers = byte_us * bus_bytes(profile) * profile.timing.read.len() as f64;
    let command = byte_us * f64::from(profile.bus.command_bytes);
    let senses = profile.timing.read.iter();
    let apart: f64 = senses.map(|&sense| us(sense) + command).sum();
    let melded = profile.timing.melded_read.map_or(f64::INFINITY, us) + command;
    (apart + transfers) / (melded + transfers)
}

/// `wordline`: what the pages of a wordline take to sense one by one, and melded.
fn claims(profile: &Profile, rows: &[QlcRow], (alone, melded): (Vec<f64>, f64)) -> [Claim; 3] {
    let times: Vec<f64> = alone.iter().copied().chain([melded]).collect();
    let (x, y, _) = fit();
    let derived = SENSES.map(|senses| x + senses * y);
    let pairs = || times.iter().zip(derived);
    let follows = times.len() == derived.len()
        && pairs().all(|(time, derived)| (time - derived).abs() <= 0.5);
    let texts: Vec<String> = times.iter().map(|time| format!("{time:.0}")).collect();
    let apart: f64 = alone.iter().sum();
    let largest = rows.last().map_or(f64::NAN, QlcRow::gain);
    let expected = gain_of_busy_dies(profile);
    [
        Claim::input(
            "qlc-melding.times",
            "timing.read and timing.melded_read were computed so, by X and Y of TLC, and put in",
        )
        .statement("reads take X + nY without the bus, for 1, 2, 4, 8 and (melded) 15 senses")
        .expected(format!(
            "{} us",
            derived.map(|time| format!("{time:.1}")).join(" / ")
        ))
        .measured(format!("{} us", texts.join(" / ")))
        .when(Bound::Own, "they are equal to 0.5 us").holds(follows),
        Claim::construction(
            "qlc-melding.four-pages",
            "15 senses at once are fewer overheads X than four reads of 1, 2, 4 and 8, and as many senses",
        )
        .statement("QLC melds four pages the same way: one melded read instead of four")
        .expected("less than apart")
        .measured(format!("{melded:.1} instead of {apart:.1} us on a die"))
        .when(Bound::Published, "melded is sooner").holds(melded < apart),
        Claim::construction("qlc-melding.gain", "dies that are always busy deliver at the rate of their times")
            .statement("the gain on 128 MiB is that of dies that are always busy (extrapolated)")
            .expected(format!("x{expected:.3}"))
            .measured(format!("x{largest:.3}"))
            .when(Bound::Own, "it is within 1 % of arithmetic").holds((largest / expected - 1.0).abs() <= TOLERANCE),
    ]
}
