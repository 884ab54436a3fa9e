//! The index lock: which logical pages a command is at work on, and who waits for whom.

use std::collections::BTreeMap;

use super::arrival::Pages;
use crate::engine::NIL;

/// The key of a locked range: its volume and its first page.
type Start = (u32, u64);

#[derive(Clone, Copy, Debug)]
struct Held {
    end: u64,
    owner: u32,
}

/// The commands that wait for an owner, as a list through [`Links::next`].
#[derive(Clone, Copy, Debug)]
struct Links {
    first: u32,
    last: u32,
    next: u32,
}

impl Links {
    const NONE: Links = Links {
        first: NIL,
        last: NIL,
        next: NIL,
    };
}

/// Locked ranges of pages, in a tree ordered by their first page. Ranges never overlap: who asks for
/// one that does is told its owner, and waits for it in the order of asking.
#[derive(Debug, Default)]
pub(super) struct IndexLock {
    held: BTreeMap<Start, Held>,
    /// By request.
    links: Vec<Links>,
    /// Grants everything: tests show what happens then.
    #[cfg(test)]
    ignores_conflicts: bool,
}

impl IndexLock {
    /// Locks the pages for `request`, or tells whom it has to wait for.
    #[inline]
    pub(super) fn acquire(&mut self, pages: &Pages, request: u32) -> Result<(), u32> {
        #[cfg(test)]
        if self.ignores_conflicts {
            return Ok(());
        }
        let below = (pages.volume, pages.first)..(pages.volume, pages.end);
        // The last that begins before the end is the only one to look at: ranges do not overlap.
        let before = self.held.range(..below.end).next_back();
        if let Some((&(volume, _), held)) = before {
            if volume == pages.volume && held.end > pages.first {
                return Err(held.owner);
            }
        }
        let held = Held {
            end: pages.end,
            owner: request,
        };
        self.held.insert(below.start, held);
        Ok(())
    }

    /// Unlocks the pages, and takes the first of those that wait for them; the others follow by
    /// [`IndexLock::next_waiter`].
    #[inline]
    pub(super) fn release(&mut self, pages: &Pages, request: u32) -> Option<u32> {
        let held = self.held.remove(&(pages.volume, pages.first));
        #[cfg(test)]
        if self.ignores_conflicts {
            return None;
        }
        debug_assert!(held.is_some_and(|held| held.owner == request));
        let links = self.links.get_mut(request as usize)?;
        let first = links.first;
        (links.first, links.last) = (NIL, NIL);
        (first != NIL).then_some(first)
    }

    /// The one that waited behind `waiter`, which leaves the list.
    pub(super) fn next_waiter(&mut self, waiter: u32) -> Option<u32> {
        let next = std::mem::replace(&mut self.links[waiter as usize].next, NIL);
        (next != NIL).then_some(next)
    }

    /// `request` waits until `owner` unlocks its pages.
    pub(super) fn wait(&mut self, request: u32, owner: u32) {
        let least = 1 + request.max(owner) as usize;
        if self.links.len() < least {
            self.links.resize(least, Links::NONE);
        }
        let last = std::mem::replace(&mut self.links[owner as usize].last, request);
        match last {
            NIL => self.links[owner as usize].first = request,
            last => self.links[last as usize].next = request,
        }
    }

    #[cfg(test)]
    pub(super) fn ignore_conflicts(&mut self) {
        self.ignores_conflicts = true;
    }

    /// Ranges locked now.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }
}
