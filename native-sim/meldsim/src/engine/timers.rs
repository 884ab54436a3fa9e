//! Timers: events of which there is one for each of a few sources, set again and again.

/// What orders events in one comparison: time, then sequence, and in the lowest bits which timer it is.
pub(super) type Key = u128;

/// Bits of a key for the number of a timer.
pub(super) const TIMER_BITS: u32 = 16;

/// After all events.
pub(super) const NEVER: Key = Key::MAX;

/// A tournament of the timers: the winner, at the root, is due first.
///
/// A timer plays its way up against the winners beside its path, which takes no branch that depends
/// on who wins. In a heap those are what costs: which of two channels is next cannot be predicted.
#[derive(Debug)]
pub(super) struct Timers {
    /// The root is at 1, the children of `i` at `2 i` and `2 i + 1`, the timers at the leaves; in
    /// pairs, which play each other.
    winners: Vec<[Key; 2]>,
    /// Where the leaves begin: a power of two.
    leaves: usize,
}

impl Timers {
    /// All off.
    pub(super) fn new(count: usize) -> Timers {
        let leaves = count.next_power_of_two();
        assert!(leaves <= 1 << TIMER_BITS, "{count} timers");
        Timers {
            winners: vec![[NEVER; 2]; leaves],
            leaves,
        }
    }

    /// Sets a timer to a key whose lowest bits are free.
    #[inline]
    pub(super) fn set(&mut self, timer: u32, key: Key) {
        let mut node = self.leaves + timer as usize;
        let mut winner = key | Key::from(timer);
        while node > 1 {
            let pair = &mut self.winners[node / 2];
            pair[node % 2] = winner;
            winner = winner.min(pair[1 - node % 2]);
            node /= 2;
        }
        self.winners[0][1] = winner;
    }

    #[inline]
    pub(super) fn get(&self, timer: u32) -> Key {
        let node = self.leaves + timer as usize;
        self.winners[node / 2][node % 2]
    }

    /// The key of the timer that is due first, and the timer.
    #[inline]
    pub(super) fn least(&self) -> (Key, u32) {
        let key = self.winners[0][1];
        (key, key as u32 & ((1 << TIMER_BITS) - 1))
    }
}
