//! When streams go on by themselves: a tournament of which only the rounds of a stream whose time changes are played again.

use meldsim::Instant;

/// The times of streams; one that goes on only for its completions has none.
#[derive(Debug)]
pub(super) struct Wakes {
    /// Times with their streams, the earlier of two above both: 2 and 3 below 1, 4 and 5 below 2, and so on; the streams are last.
    tree: Vec<(Instant, usize)>,
}

impl Wakes {
    pub(super) fn new(streams: usize) -> Wakes {
        let leaves = streams.next_power_of_two();
        let leaf = |index| (Instant::MAX, index);
        Wakes {
            tree: (0..leaves).chain(0..leaves).map(leaf).collect(),
        }
    }

    /// Sets a stream's time.
    pub(super) fn set(&mut self, stream: usize, wake: Option<Instant>) {
        let mut node = self.tree.len() / 2 + stream;
        self.tree[node].0 = wake.unwrap_or(Instant::MAX);
        while node > 1 {
            node /= 2;
            self.tree[node] = self.tree[2 * node].min(self.tree[2 * node + 1]);
        }
    }

    /// The first time, and whose; of equal ones the first stream.
    pub(super) fn first(&self) -> Option<(Instant, usize)> {
        Some(self.tree[1]).filter(|(time, _)| *time < Instant::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::Duration;
    use meldsim::engine::Random;

    #[test]
    fn the_first_is_that_of_all() {
        for streams in [1, 2, 3, 8, 100] {
            let mut random = Random::new(streams as u64);
            let mut wakes = Wakes::new(streams);
            let mut times = vec![None; streams];
            assert_eq!(wakes.first(), None);
            for _ in 0..2_000 {
                let stream = random.below(streams as u64) as usize;
                // Few times, so that many are equal.
                let us = random.below(20);
                times[stream] = (us > 5).then(|| Instant::START + Duration::from_us(us));
                wakes.set(stream, times[stream]);
                let all = times.iter().enumerate();
                let all = all.filter_map(|(stream, time)| Some(((*time)?, stream)));
                assert_eq!(wakes.first(), all.min());
            }
        }
    }
}
