//! What of a volume a trace touches, and how often: counted block by block, or from a sample of the blocks.

use std::collections::HashMap;

use serde::Serialize;

use super::record::{Extent, Op, Record};
use meldsim::engine::mix;
use meldsim_stats::percent_of;

/// Footprint and reuse are counted in blocks of so many bytes.
pub(super) const BLOCK_BYTES: u64 = 4096;
/// Blocks that are remembered; of more, a sample of so many.
const BLOCKS_MAX: usize = 1 << 17;
/// Of a request that far: no device takes a larger one.
const REQUEST_BYTES_MAX: u64 = 1 << 30;

/// What a trace touches, in blocks of 4 KiB.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Footprint {
    /// Bytes of what is read or written.
    pub bytes: u64,
    /// Bytes of what is read.
    pub read_bytes: u64,
    /// Bytes of what is written.
    pub written_bytes: u64,
    /// Where the farthest request ends: what a device must hold at least to have each address.
    pub end_bytes: u64,
    /// Whether the blocks were too many to be counted one by one, and a sample tells.
    pub is_estimate: bool,
    /// Accesses to a block, in the mean.
    pub accesses_per_block: f64,
    /// Accesses to blocks that were accessed before, in percent.
    pub reuse_percent: f64,
    /// Accesses to the hundredth of the blocks with most of them, in percent.
    pub hottest_1_percent: f64,
    /// The same of the tenth.
    pub hottest_10_percent: f64,
}

/// Accesses to blocks: all of them, or those of a sample by their hash, which halves whenever it gets too large (SHARDS,
/// FAST'15).
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// Reads and writes, by hash. Only looked up and summed, so that its order is never seen.
    accesses: HashMap<u64, [u32; 2]>,
    /// Only hashes that begin with so many zeros count.
    zeros: u32,
}

impl Blocks {
    pub(super) fn take(&mut self, record: &Record) {
        let extent = match record.extent {
            Extent::Volume => 0,
            Extent::Block(block) => mix(block ^ 0x5851_F42D_4C95_7F2D),
        };
        let seed = mix(record.volume as u64 ^ extent);
        let end = (record.offset + record.length.min(REQUEST_BYTES_MAX)).div_ceil(BLOCK_BYTES);
        for block in record.offset / BLOCK_BYTES..end {
            let hash = mix(seed ^ block);
            if hash.leading_zeros() < self.zeros {
                continue;
            }
            let accesses =
                &mut self.accesses.entry(hash).or_default()[usize::from(record.op == Op::Write)];
            *accesses = accesses.saturating_add(1);
        }
        while self.accesses.len() > BLOCKS_MAX {
            self.zeros += 1;
            let zeros = self.zeros;
            self.accesses
                .retain(|hash, _| hash.leading_zeros() >= zeros);
        }
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "counts are sorted, and sums have no order"
    )]
    pub(super) fn footprint(&self) -> Footprint {
        let all = self.accesses.values();
        let mut counts: Vec<u64> = all
            .map(|[reads, writes]| u64::from(*reads) + u64::from(*writes))
            .collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let sum = |counts: &[u64]| counts.iter().sum::<u64>();
        let accesses = sum(&counts);
        let touched = |is: fn(&[u32; 2]) -> bool| {
            let blocks = self
                .accesses
                .values()
                .filter(|accesses| is(accesses))
                .count() as u64;
            (blocks * BLOCK_BYTES) << self.zeros
        };
        let hottest =
            |divisor: usize| percent_of(sum(&counts[..counts.len().div_ceil(divisor)]), accesses);
        let blocks = counts.len() as u64;
        Footprint {
            bytes: touched(|_| true),
            read_bytes: touched(|[reads, _]| *reads > 0),
            written_bytes: touched(|[_, writes]| *writes > 0),
            end_bytes: 0,
            is_estimate: self.zeros > 0,
            accesses_per_block: if blocks > 0 {
                accesses as f64 / blocks as f64
            } else {
                0.0
            },
            reuse_percent: percent_of(accesses - blocks, accesses),
            hottest_1_percent: hottest(100),
            hottest_10_percent: hottest(10),
        }
    }
}
