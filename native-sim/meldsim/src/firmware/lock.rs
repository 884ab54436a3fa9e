//! The index lock: the ranges of logical pages that commands hold, and the commands that wait for one.

use std::collections::BTreeMap;

use super::command::Pages;
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

/// Locked ranges of pages, in a tree ordered by their first page. Ranges never overlap: a command whose
/// range does waits for the owner, in the order of asking.
#[derive(Debug, Default)]
pub(super) struct IndexLock {
    held: BTreeMap<Start, Held>,
    /// By request.
    links: Vec<Links>,
}

impl IndexLock {
    /// Locks the pages for `request`, or returns the request that it has to wait for.
    #[inline]
    pub(super) fn acquire(&mut self, pages: &Pages, request: u32) -> Result<(), u32> {
        // Only the last that begins before the end can overlap: the others end before it begins.
        let before = self.held.range(..(pages.volume, pages.end)).next_back();
        if let Some((&(volume, _), held)) = before {
            if volume == pages.volume && held.end > pages.first {
                return Err(held.owner);
            }
        }
        let held = Held {
            end: pages.end,
            owner: request,
        };
        self.held.insert((pages.volume, pages.first), held);
        Ok(())
    }

    /// Unlocks the pages, and takes the first of those that wait for them; the others follow by
    /// [`IndexLock::next_waiter`].
    #[inline]
    pub(super) fn release(&mut self, pages: &Pages, request: u32) -> Option<u32> {
        let held = self.held.remove(&(pages.volume, pages.first));
        debug_assert!(held.is_some_and(|held| held.owner == request));
        let links = self.links.get_mut(request as usize)?;
        let first = links.first;
        (links.first, links.last) = (NIL, NIL);
        (first != NIL).then_some(first)
    }

    /// The request that waited behind `waiter`, which leaves the list.
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
        match std::mem::replace(&mut self.links[owner as usize].last, request) {
            NIL => self.links[owner as usize].first = request,
            last => self.links[last as usize].next = request,
        }
    }
}

#[cfg(test)]
impl IndexLock {
    /// Ranges locked now.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }
}
