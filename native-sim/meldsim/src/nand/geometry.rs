//! How much flash there is and how its pages are numbered.

use crate::profile::{PageAllocation, Profile};

/// Pages of a wordline at most (QLC).
pub(crate) const MAX_PAGES_PER_WORDLINE: usize = 4;

/// A parallel unit: one plane. `die * planes + plane`, where `die = channel * dies_per_channel +
/// way * dies_per_package + die of the package`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Unit(pub(crate) u32);

/// A physical wordline: the unit, and `block * wordlines_per_block + wordline of the block`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct WordlineAddr {
    pub(crate) unit: Unit,
    pub(crate) row: u32,
}

/// A physical page: superblock, wordline of the block, die, page of the wordline, in bit fields
/// from the top, so that taking it apart is shifts and masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ppa(pub(crate) u32);

/// A wordline of a superblock: a [`Ppa`] without its lowest field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Wordline(pub(crate) u32);

/// The geometry, ready for use. A *superblock* is one block of every die; it is what the FTL
/// opens, closes and erases.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub(crate) channels: u32,
    pub(crate) dies_per_channel: u32,
    /// Dies of a package, which is a way of its channel.
    pub(crate) dies_per_package: u32,
    /// Planes of a die.
    pub(crate) planes: u32,
    pub(crate) dies: u32,
    pub(crate) pages_per_wordline: u32,
    pub(crate) wordlines_per_block: u32,
    pub(crate) superblocks: u32,
    pub(crate) page_bytes: u64,
    page_bits: u32,
    die_bits: u32,
    wordline_bits: u32,
    /// The die that takes the n-th wordline of a stripe.
    stripe_order: Vec<u32>,
}

impl Geometry {
    pub(crate) fn new(profile: &Profile) -> Geometry {
        let geometry = &profile.geometry;
        let (channels, dies_per_channel) = (geometry.channels, geometry.dies_per_channel);
        let dies = channels * dies_per_channel;
        let pages_per_wordline = profile.timing.read.len() as u32;
        let die_of = |n: u32| match profile.ftl.page_allocation {
            PageAllocation::ChannelFirst => (n % channels) * dies_per_channel + n / channels,
            PageAllocation::WayFirst => n,
        };
        Geometry {
            channels,
            dies_per_channel,
            dies_per_package: geometry.dies_per_package,
            planes: geometry.planes_per_die,
            dies,
            pages_per_wordline,
            wordlines_per_block: geometry.wordlines_per_block,
            superblocks: geometry.planes_per_die * geometry.blocks_per_plane,
            page_bytes: geometry.page_size.0,
            page_bits: bits_for(pages_per_wordline),
            die_bits: bits_for(dies),
            wordline_bits: bits_for(geometry.wordlines_per_block),
            stripe_order: (0..dies).map(die_of).collect(),
        }
    }

    /// Bits that number the pages of a superblock: the profile may be an impossible one.
    pub(crate) fn superblock_bits(profile: &Profile) -> u32 {
        let geometry = &profile.geometry;
        bits_for(profile.timing.read.len() as u32)
            + bits_for(geometry.channels * geometry.dies_per_channel)
            + bits_for(geometry.wordlines_per_block)
    }

    pub(crate) fn wordlines_per_superblock(&self) -> u32 {
        self.dies * self.wordlines_per_block
    }

    pub(crate) fn pages_per_superblock(&self) -> u32 {
        self.wordlines_per_superblock() * self.pages_per_wordline
    }

    /// Pages of one wordline on every die.
    pub(crate) fn pages_per_stripe(&self) -> u32 {
        self.dies * self.pages_per_wordline
    }

    /// The `n`-th wordline of a superblock, in the order in which they are filled.
    #[inline]
    pub(crate) fn wordline_at(&self, superblock: u32, n: u32) -> Wordline {
        let (wordline, position) = (n / self.dies, n % self.dies);
        let die = self.stripe_order[position as usize];
        Wordline((((superblock << self.wordline_bits) | wordline) << self.die_bits) | die)
    }

    pub(crate) fn has(&self, unit: Unit) -> bool {
        unit.0 < self.dies * self.planes
    }

    /// The die's plane and the plane's block that belong to a superblock.
    #[inline]
    pub(crate) fn block_of(&self, die: u32, superblock: u32) -> (Unit, u32) {
        if self.planes == 1 {
            return (Unit(die), superblock);
        }
        let plane = superblock % self.planes;
        (Unit(die * self.planes + plane), superblock / self.planes)
    }

    /// Where a wordline of a superblock lies.
    #[inline]
    pub(crate) fn locate(&self, wordline: Wordline) -> WordlineAddr {
        let (unit, block) = self.block_of(self.die(wordline), self.superblock(wordline));
        WordlineAddr {
            unit,
            row: block * self.wordlines_per_block + self.wordline_in_block(wordline),
        }
    }

    /// The wordline of a superblock that lies there.
    #[inline]
    pub(crate) fn wordline(&self, at: WordlineAddr) -> Wordline {
        let (die, plane) = (at.unit.0 / self.planes, at.unit.0 % self.planes);
        let block = at.row / self.wordlines_per_block;
        let superblock = block * self.planes + plane;
        let row = (superblock << self.wordline_bits) | (at.row % self.wordlines_per_block);
        Wordline((row << self.die_bits) | die)
    }

    #[inline]
    pub(crate) fn page(&self, wordline: Wordline, page: u32) -> Ppa {
        Ppa((wordline.0 << self.page_bits) | page)
    }

    #[inline]
    pub(crate) fn wordline_of(&self, ppa: Ppa) -> (Wordline, u32) {
        (
            Wordline(ppa.0 >> self.page_bits),
            ppa.0 & mask(self.page_bits),
        )
    }

    #[inline]
    pub(crate) fn die(&self, wordline: Wordline) -> u32 {
        wordline.0 & mask(self.die_bits)
    }

    #[inline]
    pub(crate) fn superblock(&self, wordline: Wordline) -> u32 {
        wordline.0 >> (self.die_bits + self.wordline_bits)
    }

    /// The wordline's number within its block.
    pub(crate) fn wordline_in_block(&self, wordline: Wordline) -> u32 {
        (wordline.0 >> self.die_bits) & mask(self.wordline_bits)
    }

    /// A dense number of the page within its superblock, for tables.
    #[inline]
    pub(crate) fn index_in_superblock(&self, ppa: Ppa) -> usize {
        let (wordline, page) = self.wordline_of(ppa);
        let row = self.wordline_in_block(wordline) * self.dies + self.die(wordline);
        (row * self.pages_per_wordline + page) as usize
    }
}

const fn mask(bits: u32) -> u32 {
    (1u32 << bits) - 1
}

/// Bits to number `count` things.
const fn bits_for(count: u32) -> u32 {
    32 - count.saturating_sub(1).leading_zeros()
}
