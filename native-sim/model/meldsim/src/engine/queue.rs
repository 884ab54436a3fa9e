//! The event queue: ordered by (time, sequence), so that ties have one order. Events are scheduled one by
//! one, or are a timer's: the one event of a source, which is set again and again.

use std::collections::VecDeque;

use super::Instant;

/// What orders events in one comparison: time, then sequence, and in the lowest bits which timer it is.
type Key = u128;

/// Bits of a key for the number of a timer.
const TIMER_BITS: u32 = 16;

/// After all events.
const NEVER: Key = Key::MAX;

fn key(time: Instant, sequence: u64) -> Key {
    (Key::from(time.as_ps()) << 64) | Key::from(sequence << TIMER_BITS)
}

fn time_of(key: Key) -> Instant {
    Instant::from_ps((key >> 64) as u64)
}

/// A binary min-heap whose root may be vacant.
///
/// Handling an event nearly always schedules another. The place of the one that was popped is
/// left open for it, which saves moving the last entry to the root and back.
#[derive(Debug)]
struct Heap<E> {
    entries: Vec<(Key, E)>,
    vacant: bool,
}

impl<E: Copy> Heap<E> {
    fn new() -> Heap<E> {
        Heap {
            entries: Vec::new(),
            vacant: false,
        }
    }

    #[inline]
    fn push(&mut self, key: Key, event: E) {
        if self.vacant {
            self.vacant = false;
            self.entries[0] = (key, event);
            self.sift_down();
            return;
        }
        let mut index = self.entries.len();
        self.entries.push((key, event));
        while index > 0 {
            let parent = (index - 1) / 2;
            if self.entries[parent].0 < key {
                break;
            }
            self.entries[index] = self.entries[parent];
            index = parent;
        }
        self.entries[index] = (key, event);
    }

    /// The least key, once the root is filled.
    #[inline]
    fn fill_root(&mut self) -> Option<Key> {
        if self.vacant {
            self.vacant = false;
            let last = self.entries.pop()?;
            *self.entries.first_mut()? = last;
            self.sift_down();
        }
        self.least()
    }

    /// The least key.
    #[inline]
    fn least(&self) -> Option<Key> {
        if !self.vacant {
            return self.entries.first().map(|entry| entry.0);
        }
        let children = self.entries.get(1..self.entries.len().min(3))?;
        children.iter().map(|entry| entry.0).min()
    }

    /// Takes the entry with the least key, which [`Heap::fill_root`] has just found.
    #[inline]
    fn take_least(&mut self) -> E {
        debug_assert!(!self.vacant);
        self.vacant = true;
        self.entries[0].1
    }

    #[inline]
    fn sift_down(&mut self) {
        let entries = &mut self.entries[..];
        let moved = entries[0];
        let mut index = 0;
        loop {
            let mut child = 2 * index + 1;
            if child >= entries.len() {
                break;
            }
            // Which child is less cannot be predicted: no branch.
            if let Some(&[(left, _), (right, _)]) = entries.get(child..child + 2) {
                child += usize::from(right < left);
            }
            if moved.0 < entries[child].0 {
                break;
            }
            entries[index] = entries[child];
            index = child;
        }
        entries[index] = moved;
    }
}

/// A tournament of the timers: the winner, at the root, is due first.
///
/// A timer plays its way up against the winners beside its path, which is as long for all. No comparison of a path of a known
/// length is a branch: which of two channels is next cannot be predicted where reads are at random. Those beside the path play
/// each other at the same time, so that the winner waits for one comparison.
#[derive(Debug)]
struct Timers {
    /// The children of `i` are `2 i` and `2 i + 1`, which play each other and stand side by side; the timers are the leaves.
    pairs: Box<[[Key; 2]]>,
    /// The root.
    winner: Key,
    /// Where the leaves begin: a power of two.
    leaves: usize,
}

impl Timers {
    /// All off.
    fn new(count: usize) -> Timers {
        let leaves = count.next_power_of_two().max(2);
        assert!(leaves <= 1 << TIMER_BITS, "{count} timers");
        Timers {
            pairs: vec![[NEVER; 2]; leaves].into_boxed_slice(),
            winner: NEVER,
            leaves,
        }
    }

    /// Sets a timer to a key whose lowest bits are free.
    #[inline]
    fn set(&mut self, timer: u32, key: Key) {
        let key = key | Key::from(timer);
        match self.leaves {
            8 => self.play::<3>(timer, key),
            leaves => self.play_on(leaves + timer as usize, key),
        }
    }

    /// A timer plays its way up so many levels, as many as there are.
    #[inline(always)]
    fn play<const LEVELS: usize>(&mut self, timer: u32, key: Key) {
        let mut node = (1 << LEVELS) + timer as usize;
        let (mut winner, mut others) = (key, NEVER);
        for _ in 0..LEVELS {
            let Some(pair) = self.pairs.get_mut(node / 2) else {
                return;
            };
            pair[node % 2] = winner;
            let other = pair[1 - node % 2];
            winner = winner.min(other);
            others = others.min(other);
            node /= 2;
        }
        self.winner = key.min(others);
    }

    #[inline(never)]
    fn play_on(&mut self, mut node: usize, mut winner: Key) {
        while node > 1 {
            let Some(pair) = self.pairs.get_mut(node / 2) else {
                break;
            };
            pair[node % 2] = winner;
            winner = winner.min(pair[1 - node % 2]);
            node /= 2;
        }
        self.winner = winner;
    }

    #[inline]
    fn get(&self, timer: u32) -> Key {
        let node = self.leaves + timer as usize;
        self.pairs[node / 2][node % 2]
    }

    /// The key of the timer that is due first, and the timer.
    #[inline]
    fn least(&self) -> (Key, u32) {
        let key = self.winner;
        (key, key as u32 & ((1 << TIMER_BITS) - 1))
    }
}

/// Pending events and the clock.
///
/// An event scheduled for the present goes to a plain FIFO instead of the heap, and one that comes after others to another.
#[derive(Debug)]
pub(crate) struct EventQueue<E> {
    now: Instant,
    sequence: u64,
    /// Each with its sequence.
    present: VecDeque<(u64, E)>,
    /// Those that are due after all that were here when they were scheduled. Most are: latencies are the same again and again.
    in_order: VecDeque<(Key, E)>,
    /// The others.
    future: Heap<E>,
    timers: Timers,
}

/// An event that may be a timer's.
pub(crate) trait Alarm: Copy {
    /// That of the timer with this number.
    fn of_timer(timer: u32) -> Self;
}

impl<E: Alarm> EventQueue<E> {
    /// A queue with so many timers, all of them off.
    pub(crate) fn new(timers: usize) -> EventQueue<E> {
        EventQueue {
            now: Instant::START,
            sequence: 0,
            present: VecDeque::new(),
            in_order: VecDeque::new(),
            future: Heap::new(),
            timers: Timers::new(timers),
        }
    }

    #[inline]
    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    #[inline]
    pub(crate) fn schedule(&mut self, time: Instant, event: E) {
        debug_assert!(time >= self.now, "scheduled in the past");
        self.sequence += 1;
        let key = key(time, self.sequence);
        if time <= self.now {
            self.present.push_back((self.sequence, event));
        } else if self.in_order.back().is_some_and(|&(last, _)| last > key) {
            self.future.push(key, event);
        } else {
            self.in_order.push_back((key, event));
        }
    }

    /// Sets a timer, whatever it was set to before. At [`Instant::MAX`] it is off.
    #[inline]
    pub(crate) fn set_timer(&mut self, timer: u32, time: Instant) {
        debug_assert!(time >= self.now, "set in the past");
        self.sequence += 1;
        self.timers.set(timer, key(time, self.sequence));
    }

    /// When a timer is due.
    #[inline]
    pub(crate) fn timer(&self, timer: u32) -> Instant {
        time_of(self.timers.get(timer))
    }

    /// When the next event is due.
    #[inline]
    pub(crate) fn next_time(&self) -> Option<Instant> {
        if !self.present.is_empty() {
            return Some(self.now);
        }
        let least = self
            .timers
            .least()
            .0
            .min(self.first_in_order())
            .min(self.future.least().unwrap_or(NEVER));
        Some(time_of(least)).filter(|&time| time < Instant::MAX)
    }

    /// The next event due by `limit`; the clock moves to it. A timer stays as it is: whoever handles
    /// its event must set it again.
    #[inline(always)]
    pub(crate) fn pop_until(&mut self, limit: Instant) -> Option<E> {
        let in_order = self.first_in_order();
        let other = self.future.fill_root().unwrap_or(NEVER);
        let event = other.min(in_order);
        let (alarm, timer) = self.timers.least();
        let least = event.min(alarm);
        if let Some(&(sequence, first)) = self.present.front() {
            if key(self.now, sequence) < least {
                self.present.pop_front();
                return Some(first);
            }
        }
        let time = time_of(least);
        if time > limit.max(self.now) || time == Instant::MAX {
            return None;
        }
        self.now = time;
        if alarm < event {
            Some(E::of_timer(timer))
        } else if in_order < other {
            self.in_order.pop_front().map(|(_, event)| event)
        } else {
            Some(self.future.take_least())
        }
    }

    #[inline]
    fn first_in_order(&self) -> Key {
        self.in_order.front().map_or(NEVER, |&(key, _)| key)
    }

    /// Moves the clock to `time`. Every event due by then must have been popped.
    #[inline]
    pub(crate) fn advance_clock(&mut self, time: Instant) {
        debug_assert!(self.next_time().is_none_or(|next| next > time) || time <= self.now);
        self.now = self.now.max(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Alarm for char {
        fn of_timer(_: u32) -> char {
            unreachable!("there is no timer")
        }
    }

    impl Alarm for u64 {
        fn of_timer(timer: u32) -> u64 {
            timer.into()
        }
    }

    #[test]
    fn ties_pop_in_the_order_scheduled() {
        let mut queue = EventQueue::new(0);
        for (time, event) in [(5, 'a'), (3, 'b'), (5, 'c'), (0, 'd'), (3, 'e')] {
            queue.schedule(Instant::from_ps(time), event);
        }
        let mut order = String::new();
        while let Some(event) = queue.pop_until(Instant::from_ps(4)) {
            order.push(event);
        }
        assert_eq!(order, "dbe");
        assert_eq!(queue.now(), Instant::from_ps(3));
        // Scheduled for the present while older events for the same time are still in the heap.
        queue.schedule(Instant::from_ps(9), 'x');
        assert_eq!(queue.pop_until(Instant::MAX), Some('a'));
        queue.schedule(Instant::from_ps(5), 'f');
        assert_eq!(queue.pop_until(Instant::MAX), Some('c'));
        assert_eq!(queue.pop_until(Instant::MAX), Some('f'));
        assert_eq!(queue.pop_until(Instant::MAX), Some('x'));
        assert_eq!(queue.pop_until(Instant::MAX), None);
    }

    #[test]
    fn the_timer_that_is_due_first_wins() {
        for count in [1, 7, 8, 9, 64, 65, 600] {
            let mut timers = Timers::new(count);
            let mut model = vec![NEVER; count];
            let mut seed = count as u64;
            for sequence in 0..3000 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let timer = (seed >> 33) as usize % count;
                let key = key(Instant::from_ps(seed >> 60), sequence);
                timers.set(timer as u32, key);
                model[timer] = key | timer as Key;
                let first = (0..count).min_by_key(|&timer| model[timer]).unwrap();
                assert_eq!(timers.least(), (model[first], first as u32));
                assert_eq!(timers.get(timer as u32), model[timer]);
            }
        }
    }

    #[test]
    fn any_mix_of_pushes_and_pops_is_ordered() {
        let mut queue = EventQueue::new(0);
        let mut expected = std::collections::BTreeSet::new();
        let mut seed = 1u64;
        for sequence in 0..20_000u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let time = queue.now() + crate::engine::Duration::from_ps((seed >> 33) % 50);
            queue.schedule(time, sequence);
            expected.insert((time, sequence));
            assert_eq!(queue.next_time(), expected.first().map(|&(time, _)| time));
            for _ in 0..(seed >> 61) % 3 {
                let next = expected.pop_first();
                assert_eq!(
                    queue.pop_until(Instant::MAX),
                    next.map(|(_, sequence)| sequence)
                );
                assert_eq!(queue.next_time(), expected.first().map(|&(time, _)| time));
            }
        }
    }
}
