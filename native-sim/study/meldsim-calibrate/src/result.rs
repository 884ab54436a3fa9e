//! What comes of a calibration: a profile whose numbers say where they are from, the parameters, and the errors.

use meldsim::profile::{ByteSize, DataRate, Profile};
use serde::Serialize;

use super::finding::Finding;
use super::identify::Estimate;
use super::model::{Asked, Model, residual};
use super::parameter::Key;
use super::quantile::quantile;
use super::request::Request;
use meldsim_measured::{Bar, Cell, LeftOut, Question, distinct, of_key};
use meldsim_stats::Sheet;

/// A drive, calibrated. In JSON it is what programs need.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Calibrated {
    /// The drive.
    pub drive: String,
    /// Its profile.
    #[serde(skip)]
    pub profile: Profile,
    /// The profile's text: each number that was given or fitted has its interval and its source beside it.
    #[serde(rename = "profile_toml")]
    pub text: String,
    /// The mean error over the kinds, in bars, of which a cell has three at most.
    #[serde(rename = "score_bars")]
    pub score: f64,
    /// What the cells cannot tell.
    pub findings: Vec<Finding>,
    /// What was looked for: value, interval, kind.
    pub parameters: Sheet,
    /// Errors of each kind of cells, as fitted and left out.
    pub errors: Sheet,
    /// Cells that are far off, the furthest first.
    pub far_off: Sheet,
    /// Every cell, in a sheet.
    pub cells: Sheet,
    /// Rows that were not simulated.
    pub left_out: Sheet,
    /// Every cell, as it was measured and simulated.
    #[serde(skip)]
    pub measured: Vec<Cell>,
}

/// What a result is made of.
pub(super) struct Parts<'a> {
    pub(super) request: &'a Request,
    pub(super) model: &'a Model,
    pub(super) point: &'a [f64],
    pub(super) estimates: &'a [Estimate],
    pub(super) simulated: &'a [f64],
    /// For each cell its error without a say, in bars.
    pub(super) without: &'a [f64],
    pub(super) findings: Vec<Finding>,
}

impl Calibrated {
    pub(super) fn new(parts: Parts<'_>) -> Calibrated {
        let Parts { request, model, .. } = parts;
        let mut profile = model.profile(parts.point);
        profile.name.clone_from(&request.drive);
        profile.description = format!("{}, calibrated", request.drive);
        over_provision(&mut profile, model.capacity_bytes);
        let cells = model.cells.iter().zip(parts.simulated);
        let cells: Vec<Cell> = cells
            .map(|(asked, simulated)| Cell::new(question(asked), *simulated))
            .collect();
        let lines = lines(&parts);
        let mut findings = parts.findings.clone();
        findings.extend(unlimited(&profile, request, parts.estimates));
        Calibrated {
            drive: request.drive.clone(),
            text: annotated(&profile, request, parts.estimates),
            parameters: parameters(&parts, &profile),
            errors: errors(&lines),
            far_off: far_off(model, &cells),
            cells: cells_sheet(model, &cells),
            left_out: left_out(&model.left_out),
            profile,
            findings,
            score: score(model, parts.simulated),
            measured: cells,
        }
    }

    /// The result for people.
    pub fn to_text_within(&self, columns: usize) -> String {
        let mut text = self.parameters.to_table().within(columns);
        text.push('\n');
        text += &self.errors.to_table().within(columns);
        if !self.far_off.is_empty() {
            text += &format!("\n{FAR_OFF}\n{}", self.far_off.to_table().within(columns));
        }
        for finding in &self.findings {
            text += &finding.to_text();
        }
        text
    }
}

/// The host sees what it sees of the drive. Over-provisioning, in whole percents, is not more.
fn over_provision(profile: &mut Profile, capacity_bytes: f64) {
    let spare = Key::Spare.of(profile, capacity_bytes);
    let percent = 100.0 * spare / (1.0 + spare);
    profile.ftl.over_provisioning_percent = (percent.floor() as u32).clamp(1, 90);
    profile.controller.capacity = ByteSize(capacity_bytes as u64);
    // With hardly any spare flash the collector needs more than there is.
    if profile.validate().is_err() {
        profile.controller.capacity = ByteSize(0);
    }
}

/// Large reads get what no cell has shown when nobody knows the link.
fn unlimited(profile: &Profile, request: &Request, estimates: &[Estimate]) -> Option<Finding> {
    if profile.host.link_rate != DataRate(0) || request.gives(Key::LinkRate) {
        return None;
    }
    let bus = estimates
        .iter()
        .find(|estimate| estimate.key == Key::BusRate);
    let source = match bus {
        Some(bus) if bus.is_identifiable => "fitted",
        _ if request.gives(Key::BusRate) => "given",
        _ => "assumed",
    };
    let (geometry, bus) = (&profile.geometry, &profile.bus);
    let bits = u64::from(geometry.channels) * bus.rate.0 * u64::from(bus.width_bits);
    let gb_s = bits as f64 / 8e3 * 4096.0 / f64::from(bus.bytes_per_4kib);
    Some(Finding::new(
        "link",
        format!(
            "the link to the host is not known, and limits nothing: large reads get up to {gb_s:.1} GB/s, by bus.rate {}, which is {source}",
            bus.rate
        ),
        "128 KiB random reads at depths up to 32; or give the link, as --given host.link_rate=7GB/s",
    ))
}

fn question(asked: &Asked) -> Question {
    let mut question = asked.question.clone();
    question.is_fitted = asked.weight > 0.0;
    question
}

/// The mean over kinds of the errors in bars, as far as they are judged.
pub(super) fn score(model: &Model, simulated: &[f64]) -> f64 {
    let mut kinds: Vec<((&str, &str), Vec<f64>)> = Vec::new();
    for (cell, simulated) in model.cells.iter().zip(simulated) {
        let class = &cell.question.class;
        if class.is_given || class.bar == Bar::Reported {
            continue;
        }
        let error = residual(cell, *simulated).abs().min(FAR_BARS);
        of_key(&mut kinds, cell.class()).push(error);
    }
    let means = kinds
        .iter()
        .map(|(_, errors)| errors.iter().sum::<f64>() / errors.len() as f64);
    means.sum::<f64>() / (kinds.len().max(1)) as f64
}

/// The profile's text with what each parameter is from.
fn annotated(profile: &Profile, request: &Request, estimates: &[Estimate]) -> String {
    let mut text = format!(
        "# {}, calibrated by meldsim {}.\n# [G] given, [F] fitted to measured cells, [N] not identifiable from them; all else is assumed.\n",
        request.drive,
        env!("CARGO_PKG_VERSION")
    );
    let mut section = String::new();
    for line in profile.to_toml().lines() {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = name.to_owned();
        }
        let name = line.split('=').next().unwrap_or_default().trim();
        let key = format!("{section}.{name}");
        let remarks: Vec<String> = estimates
            .iter()
            .filter(|estimate| estimate.key.name().split('[').next() == Some(key.as_str()))
            .map(remark)
            .collect();
        text += line;
        if !remarks.is_empty() {
            text += &format!(" # {}", remarks.join("; "));
        } else if request.gives_key(&key) || key == "controller.capacity" {
            text += " # [G]";
        }
        text.push('\n');
    }
    text
}

fn remark(estimate: &Estimate) -> String {
    let tag = if estimate.is_identifiable { "F" } else { "N" };
    format!(
        "[{tag}] {} {}: {}",
        estimate.key.about(),
        short(estimate.key, estimate.value),
        interval(estimate)
    )
}

fn interval(estimate: &Estimate) -> String {
    format!(
        "{} to {}",
        short(estimate.key, estimate.low),
        short(estimate.key, estimate.high)
    )
}

/// Four digits that say something, of what is counted all.
fn short(key: Key, value: f64) -> String {
    match value {
        0.0 if key == Key::LinkRate => "unlimited".to_owned(),
        value if !key.options().is_empty() => value.to_string(),
        value if value >= 1_000.0 => format!("{value:.0}"),
        value if value >= 100.0 => format!("{value:.1}"),
        value if value >= 10.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

fn parameters(parts: &Parts<'_>, profile: &Profile) -> Sheet {
    let (request, estimates) = (parts.request, parts.estimates);
    let (assumed, capacity) = (parts.model.profile(parts.point), parts.model.capacity_bytes);
    let looked_for =
        |key: &Key| estimates.iter().any(|estimate| estimate.key == *key) || request.gives(*key);
    let assumed_keys: Vec<Key> = Key::ALL
        .into_iter()
        .filter(|key| !looked_for(key))
        .collect();
    // What the measured depends on as well: with another value of it, a parameter would have another interval.
    let matters = |key: &&Key| parts.model.cells.iter().any(|cell| key.matters(cell.load));
    let given_that: Vec<String> = assumed_keys
        .iter()
        .filter(matters)
        .map(|key| {
            let value = short(*key, key.of(&assumed, capacity));
            format!("{} {value} (assumed)", key.name())
        })
        .collect();
    let given_that = match given_that.is_empty() {
        true => String::new(),
        false => format!("given {}", given_that.join(", ")),
    };
    #[derive(Default)]
    struct ParameterRow {
        key: String,
        own: Option<String>,
        about: String,
        value: String,
        interval: Option<String>,
        kind: &'static str,
        note: String,
    }
    let row = |key: Key, value: f64| ParameterRow {
        key: key.name(),
        own: key.own(profile),
        about: key.about().to_owned(),
        value: short(key, value),
        note: format!("measure {}", key.measured_by()),
        ..ParameterRow::default()
    };
    let estimated = |estimate: &Estimate| {
        let row = row(estimate.key, estimate.value);
        let (kind, note) = match (estimate.is_identifiable, estimate.trades_with) {
            (true, _) => ("fitted", given_that.clone()),
            (false, Some(other)) => {
                let note = format!("goes along with {}; {}", other.name(), row.note);
                ("not identifiable", note)
            }
            (false, None) => ("not identifiable", row.note),
        };
        ParameterRow {
            interval: Some(interval(estimate)),
            kind,
            note,
            ..row
        }
    };
    let mut rows: Vec<ParameterRow> = estimates.iter().map(estimated).collect();
    for given in &request.given {
        let (key, value) = given.split_once('=').unwrap_or((given, ""));
        rows.push(ParameterRow {
            key: key.trim().to_owned(),
            value: value.trim().to_owned(),
            kind: "given",
            ..ParameterRow::default()
        });
    }
    rows.extend(assumed_keys.iter().map(|key| ParameterRow {
        kind: "assumed",
        ..row(*key, key.of(&assumed, capacity))
    }));
    Sheet::of("parameters", &rows)
        .cell("key", "key", |row| row.key.clone())
        .cell("own", "in the profile", |row| row.own.clone())
        .cell("about", "what", |row| row.about.clone())
        .cell("value", "value", |row| row.value.clone())
        .cell("interval", "95 % interval", |row| row.interval.clone())
        .cell("kind", "kind", |row| row.kind)
        .cell("note", "remark", |row| row.note.clone())
        .into()
}

/// Errors of the cells of a kind, in percent.
struct Line {
    kind: &'static str,
    what: &'static str,
    cells: usize,
    fitted: usize,
    median: f64,
    without: Option<f64>,
    most: f64,
}

fn lines(parts: &Parts<'_>) -> Vec<Line> {
    let model = parts.model;
    let percent =
        |cell: &Asked, residual: f64| 100.0 * (libm::exp(residual.abs() * cell.bar) - 1.0);
    let line = |kind: (&'static str, &'static str)| {
        let cells = model.cells.iter().enumerate();
        let of_kind = || cells.clone().filter(|(_, cell)| cell.class() == kind);
        let error =
            |(at, cell): (usize, &Asked)| percent(cell, residual(cell, parts.simulated[at]));
        let errors: Vec<f64> = of_kind().map(error).collect();
        let fitted = of_kind().filter(|(_, cell)| cell.weight > 0.0);
        let without = fitted.map(|(at, cell)| percent(cell, parts.without[at]));
        let without: Vec<f64> = without.collect();
        Line {
            kind: kind.0,
            what: kind.1,
            cells: errors.len(),
            fitted: without.len(),
            median: quantile(errors.clone(), 0.5).unwrap_or(f64::NAN),
            most: quantile(errors, 0.9).unwrap_or(f64::NAN),
            without: quantile(without, 0.5),
        }
    };
    let kinds = distinct(model.cells.iter().map(Asked::class));
    kinds.into_iter().map(line).collect()
}

fn errors(lines: &[Line]) -> Sheet {
    Sheet::of("errors", lines)
        .cell("kind", "kind", |line| line.kind)
        .cell("cells_of", "of", |line| line.what)
        .count("cells", "cells", |line| line.cells as u64)
        .count("fitted", "fitted", |line| line.fitted as u64)
        .number("median_percent", "median error, %", 1, |line| line.median)
        .number("left_out_percent", "left out, %", 1, |line| line.without)
        .number("p90_percent", "90th percentile, %", 1, |line| line.most)
        .into()
}

/// Errors in bars from which a cell is far off, and counts no more.
const FAR_BARS: f64 = 3.0;
/// How many of these are named.
const FAR_CELLS: usize = 5;
/// Above [`Calibrated::far_off`].
pub const FAR_OFF: &str = "Far off, the furthest first:";

/// The cells whose errors are largest.
fn far_off(model: &Model, cells: &[Cell]) -> Sheet {
    let with_error = model.cells.iter().zip(cells).map(|(asked, cell)| {
        let error = residual(asked, cell.simulated);
        (asked, cell, error)
    });
    let mut far: Vec<(&Asked, &Cell, f64)> = with_error
        .filter(|(asked, _, error)| !asked.question.class.is_given && error.abs() > FAR_BARS)
        .collect();
    far.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    far.truncate(FAR_CELLS);
    Sheet::of("far_off", &far)
        .cell("file", "file", |row| row.1.question.file.clone())
        .count("row", "row", |row| row.1.question.row)
        .cell("at", "at", |row| row.1.question.at.clone())
        .cell("column", "column", |row| row.1.question.column.clone())
        .number("measured", "measured", 2, |row| row.1.question.measured)
        .number("simulated", "simulated", 2, |row| row.1.simulated)
        .number("error_percent", "error, %", 1, |row| {
            100.0 * (row.1.simulated / row.1.question.measured - 1.0)
        })
        .into()
}

fn cells_sheet(model: &Model, cells: &[Cell]) -> Sheet {
    let rows: Vec<(&Asked, &Cell)> = model.cells.iter().zip(cells).collect();
    Sheet::of("cells", &rows)
        .cell("file", "file", |row| row.1.question.file.clone())
        .count("row", "row", |row| row.1.question.row)
        .cell("curve", "curve", |row| row.1.question.curve.clone())
        .cell("at", "at", |row| row.1.question.at.clone())
        .cell("column", "column", |row| row.1.question.column.clone())
        .number("measured", "measured", 2, |row| row.1.question.measured)
        .number("simulated", "simulated", 2, |row| row.1.simulated)
        .number("error_bars", "error, bars", 2, |row| {
            residual(row.0, row.1.simulated)
        })
        .cell("basis", "basis", |row| match row.0.weight > 0.0 {
            true => "fitted",
            false => "predicted",
        })
        .detail()
        .into()
}

fn left_out(left_out: &[LeftOut]) -> Sheet {
    Sheet::of("left_out", left_out)
        .cell("file", "file", |row| row.file.clone())
        .count("row", "row", |row| row.row)
        .cell("column", "column", |row| row.column.clone())
        .cell("reason", "reason", |row| row.reason)
        .detail()
        .into()
}
