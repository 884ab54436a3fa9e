//! When a flush is done: every page sealed before it is programmed.

use std::collections::VecDeque;

/// Counts pages by *epoch*, the time between two flushes.
#[derive(Debug)]
pub(crate) struct FlushBarrier {
    /// Unprogrammed pages of each epoch from `first` on; the last epoch is the present one.
    epochs: VecDeque<u64>,
    first: u64,
    /// Requests that wait for an epoch and all before it.
    waiting: VecDeque<(u64, u32)>,
}

impl FlushBarrier {
    pub(crate) fn new() -> FlushBarrier {
        FlushBarrier {
            epochs: VecDeque::from([0]),
            first: 0,
            waiting: VecDeque::new(),
        }
    }

    fn present(&self) -> u64 {
        self.first + self.epochs.len() as u64 - 1
    }

    /// A page was sealed; returns its epoch.
    pub(crate) fn sealed(&mut self) -> u64 {
        let present = self.present();
        self.epochs[(present - self.first) as usize] += 1;
        present
    }

    /// A page of that epoch was programmed.
    pub(crate) fn programmed(&mut self, epoch: u64) {
        self.epochs[(epoch - self.first) as usize] -= 1;
    }

    /// `request` waits for everything sealed so far.
    pub(crate) fn wait(&mut self, request: u32) {
        self.waiting.push_back((self.present(), request));
        self.epochs.push_back(0);
    }

    /// The next request that need not wait any longer.
    pub(crate) fn pop_done(&mut self) -> Option<u32> {
        while self.epochs.len() > 1 && self.epochs[0] == 0 {
            self.epochs.pop_front();
            self.first += 1;
        }
        let &(epoch, request) = self.waiting.front()?;
        if epoch >= self.first {
            return None;
        }
        self.waiting.pop_front();
        Some(request)
    }
}
