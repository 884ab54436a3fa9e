//! When a log is collected, and which superblock is its next victim: one that holds nothing, or one that lags behind in wear,
//! or what the policy ranks first.

use super::super::blocks::Blocks;
use super::super::stream::Stream;
use crate::policy::victim::Candidate;
use crate::profile::{Gc, Profile};

/// A superblock must gain this share of its pages to be collected in the background, 1 in so many.
const BACKGROUND_GAIN: u32 = 10;
/// Of the superblocks that are likely to be collected next, one in so many is one that lags behind in wear.
const LAGGING_SHARE: usize = 32;

/// The superblock to collect next, and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) superblock: u32,
    pub(crate) in_background: bool,
    pub(crate) for_wear: bool,
}

impl Choice {
    /// With no superblock free, as after a power cut, the collector has what is left of the one that it fills: a victim that
    /// holds more would never be emptied. Then it is the one that holds least.
    pub(crate) fn that_fits(self, blocks: &Blocks) -> Choice {
        let chosen = blocks.get(self.superblock);
        let fits = chosen.valid <= blocks.left(Stream::Gc(0, chosen.layout));
        if blocks.free() > 0 || fits {
            return self;
        }
        let least = blocks.candidates().min_by_key(|other| other.valid);
        Choice {
            superblock: least.map_or(self.superblock, |least| least.number),
            ..self
        }
    }
}

/// Decides when logs are collected, and which superblocks.
#[derive(Debug)]
pub(crate) struct VictimSelection {
    /// Free superblocks at which collecting in the background ends.
    background_free: u32,
    /// The host is idle: superblocks are collected though enough are free.
    pub(crate) is_idle: bool,
    /// The host has been promised that nothing is collected, unless all would stop.
    pub(crate) is_deterministic: bool,
    /// Something had to be collected in a deterministic window.
    pub(crate) had_excursion: bool,
    /// Reused to rank candidates.
    ranked: Vec<Candidate>,
}

impl VictimSelection {
    pub(crate) fn new(profile: &Profile) -> VictimSelection {
        let gc: &Gc = &profile.gc;
        let superblocks = u64::from(profile.geometry.blocks_per_plane);
        let free = superblocks * u64::from(gc.background_free_percent) / 100;
        VictimSelection {
            background_free: free as u32,
            is_idle: false,
            is_deterministic: false,
            had_excursion: false,
            ranked: Vec::new(),
        }
    }

    /// Whether a log may not collect now. Where it has to in a deterministic window, the window
    /// ends.
    pub(crate) fn is_held_back(&mut self, blocks: &Blocks) -> bool {
        if !self.is_deterministic {
            return false;
        }
        if !blocks.is_at_reserve() {
            return true;
        }
        self.is_deterministic = false;
        self.had_excursion = true;
        false
    }

    /// The superblock of a log to collect next, if that is due. It is urgent when the host needs room.
    pub(crate) fn next(&mut self, blocks: &mut Blocks, is_urgent: bool) -> Option<Choice> {
        let in_background = !is_urgent && self.is_idle && blocks.free() < self.background_free;
        if !is_urgent && !in_background {
            return None;
        }
        let most_valid = match in_background {
            true => blocks.pages_per_superblock / BACKGROUND_GAIN * (BACKGROUND_GAIN - 1),
            false => blocks.pages_per_superblock,
        };
        let coldest = blocks.take_coldest();
        Some(Choice {
            superblock: coldest.or_else(|| self.choose(blocks, most_valid))?,
            in_background,
            for_wear: coldest.is_some(),
        })
    }

    /// The superblock of a log to collect next, of those with at most so many valid pages.
    pub(crate) fn choose(&mut self, blocks: &mut Blocks, most_valid: u32) -> Option<u32> {
        let empty = blocks.pop_empty();
        if empty.is_some() {
            return empty;
        }
        let is_map_full = blocks.is_map_full();
        let is_of_map = |candidate: &Candidate| {
            let stream = blocks.get(candidate.number).stream();
            stream.is_of_map()
        };
        self.rank(
            blocks,
            blocks
                .candidates()
                .filter(|found| is_of_map(found) == is_map_full),
            1,
        );
        if self.ranked.is_empty() {
            self.rank(blocks, blocks.candidates(), 1);
        }
        let first = self.ranked.first()?;
        (first.valid <= most_valid).then_some(first.number)
    }

    fn rank(&mut self, blocks: &Blocks, candidates: impl Iterator<Item = Candidate>, count: usize) {
        self.ranked.clear();
        self.ranked.extend(candidates);
        blocks.rank(&mut self.ranked, count);
    }

    /// The superblocks of a log, in the order in which they are likely to be collected.
    pub(crate) fn likely(&mut self, blocks: &Blocks) -> impl Iterator<Item = u32> {
        self.rank(blocks, blocks.candidates(), usize::MAX);
        blocks
            .lagging()
            .take(self.ranked.len() / LAGGING_SHARE)
            .chain(self.ranked.iter().map(|superblock| superblock.number))
    }
}
