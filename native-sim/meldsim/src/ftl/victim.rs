//! When a lane is collected, and which group is its next victim.

use super::layer::Ftl;
use super::policy::{Candidate, VictimPolicy};
use crate::profile::{Gc, Profile, WearLevelling};

/// A group must gain this share of its pages to be collected in the background, 1 in so many.
const BACKGROUND_GAIN: u32 = 10;
/// A victim that is not in the batch must have this many times fewer valid pages than the best that
/// is, to be worth a new batch.
const WORTH_A_BATCH: u32 = 2;

/// What the profile says of garbage collection, and what it is told meanwhile.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) policy: VictimPolicy,
    /// Rows that are valid throughout are copied inside their planes.
    pub(super) copyback: bool,
    /// Erases by which a group may lag behind; `None` for ever.
    pub(super) threshold: Option<u32>,
    /// Free groups at which collecting in the background ends.
    background_free: u32,
    /// The host is idle: groups are collected though enough are free.
    is_idle: bool,
    /// The host has been promised that nothing is collected, unless all would stop.
    is_deterministic: bool,
    had_excursion: bool,
    /// Reused to rank candidates.
    ranked: Vec<Candidate>,
}

impl Settings {
    pub(super) fn new(profile: &Profile) -> Settings {
        let gc: &Gc = &profile.gc;
        let groups = u64::from(profile.geometry.blocks_per_plane);
        let free = groups * u64::from(gc.background_free_percent) / 100;
        Settings {
            policy: VictimPolicy::new(gc),
            copyback: profile.commands.copyback,
            threshold: (gc.wear_levelling == WearLevelling::Static).then_some(gc.wear_threshold),
            background_free: free as u32,
            is_idle: false,
            is_deterministic: false,
            had_excursion: false,
            ranked: Vec::new(),
        }
    }
}

impl Ftl {
    /// The host is idle or no longer: whether groups are collected in the background.
    pub(crate) fn set_idle(&mut self, is_idle: bool) {
        if self.gc.is_idle != is_idle {
            self.gc.is_idle = is_idle;
            self.stir_all();
        }
    }

    /// In a deterministic window nothing is collected as long as the host can go on without.
    pub(crate) fn set_deterministic(&mut self, is_deterministic: bool) {
        self.gc.is_deterministic = is_deterministic;
        self.stir_all();
    }

    /// Whether something had to be collected in a deterministic window, since this was last asked.
    pub(crate) fn take_excursion(&mut self) -> bool {
        std::mem::take(&mut self.gc.had_excursion)
    }

    fn stir_all(&mut self) {
        for lane in 0..self.numbering.lanes {
            self.stir(lane);
        }
    }

    /// Whether a lane may not collect now. Where it has to in a deterministic window, the window
    /// ends.
    pub(super) fn is_held_back(&mut self, lane: u32) -> bool {
        if !self.gc.is_deterministic {
            return false;
        }
        if !self.lanes[lane as usize].blocks.is_at_reserve() {
            return true;
        }
        self.gc.is_deterministic = false;
        self.gc.had_excursion = true;
        false
    }

    /// The group to collect next, if that is due.
    pub(super) fn next_victim(&mut self, lane: u32) -> Option<u32> {
        let blocks = &self.lanes[lane as usize].blocks;
        let is_urgent = blocks.is_low();
        let in_background =
            !is_urgent && self.gc.is_idle && blocks.free() < self.gc.background_free;
        if !is_urgent && !in_background {
            return None;
        }
        let most_valid = match in_background {
            true => self.numbering.pages_per_group / BACKGROUND_GAIN * (BACKGROUND_GAIN - 1),
            false => self.numbering.pages_per_group,
        };
        let group = match self.coldest(lane) {
            Some(group) => group,
            None => self.choose_victim(lane, most_valid)?,
        };
        self.stats.collections += 1;
        self.stats.background_collections += u64::from(in_background);
        Some(group)
    }

    /// The group that lags behind in wear so far that its data has to move.
    fn coldest(&mut self, lane: u32) -> Option<u32> {
        let threshold = self.gc.threshold?;
        let log = &mut self.lanes[lane as usize];
        // Every other time at most, so that free groups grow in number all the same.
        if std::mem::replace(&mut log.collector.has_levelled, false) {
            return None;
        }
        let group = log.blocks.coldest(threshold)?;
        log.collector.has_levelled = true;
        log.blocks.is_levelling = true;
        self.stats.levelling_collections += 1;
        Some(group)
    }

    /// The group to collect next, of those with at most so many valid pages.
    pub(super) fn choose_victim(&mut self, lane: u32, most_valid: u32) -> Option<u32> {
        let log = &mut self.lanes[lane as usize];
        if let Some(group) = log.blocks.pop_empty() {
            return Some(group);
        }
        let (pages, now) = (self.numbering.pages_per_group, log.blocks.clock());
        let Settings { policy, ranked, .. } = &mut self.gc;
        ranked.clear();
        ranked.extend(log.blocks.candidates());
        policy.select(ranked, 1, pages, now);
        let best = *ranked.first()?;
        ranked.clear();
        let inverted = |candidate: &Candidate| log.blocks.get(candidate.group).is_inverted;
        ranked.extend(log.blocks.candidates().filter(inverted));
        policy.select(ranked, 1, pages, now);
        let chosen = match ranked.first() {
            Some(batched) if batched.valid < best.valid.saturating_mul(WORTH_A_BATCH) => *batched,
            _ => best,
        };
        (chosen.valid <= most_valid).then_some(chosen.group)
    }
}
