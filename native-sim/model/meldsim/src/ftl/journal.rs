//! The journal of a set: changes of its mapping gather in DRAM, and are programmed by the page.
//!
//! In come changes; out go pages that are to be programmed. What is in DRAM is bounded: a host's write
//! waits while its change has no room. A page stays there until its program has ended.
//!
//! The journal lies among the host's data, on wordlines of its own. It takes space there until its superblock
//! is collected, and is not moved then: it is taken to be older than the map's last checkpoint.

use crate::profile::{Journaling, Profile};

/// Changes that are not on flash.
#[derive(Debug)]
pub(crate) struct Journal {
    /// It is written while the host is idle, too.
    in_background: bool,
    is_idle: bool,
    entries_per_page: u32,
    /// Pages of DRAM. Changes that cannot wait may take more.
    capacity: u32,
    /// Entries of the page that is not full.
    open: u32,
    /// Full pages that are not on their way to a die.
    full: u32,
    /// Pages on their way.
    writing: u32,
    /// Pages that have been handed over.
    written: u64,
}

impl Journal {
    /// The journal of one set, if its profile has any.
    pub(crate) fn new(profile: &Profile) -> Option<Journal> {
        let ftl = &profile.ftl;
        let in_background = match ftl.journal {
            Journaling::Off => return None,
            Journaling::OnDemand => false,
            Journaling::Background => true,
        };
        Some(Journal {
            in_background,
            is_idle: false,
            entries_per_page: (profile.mapping_unit().0 / ftl.journal_entry.0) as u32,
            capacity: profile.journal_pages(),
            open: 0,
            full: 0,
            writing: 0,
            written: 0,
        })
    }

    /// The host is idle or no longer. True when the journal is to be written for that.
    pub(crate) fn set_idle(&mut self, is_idle: bool) -> bool {
        self.is_idle = is_idle && self.in_background;
        self.is_idle
    }

    /// Changes that there is room for.
    #[inline]
    pub(crate) fn room(&self) -> u64 {
        let pages = self.capacity.saturating_sub(self.full + self.writing);
        let entries = u64::from(pages) * u64::from(self.entries_per_page);
        entries.saturating_sub(u64::from(self.open))
    }

    /// So many pages have new places.
    #[inline]
    pub(crate) fn record(&mut self, changes: u32) {
        let entries = self.open + changes;
        self.full += entries / self.entries_per_page;
        self.open = entries % self.entries_per_page;
    }

    /// Whether there is no room, and nothing on its way that would make any; or, in the background, so many pages as
    /// are programmed at once.
    #[inline]
    pub(crate) fn is_due(&self, at_once: u32) -> bool {
        match self.is_idle {
            true => self.full >= at_once,
            false => self.writing == 0 && self.full >= self.capacity,
        }
    }

    /// Hands over the full pages, and `with_open` the one that is not. Returns how many.
    pub(crate) fn take(&mut self, with_open: bool) -> u32 {
        let mut pages = std::mem::take(&mut self.full);
        if with_open && std::mem::take(&mut self.open) > 0 {
            pages += 1;
        }
        self.writing += pages;
        pages
    }

    /// The log of the next wordline: each in turn.
    pub(crate) fn next_log(&mut self, logs: u32) -> u32 {
        self.written += 1;
        (self.written % u64::from(logs)) as u32
    }

    /// The program of a page has ended.
    pub(crate) fn programmed(&mut self) {
        self.writing -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        Journal {
            in_background: false,
            is_idle: false,
            entries_per_page: 4,
            capacity: 2,
            open: 0,
            full: 0,
            writing: 0,
            written: 0,
        }
    }

    #[test]
    fn changes_fill_pages_and_a_program_makes_room() {
        let mut journal = journal();
        assert_eq!(journal.room(), 8);
        journal.record(7);
        assert_eq!((journal.room(), journal.is_due(2)), (1, false));
        journal.record(1);
        assert_eq!((journal.room(), journal.is_due(2)), (0, true));
        assert_eq!(journal.take(false), 2);
        assert_eq!((journal.room(), journal.is_due(2)), (0, false));
        journal.programmed();
        assert_eq!(journal.room(), 4);
    }

    #[test]
    fn an_idle_host_lets_pages_be_written_as_they_fill() {
        let mut journal = journal();
        assert!(!journal.set_idle(true), "only on demand");
        journal.in_background = true;
        journal.capacity = 9;
        journal.record(8);
        assert!(!journal.is_due(2));
        assert!(journal.set_idle(true) && journal.is_due(2));
        journal.take(true);
        journal.record(7);
        assert!(!journal.is_due(2));
        journal.record(1);
        assert!(journal.is_due(2));
        assert!(!journal.set_idle(false) && !journal.is_due(2));
    }

    #[test]
    fn changes_that_cannot_wait_are_written_with_the_next() {
        let mut journal = journal();
        journal.record(8);
        journal.take(false);
        journal.record(9);
        assert_eq!((journal.room(), journal.is_due(2)), (0, false));
        (0..2).for_each(|_| journal.programmed());
        assert!(journal.is_due(2));
        assert_eq!(journal.take(true), 3, "a page of one entry among them");
        assert_eq!(journal.take(true), 0);
    }
}
