//! `interleave-detection`: how many dies consecutive chunks lie on, found from outside.
//!
//! A reader with many requests outstanding reads every s-th chunk. Where s is a multiple of the
//! interleaving degree, all of them lie on one die, and throughput is at its least.

use super::contract::rules::{CHUNK_BYTES, DeviceUnderTest};
use super::contract::{FLASH, PAPER};
use crate::prelude::*;
use meldsim::nvme::Command;
use meldsim::profile::Profile;
use meldsim_host::Source;

pub(super) const INTERLEAVE_DETECTION: Experiment = Experiment {
    name: "interleave-detection",
    about: "How many dies consecutive chunks lie on, found from outside by strided reads",
    paper: PAPER,
    profile: "optane-900p",
    beside: Some(FLASH),
    options: Options::Scale,
    plan,
    ..Experiment::DEFAULT
};

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
    fn measure(profile: &Profile, requests: u64) -> Result<Scan> {
        let under_test = DeviceUnderTest {
            profile: profile.clone(),
        };
        let (mut device, nsid) = under_test.in_order()?;
        let lbas = CHUNK_BYTES / under_test.lba_bytes();
        let chunks = DeviceUnderTest::SPAN_BYTES / CHUNK_BYTES;
        let mut mb_s = Vec::new();
        for stride in 1..=STRIDES {
            // Whole rounds, so that wrapping does not change the remainder of a chunk's number.
            let steps = chunks / stride;
            let reads = (0..).map(|n: u64| {
                let chunk = n % steps * stride;
                Command::read(nsid, chunk * lbas, lbas as u32, 0)
            });
            let tally = Source::new(DEPTH, reads).measure_warm(&mut device, requests)?;
            mb_s.push(tally.mb_s());
        }
        Ok(Scan {
            name: profile.name.clone(),
            mb_s,
        })
    }

    fn chart(&self) -> LineChart {
        let strides = self.mb_s.iter().enumerate();
        let line = Line::over(&self.name, strides, |(index, rate)| {
            (index as f64 + 1.0, *rate)
        });
        let title = format!("Throughput of {} by stride", self.name);
        LineChart::linear(title, "stride, chunks of 4 KiB", "MB/s", [line])
    }

    fn degree_text(&self) -> String {
        let degree = self.degree();
        degree.map_or_else(|| "none".to_owned(), |degree| degree.to_string())
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

/// Scans the profile and flash.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let requests = run.scale.choose(200, 1000);
    let devices = [run.profile.clone(), run.beside()?];
    let scans = cells.each(devices, move |profile| Scan::measure(profile, requests));
    scans.then(|scans| {
        let strides: Vec<usize> = (0..STRIDES as usize).collect();
        let mb_s = |scan: usize| {
            let rates = scans.get(scan).map(|scan| scan.mb_s.clone());
            move |stride: &usize| rates.as_ref().and_then(|rates| rates.get(*stride).copied())
        };
        let sheet = Sheet::of("strides", &strides)
            .count("stride", "stride", |stride| *stride as u64 + 1)
            .number("optane_mb_s", "Optane MB/s", 0, mb_s(0))
            .number("flash_mb_s", "flash MB/s", 0, mb_s(1))
            .detail();
        let about = format!(
            "4 KiB reads of every s-th chunk, {DEPTH} outstanding: throughput is least where s is a multiple of the dies that \
             consecutive chunks lie on. The profile is not looked at."
        );
        let outcome = run
            .report(about)
            .published(format!("Wu, Arpaci-Dusseau, Arpaci-Dusseau: {PAPER}: dips at stride 7 on Optane and at 128 on flash"))
            .assumed("the data was written once, in order")
            .sheet(sheet)
            .claims(claims(&scans));
        Some(scans.iter().fold(outcome, |outcome, scan| {
            let caption = format!("The degree found: {}.", scan.degree_text());
            outcome.figure(scan.chart(), &caption)
        }))
    })
}

fn claims(scans: &[Scan]) -> impl Iterator<Item = Claim> {
    let ids = ["interleave-detection.optane", "interleave-detection.flash"];
    let expected = scans.iter().zip(ids).zip(PUBLISHED);
    expected.map(|((scan, id), published)| {
        Claim::input(
            id,
            "the number of dies is put in; the readers do not look at it",
        )
        .statement(format!(
            "the interleaving degree of {}, found by stride",
            scan.name
        ))
        .expected(published.to_string())
        .measured(scan.degree_text())
        .when(Bound::Digits, "they are the same")
        .holds(scan.degree() == Some(published))
    })
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
