//! A rate at which writes enter the write buffer: each waits for those before it.

use crate::engine::{Duration, Instant};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
pub(super) struct Entry {
    /// Pages that may enter before their time.
    ahead: u64,
    /// When the next page may enter, but for those.
    next: Instant,
}

impl Entry {
    pub(super) fn new(given: &mut Given<'_>) -> Result<Entry, OptionError> {
        Ok(Entry {
            ahead: given.number("ahead", 0, 0..=1 << 20)?,
            next: Instant::START,
        })
    }

    /// When a write of so many pages may enter, if that is not now, at one page in an interval; None: as they come. Else it has
    /// entered.
    pub(super) fn enters(
        &mut self,
        interval: Option<Duration>,
        pages: u64,
        now: Instant,
    ) -> Option<Instant> {
        self.next = self.next.max(now);
        let Some(interval) = interval else {
            self.next = now;
            return None;
        };
        let ahead = (interval * self.ahead).as_ps();
        let at = Instant::from_ps(self.next.as_ps().saturating_sub(ahead));
        if at > now {
            return Some(at);
        }
        self.next += interval * pages;
        None
    }
}
