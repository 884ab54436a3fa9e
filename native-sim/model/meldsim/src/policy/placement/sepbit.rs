//! SepBIT (Wang and others, FAST 2022): pages that will be overwritten at about the same time go together.
//!
//! A write is taken to live as long as the data that it overwrites did. When that was shorter than superblocks of short-lived
//! data live on average, it goes to those. What is moved out of them goes together; all else that is moved is told apart by
//! its age, in multiples of that average.

use std::collections::HashMap;

use super::{Frontier, Page, Placement, Shape};
use crate::policy::{Given, OptionError};

/// Superblocks of short-lived data that the average is taken of.
const AVERAGED: u64 = 16;
/// What is moved of other data is told apart at these ages, in averages.
const AGES: [u64; 2] = [4, 16];

/// The host's frontiers.
const LONG: u8 = 0;
const SHORT: u8 = 1;
/// Collection's first frontier is of what was short-lived; then those of the ages.
const ONCE_SHORT: u8 = 0;

#[derive(Debug)]
struct SepBit {
    /// Pages that the host has written: the time.
    now: u64,
    /// When each page was written last.
    written: HashMap<Page, u64>,
    /// When each superblock was opened.
    opened: Vec<u64>,
    /// How long superblocks of short-lived data live; for ever, until one has been collected.
    average: u64,
    /// What they lived that have been collected since it was taken, and how many those were.
    lived: u64,
    collected: u64,
}

pub(super) fn make(_: &mut Given<'_>, log: &Shape) -> Result<Box<dyn Placement>, OptionError> {
    Ok(Box::new(SepBit {
        now: 0,
        written: HashMap::new(),
        opened: vec![0; log.superblocks as usize],
        average: u64::MAX,
        lived: 0,
        collected: 0,
    }))
}

impl Placement for SepBit {
    fn moved(&self) -> u8 {
        ONCE_SHORT + 2 + AGES.len() as u8
    }

    fn of_write(&mut self, page: Page, _: u8) -> u8 {
        self.now += 1;
        let before = self.written.insert(page, self.now);
        match before {
            Some(before) if self.now - before < self.average => SHORT,
            _ => LONG,
        }
    }

    fn of_move(&mut self, page: Page, from: Frontier) -> u8 {
        if from == Frontier::Host(SHORT) {
            return ONCE_SHORT;
        }
        let written = self.written.get(&page).copied().unwrap_or(0);
        let age = (self.now - written) / self.average;
        let older = AGES.iter().filter(|&&limit| age >= limit).count();
        ONCE_SHORT + 1 + older as u8
    }

    fn opened(&mut self, superblock: u32, _: Frontier) {
        self.opened[superblock as usize] = self.now;
    }

    fn collected(&mut self, superblock: u32, written_at: Frontier) {
        if written_at != Frontier::Host(SHORT) {
            return;
        }
        self.lived += self.now - self.opened[superblock as usize];
        self.collected += 1;
        if self.collected == AVERAGED {
            self.average = (self.lived / AVERAGED).max(1);
            (self.lived, self.collected) = (0, 0);
        }
    }
}
