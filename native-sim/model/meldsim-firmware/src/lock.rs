//! The index lock: the ranges of logical pages that commands hold, and the commands that wait for one.

use std::collections::BTreeMap;

use meldsim::policy::firmware::Pages;

use super::command::{Commands, NIL};

/// The key of a locked range: its volume and its first page.
type Start = (u32, u64);

/// A locked range, and the commands that wait for it: a list through their `next_waiter`.
#[derive(Clone, Copy, Debug)]
struct Held {
    end: u64,
    first: u32,
    last: u32,
}

/// Locked ranges of pages, in a tree ordered by their first page. Ranges never overlap: a command whose
/// range does waits for the one that is locked, in the order of asking.
#[derive(Debug, Default)]
pub(super) struct IndexLock {
    held: BTreeMap<Start, Held>,
}

impl IndexLock {
    /// Locks the pages of a command. False when it has to wait for a range.
    #[inline]
    pub(super) fn acquire(&mut self, commands: &mut Commands, request: u32) -> bool {
        let pages = commands[request].fetched.pages;
        // Only the last that begins before the end can overlap: the others end before it begins.
        let before = self.held.range_mut(..(pages.volume, pages.end)).next_back();
        if let Some((&(volume, _), held)) = before {
            if volume == pages.volume && held.end > pages.first {
                commands[request].next_waiter = NIL;
                match std::mem::replace(&mut held.last, request) {
                    NIL => held.first = request,
                    last => commands[last].next_waiter = request,
                }
                return false;
            }
        }
        let held = Held {
            end: pages.end,
            first: NIL,
            last: NIL,
        };
        self.held.insert((pages.volume, pages.first), held);
        true
    }

    /// Unlocks the pages. Returns the first command that waits for them, or [`NIL`].
    #[inline]
    pub(super) fn release(&mut self, pages: &Pages) -> u32 {
        let held = self.held.remove(&(pages.volume, pages.first));
        debug_assert!(held.is_some_and(|held| held.end == pages.end));
        held.map_or(NIL, |held| held.first)
    }
}

#[cfg(test)]
impl IndexLock {
    /// Ranges locked now.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }
}
