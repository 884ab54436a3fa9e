//! What the cells tell: an interval for each parameter, from how the errors grow around the point, and the errors that the cells
//! would have had without a say in it.
//!
//! Both hold if what is assumed of the drive is so, and take it as linear in the logarithms near the point.

use super::linear::Symmetric;
use super::parameter::{Key, Load};
use super::search::Search;
use super::stages::Solved;

/// A parameter as the cells have it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) key: Key,
    pub(super) value: f64,
    /// 95 of 100 times it is within.
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) is_identifiable: bool,
    /// The parameter that can make up for it.
    pub(super) trades_with: Option<Key>,
}

impl Estimate {
    /// One that nothing makes up for: identifiable when there is no other value.
    fn untraded(key: Key, value: f64, (low, high): (f64, f64)) -> Estimate {
        Estimate {
            key,
            value,
            low,
            high,
            is_identifiable: low == high,
            trades_with: None,
        }
    }
}

/// A parameter is identifiable when its interval is within this share on both sides: it is within 5 % then, as far as a straight line tells.
const IDENTIFIABLE: f64 = 0.04;
/// Simulations of the same drive with other random numbers differ by so much, as a share: of reads alone, and where programs and
/// collection are.
const NOISE_OF_READS: f64 = 0.004;
const NOISE: f64 = 0.015;
/// Parameters whose errors go along so closely make up for each other.
const TRADE: f64 = 0.9;
/// Values that are chosen are alike when the error is no more than this above the least, as a share, or in squares of bars.
const ALIKE_SHARE: f64 = 0.25;
const ALIKE: f64 = 0.05;

/// The parameters, and for each cell its error without a say, in bars.
pub(super) fn identify(search: &Search<'_, '_>, solved: &Solved) -> (Vec<Estimate>, Vec<f64>) {
    let (free, slopes) = (&solved.free, &solved.slopes);
    let weights = search.weights(&slopes.residuals);
    let normal = Symmetric::normal(&slopes.rows, &weights, free.len());
    let inverse = normal.damped(0.0).inverse();
    let scatter = scatter(search, &slopes.rows, &slopes.residuals, &weights);
    let mut estimates = Vec::new();
    for (number, key) in free.iter().enumerate() {
        let variance = inverse.as_ref().map_or(f64::INFINITY, |inverse| {
            // Of the sandwich: the inverse on both sides of the scatter.
            pairs(free.len())
                .map(|(i, j)| inverse.at(number, i) * scatter.at(i, j) * inverse.at(j, number))
                .sum()
        });
        let half = 2.0 * libm::sqrt(variance.max(0.0));
        let place = search.place(*key).unwrap_or(0);
        let value = solved.point[place];
        let (least, most) = key.range();
        estimates.push(Estimate {
            key: *key,
            value,
            low: (value * libm::exp(-half)).max(least),
            high: (value * libm::exp(half)).min(most),
            is_identifiable: half <= IDENTIFIABLE,
            trades_with: inverse
                .as_ref()
                .and_then(|inverse| trade(inverse, free, number)),
        });
    }
    for key in &search.simulations.model.keys {
        if !key.options().is_empty() {
            estimates.push(chosen(search, solved, *key));
        } else if !free.contains(key) {
            estimates.push(Estimate::untraded(*key, 0.0, (0.0, 0.0)));
        }
    }
    estimates.sort_by_key(|estimate| estimate.key);
    let without = slopes.rows.iter().zip(&slopes.residuals).zip(&weights);
    let without = without.map(|((row, residual), weight)| {
        let leverage = inverse.as_ref().map_or(0.0, |inverse| {
            let sum = pairs(row.len()).map(|(i, j)| row[i] * inverse.at(i, j) * row[j]);
            weight * sum.sum::<f64>()
        });
        residual / (1.0 - leverage.clamp(0.0, 0.95))
    });
    (estimates, without.collect())
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (0..n).map(move |j| (i, j)))
}

/// How far the pull of the cells on the parameters scatters: the errors of a curve pull as one, and those of different curves apart
/// (the covariance of clustered errors, Liang and Zeger 1986); and every cell by what simulations of the same drive differ.
fn scatter(
    search: &Search<'_, '_>,
    rows: &[Vec<f64>],
    residuals: &[f64],
    weights: &[f64],
) -> Symmetric {
    let cells = &search.simulations.model.cells;
    let n = rows.first().map_or(0, Vec::len);
    /// Kind, curve and column.
    type Curve<'a> = (&'a str, &'a str, &'a str);
    let mut pulls: Vec<(Curve<'_>, Vec<f64>)> = Vec::new();
    let mut parts: Vec<Vec<f64>> = Vec::new();
    for (((cell, row), residual), weight) in cells.iter().zip(rows).zip(residuals).zip(weights) {
        if *weight == 0.0 {
            continue;
        }
        let question = &cell.question;
        let curve = (
            question.class.kind,
            question.curve.as_str(),
            question.column.as_str(),
        );
        let pull: Vec<f64> = row.iter().map(|slope| weight * slope).collect();
        let at = pulls.iter().position(|(known, _)| *known == curve);
        let at = at.unwrap_or_else(|| {
            pulls.push((curve, vec![0.0; n]));
            pulls.len() - 1
        });
        for (sum, pull) in pulls[at].1.iter_mut().zip(&pull) {
            *sum += pull * residual;
        }
        let noise = match cell.load {
            Load::Reads => NOISE_OF_READS,
            _ => NOISE,
        };
        parts.push(pull.iter().map(|pull| pull * noise / cell.bar).collect());
    }
    parts.extend(pulls.into_iter().map(|(_, pull)| pull));
    let ones = vec![1.0; parts.len()];
    Symmetric::normal(&parts, &ones, n)
}

fn trade(inverse: &Symmetric, free: &[Key], number: usize) -> Option<Key> {
    let correlation = |other: usize| {
        let scale = libm::sqrt(inverse.at(number, number) * inverse.at(other, other));
        (inverse.at(number, other) / scale.max(1e-300)).abs()
    };
    let others = (0..free.len()).filter(|other| *other != number);
    let most = others.max_by(|a, b| correlation(*a).total_cmp(&correlation(*b)))?;
    (correlation(most) >= TRADE).then(|| free[most])
}

/// A parameter that was chosen: identifiable when no other value comes near.
fn chosen(search: &Search<'_, '_>, solved: &Solved, key: Key) -> Estimate {
    let place = search.place(key).unwrap_or(0);
    let value = solved.point[place];
    let of_key = || solved.tried.iter().filter(|tried| tried.key == key);
    let errors = of_key().map(|tried| tried.error);
    let least = errors.fold(f64::INFINITY, f64::min);
    let alike = of_key().filter(|tried| tried.error <= least * (1.0 + ALIKE_SHARE) + ALIKE);
    let (low, high) = match of_key().next() {
        None => key.range(),
        Some(_) => alike.fold((value, value), |(low, high), tried| {
            (tried.value.min(low), tried.value.max(high))
        }),
    };
    Estimate::untraded(key, value, (low, high))
}
