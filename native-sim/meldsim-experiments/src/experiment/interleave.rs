//! `interleave-detection`: how many dies consecutive chunks lie on, found from outside.
//!
//! A reader with many requests outstanding reads every s-th chunk. Where s is a multiple of the
//! interleaving degree, all of them lie on one die, and throughput is at its least.

use super::burst::ExperimentError;
use super::claim::{Basis, Claim};
use super::contract::rules::CHUNK_BYTES;
use super::contract::subject::Subject;
use super::contract::{FLASH, SECTION, SOURCE};
use super::effort::Effort;
use super::outcome::{Chart, Figure, Grounds, Outcome};
use super::sheet::{Cell, Sheet};
use crate::load::Loop;
use crate::report::chart::{Axis, Line, LineChart};
use meldsim::nvme::Command;
use meldsim::profile::Profile;

/// Strides tried: twice as far as any degree to be found.
const STRIDES: u64 = 300;
/// Requests outstanding.
const DEPTH: u64 = 32;
/// A stride's throughput is at its least if it is within this of the least of all.
const NEAR: f64 = 0.1;
/// The published degrees.
const PUBLISHED: [u64; 2] = [7, 128];

/// Throughput by stride, from stride 1 on, in MB/s.
struct Scan {
    name: String,
    mb_s: Vec<f64>,
}

impl Scan {
    fn measure(
        subject: &Subject,
        requests: u64,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Scan, ExperimentError> {
        let (mut device, nsid) = subject.in_order()?;
        let lbas = CHUNK_BYTES / subject.lba_bytes();
        let chunks = Subject::SPAN_BYTES / CHUNK_BYTES;
        let mut mb_s = Vec::new();
        for stride in 1..=STRIDES {
            // Whole rounds, so that wrapping does not change the remainder of a chunk's number.
            let steps = chunks / stride;
            let reads = (0..).map(|n: u64| {
                let chunk = n % steps * stride;
                Command::read(nsid, chunk * lbas, lbas as u32, 0)
            });
            let tally = Loop::new(DEPTH, reads).measure_warm(&mut device, requests)?;
            mb_s.push(tally.mb_s());
            progress(stride as f64 / STRIDES as f64);
        }
        Ok(Scan {
            name: subject.profile.name.clone(),
            mb_s,
        })
    }

    /// The first stride with the least throughput, if twice that stride has it, too.
    fn degree(&self) -> Option<u64> {
        let least = self.mb_s.iter().copied().fold(f64::MAX, f64::min);
        let most = self.mb_s.iter().copied().fold(0.0, f64::max);
        let is_least = |stride: usize| {
            let rate = self.mb_s.get(stride - 1);
            rate.is_some_and(|&rate| rate <= least * (1.0 + NEAR))
        };
        // Without a dip there is nothing to find.
        let dips = least * (1.0 + NEAR) < most;
        let first = (1..=self.mb_s.len()).find(|&stride| is_least(stride))?;
        (dips && is_least(2 * first)).then_some(first as u64)
    }
}

/// Runs the experiment on `profile` and on flash.
pub(super) fn interleave_detection(
    profile: &Profile,
    effort: Effort,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let requests = match effort {
        Effort::Quick => 200,
        Effort::Full => 1000,
    };
    let mut scans = Vec::new();
    for subject in [profile.clone(), Profile::builtin(FLASH)?] {
        let done = scans.len() as f64 / 2.0;
        let mut part = |share: f64| progress(done + share / 2.0);
        scans.push(Scan::measure(
            &Subject { profile: subject },
            requests,
            &mut part,
        )?);
    }
    Ok(Outcome {
        experiment: "interleave-detection",
        profile: profile.name.clone(),
        about: format!(
            "4 KiB reads of every s-th chunk, {DEPTH} outstanding: throughput is least where s is a multiple of the dies that \
             consecutive chunks lie on. The profile is not looked at.{}",
            effort.note()
        ),
        grounds: Grounds {
            published: vec![format!(
                "{SOURCE}: dips at stride 7 on Optane and at 128 on flash"
            )],
            fitted: Vec::new(),
            assumed: vec!["the data was written once, in order".to_owned()],
        },
        sheets: vec![sheet(&scans)],
        figures: scans.iter().map(figure).collect(),
        claims: claims(&scans),
    })
}

fn sheet(scans: &[Scan]) -> Sheet {
    let mut sheet = Sheet::detail(
        "strides",
        &[
            ("stride", "stride"),
            ("optane_mb_s", "Optane MB/s"),
            ("flash_mb_s", "flash MB/s"),
        ],
    );
    for stride in 0..STRIDES as usize {
        let mut cells = vec![Cell::Count(stride as u64 + 1)];
        cells.extend(scans.iter().map(|scan| Cell::Number(scan.mb_s[stride], 0)));
        sheet.row(cells);
    }
    sheet
}

fn figure(scan: &Scan) -> Figure {
    let strides = scan.mb_s.iter().enumerate();
    let points = strides.map(|(index, rate)| (index as f64 + 1.0, *rate));
    let found = scan
        .degree()
        .map_or_else(|| "none".to_owned(), |degree| degree.to_string());
    Figure {
        chart: Chart::Line(LineChart {
            title: format!("Throughput of {} by stride", scan.name),
            x: Axis::linear("stride, chunks of 4 KiB"),
            y: Axis::linear("MB/s"),
            lines: vec![Line::new(&scan.name, points.collect())],
        }),
        caption: format!("The degree found: {found}."),
    }
}

fn claims(scans: &[Scan]) -> Vec<Claim> {
    let ids = ["interleave-detection.optane", "interleave-detection.flash"];
    let judged = scans.iter().zip(ids).zip(PUBLISHED);
    judged
        .map(|((scan, id), published)| {
            let degree = scan.degree();
            Claim {
                id,
                section: SECTION,
                basis: Basis::Published,
                statement: format!("the interleaving degree of {}, found by stride", scan.name),
                published: published.to_string(),
                measured: degree.map_or_else(|| "none".to_owned(), |degree| degree.to_string()),
                criterion: "they are the same".to_owned(),
                holds: degree == Some(published),
                command: "meldsim experiment interleave-detection".to_owned(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degree(mb_s: impl Fn(u64) -> f64) -> Option<u64> {
        let scan = Scan {
            name: "x".to_owned(),
            mb_s: (1..=40).map(mb_s).collect(),
        };
        scan.degree()
    }

    #[test]
    fn the_deepest_dip_that_repeats_is_the_degree() {
        let dips = |by: u64| move |stride: u64| if stride % by == 0 { 1.0 } else { 4.0 };
        assert_eq!(degree(dips(7)), Some(7));
        assert_eq!(degree(dips(16)), Some(16));
        // Half as deep at half the stride.
        let halves = |stride: u64| match stride {
            16 | 32 => 1.0,
            8 | 24 | 40 => 2.0,
            _ => 4.0,
        };
        assert_eq!(degree(halves), Some(16));
        assert_eq!(degree(|_| 3.0), None);
        assert_eq!(degree(|stride| if stride == 9 { 1.0 } else { 4.0 }), None);
    }
}
