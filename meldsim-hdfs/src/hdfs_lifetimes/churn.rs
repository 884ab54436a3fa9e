//! What a DataNode's volume sees of a cluster: blocks that are written, and deleted again.
//!
//! Files belong to families: the files of one directory or table, which live alike. Every number here is assumed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use meldsim::engine::Random;

pub(super) const HOUR_S: f64 = 3600.0;
const DAY_S: f64 = 24.0 * HOUR_S;

/// Families that are alike.
pub(super) struct Kind {
    /// What they are.
    pub(super) name: &'static str,
    /// Percent of the bytes written.
    pub(super) share: f64,
    /// Median of their medians, in seconds.
    life_s: f64,
    /// Deviation of the logarithm of a family's median.
    between: f64,
    /// Deviation of the logarithm of a file's life in its family.
    within: f64,
    /// Whether the path alone says that its files are short-lived: `_temporary`, `.staging`, a shuffle's folder.
    pub(super) is_scratch: bool,
}

/// With half a drive write a day they take four fifths of the device, which the mean life of 1.6 days then follows from.
#[rustfmt::skip]
pub(super) const KINDS: [Kind; 7] = [
    Kind { name: "job files and failed attempts", share: 15.0, life_s: HOUR_S / 6.0, between: 0.7, within: 1.0, is_scratch: true },
    Kind { name: "shuffle and checkpoints", share: 30.8, life_s: HOUR_S, between: 0.7, within: 1.0, is_scratch: true },
    Kind { name: "intermediate tables", share: 30.0, life_s: 12.0 * HOUR_S, between: 0.7, within: 0.7, is_scratch: false },
    Kind { name: "partitions kept for days", share: 18.0, life_s: 3.0 * DAY_S, between: 0.2, within: 0.05, is_scratch: false },
    Kind { name: "partitions kept for a week", share: 5.0, life_s: 7.0 * DAY_S, between: 0.2, within: 0.05, is_scratch: false },
    Kind { name: "partitions kept for a month", share: 1.0, life_s: 30.0 * DAY_S, between: 0.2, within: 0.05, is_scratch: false },
    Kind { name: "what is kept", share: 0.2, life_s: 120.0 * DAY_S, between: 0.2, within: 0.7, is_scratch: false },
];

/// Families of each kind.
const FAMILIES_OF_KIND: usize = 8;

/// Mean blocks of a file.
const FILE_BLOCKS: u64 = 8;

/// Files that are written at once.
const WRITERS: usize = 16;

/// A file that is being written.
struct Writer {
    family: usize,
    blocks_left: u64,
    life_s: f64,
}

/// A block that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    /// Its family: an index of [`Churn::kind_of`].
    pub(super) family: usize,
    /// How long it will live, in seconds.
    pub(super) life_s: f64,
}

/// The cluster.
pub(super) struct Churn {
    random: Random,
    /// The median life of each family.
    medians_s: Vec<f64>,
    writers: Vec<Writer>,
    deaths: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Churn {
    pub(super) fn new(seed: u64) -> Churn {
        let mut random = Random::new(seed);
        let families = KINDS.iter().flat_map(|kind| [kind; FAMILIES_OF_KIND]);
        let medians_s = families.map(|kind| kind.life_s * lognormal(&mut random, kind.between));
        let medians_s = medians_s.collect();
        let mut churn = Churn {
            random,
            medians_s,
            writers: Vec::new(),
            deaths: BinaryHeap::new(),
        };
        churn.writers = (0..WRITERS).map(|_| churn.file()).collect();
        churn
    }

    /// The kind of a family.
    pub(super) fn kind_of(family: usize) -> &'static Kind {
        &KINDS[family / FAMILIES_OF_KIND]
    }

    pub(super) fn families() -> usize {
        KINDS.len() * FAMILIES_OF_KIND
    }

    pub(super) fn writers(&self) -> usize {
        self.writers.len()
    }

    fn file(&mut self) -> Writer {
        let mut ticket = self.random.unit() * KINDS.iter().map(|kind| kind.share).sum::<f64>();
        let kind = KINDS.iter().position(|kind| {
            ticket -= kind.share;
            ticket < 0.0
        });
        let kind = kind.unwrap_or(KINDS.len() - 1);
        let of_kind = self.random.below(FAMILIES_OF_KIND as u64) as usize;
        let family = kind * FAMILIES_OF_KIND + of_kind;
        let life_s = self.medians_s[family] * lognormal(&mut self.random, KINDS[kind].within);
        Writer {
            family,
            blocks_left: 1 + self.random.below(2 * FILE_BLOCKS - 1),
            life_s,
        }
    }

    /// The next block of a writer, of its file or of the next one.
    pub(super) fn begin(&mut self, writer: usize) -> Begun {
        if self.writers[writer].blocks_left == 0 {
            self.writers[writer] = self.file();
        }
        let file = &mut self.writers[writer];
        file.blocks_left -= 1;
        Begun {
            family: file.family,
            life_s: file.life_s,
        }
    }

    /// A block ends at a time in seconds.
    pub(super) fn dies(&mut self, at_s: f64, block: u32) {
        self.deaths.push(Reverse((at_s as u64, block)));
    }

    /// The next block that is deleted by now.
    pub(super) fn next_death(&mut self, now_s: f64) -> Option<u32> {
        let Reverse((at_s, _)) = *self.deaths.peek()?;
        if at_s as f64 > now_s {
            return None;
        }
        self.deaths.pop().map(|Reverse((_, block))| block)
    }
}

/// With median 1.
fn lognormal(random: &mut Random, deviation: f64) -> f64 {
    libm::exp(deviation * random.normal())
}
