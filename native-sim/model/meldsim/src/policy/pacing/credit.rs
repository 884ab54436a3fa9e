//! Host and collector take turns by stripes, and each waits for the other: the host when it has used up its credit, the
//! collector when it is some stripes ahead. What a page that is freed lets the host program follows the room, so that in
//! steady state a page is freed for each that is written:
//!
//! ```text
//!   room ---- end ~~~~~~~~~~~~ steady ~~~~~~~~~~~~ floor
//!             times 1 and more   times 1   and less, down to nothing
//! ```

use super::{Bounds, Logs, PAGE, Pacing, Standing};
use crate::policy::{Given, OptionError};

/// Stripes of a victim that the collector may be ahead of the host: as many as it reads at a time, twice.
const STRIPES_AHEAD: u64 = 4;
/// The most that a page that is freed lets the host program, in pages.
const MOST: u64 = 4;

#[derive(Debug)]
pub(super) struct Credit {
    floor: u64,
    steady: u64,
    pub(super) end: u64,
    most: u64,
}

pub(super) fn make(_: &mut Given<'_>, logs: &Logs) -> Result<Box<dyn Pacing>, OptionError> {
    Ok(Box::new(Credit::new(logs)))
}

impl Credit {
    pub(super) fn new(logs: &Logs) -> Credit {
        Credit {
            floor: logs.floor,
            steady: logs.least,
            end: logs.least + logs.superblock / 4,
            most: STRIPES_AHEAD * logs.stripe * PAGE,
        }
    }
}

impl Pacing for Credit {
    fn bounds(&self) -> Bounds {
        let end = self.end;
        Bounds { begin: end, end }
    }

    fn steady_room(&self) -> Option<u64> {
        Some(self.steady)
    }

    fn most_credit(&self) -> u64 {
        self.most
    }

    fn earned(&mut self, log: &Standing, freed: u64) -> u64 {
        let above = log.room.saturating_sub(self.floor) * PAGE;
        let ratio = (above / (self.steady - self.floor)).min(MOST * PAGE);
        freed * ratio / PAGE
    }
}
