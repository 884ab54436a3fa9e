//! `palloc`: the 24 page allocations of Jung and Kandemir (HotStorage'12).
//!
//! Random requests of one size in a closed loop, placed statically by the logical page in each of the 24 orders of
//! channel, way, die and plane. The order decides which requests meet on a channel, and which pages of a request can
//! share a transaction of a package:
//!
//! ```text
//!   one request of four pages     channel-first   c0 |-|  c1 |-|  c2 |-|  c3 |-|     four channels busy with it
//!                                 way-first       c0 |-|-|-|-|                       one channel, packages in a pipeline
//!                                 die-first       c0 |====|                          one channel, one transaction
//! ```

mod cell;
mod claims;
mod figures;
mod sheets;

use self::cell::{Cell, order, planes};
use crate::prelude::*;
use meldsim::Duration;
use meldsim::profile::{ByteSize, Dimension, Issue, PageAllocation, Profile, TransferRate};

pub(crate) use self::claims::RULES;

pub(super) const PALLOC: Experiment = Experiment {
    name: "palloc",
    about: "The 24 page allocations: throughput, latency, utilisation, advanced commands",
    paper: PAPER,
    profile: "palloc-mlc-8x8x2",
    options: Options::Scale,
    plan,
    ..Experiment::DEFAULT
};

const PAPER: &str =
    "\"An Evaluation of Different Page Allocation Strategies on High-Speed SSDs\" (HotStorage'12)";
/// The published queue depth.
const DEPTH: u32 = 32;

/// The schemes by the dimension that varies fastest.
const GROUPS: [(Dimension, &str); 4] = [
    (Dimension::Channel, "channel-first"),
    (Dimension::Way, "way-first"),
    (Dimension::Die, "die-first"),
    (Dimension::Plane, "plane-first"),
];

/// What is simulated, and how much of it.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// Request sizes.
    sizes_kib: &'static [u64],
    /// Pages that the requests of a cell move, about.
    pages: u64,
    /// Requests of a cell at least.
    requests: u64,
}

const FULL: Extent = Extent {
    sizes_kib: &[4, 8, 16, 32, 64, 128, 256],
    pages: 24_000,
    requests: 400,
};

const QUICK: Extent = Extent {
    sizes_kib: &[4, 16, 128],
    pages: 600,
    requests: 100,
};

/// For the comparison of variants.
const SHORT: Extent = Extent {
    pages: 3_000,
    requests: 100,
    ..FULL
};

/// A variant of the device: its name, and what differs.
type Variant = (&'static str, fn(&mut Profile));

const VARIANTS: [Variant; 6] = [
    ("as above", |_| ()),
    ("issue out of order", |profile| {
        profile.commands.issue = Issue::OutOfOrder;
    }),
    ("issue in order", |profile| {
        profile.commands.issue = Issue::InOrder;
    }),
    ("pages of one latency", |profile| {
        profile.timing.read = vec![Duration::from_us(60); 2];
        profile.timing.program_pages = Some(vec![Duration::from_us(800); 2]);
    }),
    ("a bus of 400 MT/s", |profile| {
        profile.bus.rate = TransferRate(400);
    }),
    (COLLECTING, |profile| {
        profile.geometry.blocks_per_plane = SMALL_BLOCKS;
        profile.controller.capacity = ByteSize(0);
    }),
];
/// The variant whose device is full and has been overwritten at random.
const COLLECTING: &str = "full, greedy collection";
const SMALL_BLOCKS: u32 = 24;

/// Simulates all schemes, sizes and directions.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let extent = run.scale.choose(QUICK, FULL);
    let profile = &run.profile;
    let mut all = Vec::new();
    for writes in [false, true] {
        for &kib in extent.sizes_kib {
            all.extend(PageAllocation::ALL.map(|scheme| (scheme, writes, kib << 10)));
        }
    }
    // A quick look is at the device alone.
    let variants = run.scale.choose(&[][..], &VARIANTS[..]);
    let of_variants = variants.iter().map(|(name, change)| {
        let mut variant = profile.clone();
        change(&mut variant);
        let is_full = *name == COLLECTING;
        let measured = cells.each(all.clone(), move |&(scheme, writes, size)| {
            Cell::measure(&variant, scheme, writes, size, SHORT, is_full)
        });
        (*name, measured)
    });
    let of_variants: Vec<_> = of_variants.collect();
    let measured = cells.each(all, move |&(scheme, writes, size)| {
        Cell::measure(profile, scheme, writes, size, extent, false)
    });
    let orders = cells.each(PageAllocation::ALL, |scheme| order(profile, *scheme));
    Ok(Box::new(move || {
        let cells = measured.take()?;
        let variants = of_variants
            .into_iter()
            .map(|(name, cells)| Some((name, cells.take()?)));
        let variants: Vec<(&str, Vec<Cell>)> = variants.collect::<Option<_>>()?;
        let claims = claims::claims(&cells, &orders.take()?, planes(profile));
        let outcome = outcome(run, &cells).sheet(sheets::variants(&variants));
        Some(figures::figures(outcome, &cells).claims(claims))
    }))
}

fn outcome(run: &Run, cells: &[Cell]) -> Outcome {
    let about = format!(
        "Random reads and writes of 4 to 256 KiB at queue depth {DEPTH}, placed by each of the 24 orders of channel, way, \
         die and plane."
    );
    run.report(about)
        .published(format!("M. Jung, M. Kandemir: {PAPER}: 8 channels x 8 packages of two dies, a queue of 32, page-level mapping, greedy collection, a bus of 40 MB/s, and the five findings below"))
        .assumed("two planes, pages of 2 KiB and the times of an MLC part of that bus, which differ by page (see the profile): not published")
        .fitted(
            "the rule of issue: a channel serves one request at a time, in order of arrival; a package runs one transaction, made of that request's \
             pages. Of three rules the findings on throughput hold under this one; sheet variants shows the others",
        )
        .assumed(
            "latency is that of a request alone on the device. At a full queue it is the inverse of the throughput (Little's law), \
             and the two findings would contradict each other",
        )
        .assumed("requests are random and aligned to their size; all sizes and both directions count alike. The paper averages over its own workloads, which are not public")
        .assumed("a write completes when it is on flash; the device has nothing to collect; sheet variants has one that collects. Idle: the mean share of time in which a die does nothing")
        .sheet(sheets::groups(cells))
        .sheet(sheets::schemes(cells))
        .sheet(sheets::all(cells))
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim_host::all_cores;
    use meldsim_measured::Scale;

    fn quick(profile: Profile) -> Outcome {
        let mut run = Run::new(&PALLOC, profile).unwrap();
        run.scale = Scale::Quick;
        run.outcome(all_cores(), &|_| {}).unwrap()
    }

    fn failing(outcome: &Outcome) -> Vec<&'static str> {
        let claims = outcome.claims.iter().filter(|claim| !claim.holds);
        claims.map(|claim| claim.id).collect()
    }

    fn profile() -> Profile {
        let mut profile = Profile::builtin("palloc-mlc-8x8x2").unwrap();
        profile.geometry.blocks_per_plane = 24;
        profile
    }

    #[test]
    fn the_orderings_hold_and_rest_on_the_order_of_issue() {
        let outcome = quick(profile());
        assert_eq!(failing(&outcome), [""; 0]);
        assert_eq!(outcome.claims.len(), 6);
        // The bus is what limits reads when a channel may work for several requests at once.
        let mut pipelined = profile();
        pipelined.commands.issue = Issue::InOrder;
        let outcome = quick(pipelined);
        assert!(failing(&outcome).contains(&"palloc.throughput"));
    }
}
