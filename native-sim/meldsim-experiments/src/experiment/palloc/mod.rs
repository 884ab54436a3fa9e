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
mod show;

use super::burst::ExperimentError;
use super::effort::Effort;
use super::outcome::{Grounds, Outcome};
use cell::Cell;
use meldsim::profile::{PageAllocation, Profile};

const SECTION: u32 = 2;
const SOURCE: &str = "M. Jung, M. Kandemir: \"An Evaluation of Different Page Allocation Strategies on High-Speed SSDs\" (HotStorage'12)";
/// The published queue depth.
const DEPTH: u32 = 32;
/// Request sizes.
const SIZES: [u64; 7] = [
    4 << 10,
    8 << 10,
    16 << 10,
    32 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
];

/// What is simulated, and how much of it.
#[derive(Clone, Copy, Debug)]
struct Scale {
    sizes: &'static [u64],
    /// Pages that the requests of a cell move, about.
    pages: u64,
    /// Requests of a cell at least.
    requests: u64,
}

const FULL: Scale = Scale {
    sizes: &SIZES,
    pages: 24_000,
    requests: 400,
};

const QUICK: Scale = Scale {
    sizes: &[4 << 10, 16 << 10, 128 << 10],
    pages: 600,
    requests: 100,
};

/// Runs all schemes, sizes and directions.
pub(super) fn palloc(
    profile: &Profile,
    effort: Effort,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let scale = match effort {
        Effort::Quick => QUICK,
        Effort::Full => FULL,
    };
    let mut cells = Vec::new();
    let total = 2 * scale.sizes.len() * PageAllocation::ALL.len();
    for writes in [false, true] {
        for &request_bytes in scale.sizes {
            for scheme in PageAllocation::ALL {
                cells.push(Cell::measure(
                    profile,
                    scheme,
                    writes,
                    request_bytes,
                    scale,
                )?);
                progress(cells.len() as f64 / total as f64);
            }
        }
    }
    Ok(Outcome {
        experiment: "palloc",
        profile: profile.name.clone(),
        about: format!(
            "Random reads and writes of 4 to 256 KiB at queue depth {DEPTH}, placed by each of the 24 orders of channel, way, \
             die and plane.{}",
            effort.note()
        ),
        grounds: grounds(),
        sheets: show::sheets(&cells),
        figures: show::figures(&cells),
        claims: claims::claims(profile, &cells)?,
    })
}

fn grounds() -> Grounds {
    Grounds {
        published: vec![
            format!("{SOURCE}: 8 channels x 8 packages of two dies, a queue of 32, page-level mapping, greedy collection, a bus of 40 MB/s, and the five findings below"),
        ],
        fitted: Vec::new(),
        assumed: vec![
            "two planes, pages of 2 KiB and the times of an MLC part of that bus (see the profile): not published".to_owned(),
            "a channel works for one request at a time, in the order of arrival, and a package on one transaction, composed of that \
             request's pages: of the rules we tried, the one under which the findings on throughput hold for reads as well"
                .to_owned(),
            "latency is that of a request alone on the device: at a full queue Little's law makes it the inverse of the throughput, \
             and the two findings would contradict each other"
                .to_owned(),
            "random requests aligned to their size, all sizes and both directions weighted alike; the paper averages over its own workloads"
                .to_owned(),
            "writes go through to the flash, on a device without collection; idle is the mean share of time that a die does nothing".to_owned(),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::profile::Issue;

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
        let outcome = palloc(&profile(), Effort::Quick, &mut |_| {}).unwrap();
        assert_eq!(failing(&outcome), [""; 0]);
        assert_eq!(outcome.claims.len(), 6);
        // The bus is what limits reads when a channel may work for several requests at once.
        let mut pipelined = profile();
        pipelined.commands.issue = Issue::InOrder;
        let outcome = palloc(&pipelined, Effort::Quick, &mut |_| {}).unwrap();
        assert!(failing(&outcome).contains(&"palloc.throughput"));
    }
}
