//! Timers: events of which there is one for each of a few sources, set again and again.

/// Time above sequence: one comparison orders events.
pub(super) type Key = u128;

/// After all events.
pub(super) const NEVER: Key = Key::MAX;

/// A tournament of the timers: the winner, at the root, is due first.
///
/// A timer plays its way up against the winners beside its path, which takes no branch that depends
/// on who wins. In a heap those are what costs: which of two channels is next cannot be predicted.
#[derive(Debug)]
pub(super) struct Timers {
    /// The root is at 1, the children of `i` at `2 i` and `2 i + 1`, the timers at the leaves.
    winners: Vec<(Key, u32)>,
    /// Where the leaves begin: a power of two.
    leaves: usize,
}

impl Timers {
    /// All off.
    pub(super) fn new(count: usize) -> Timers {
        let leaves = count.next_power_of_two();
        let mut winners = vec![(NEVER, 0); 2 * leaves];
        for (timer, leaf) in winners[leaves..].iter_mut().enumerate() {
            leaf.1 = timer as u32;
        }
        Timers { winners, leaves }
    }

    #[inline]
    pub(super) fn set(&mut self, timer: u32, key: Key) {
        let mut node = self.leaves + timer as usize;
        let mut winner = (key, timer);
        self.winners[node] = winner;
        while node > 1 {
            let other = self.winners[node ^ 1];
            if other.0 < winner.0 {
                winner = other;
            }
            node /= 2;
            self.winners[node] = winner;
        }
    }

    #[inline]
    pub(super) fn get(&self, timer: u32) -> Key {
        self.winners[self.leaves + timer as usize].0
    }

    /// The timer that is due first, after its key.
    #[inline]
    pub(super) fn least(&self) -> (Key, u32) {
        self.winners[1]
    }
}
