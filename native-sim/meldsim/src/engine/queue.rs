//! The event queue: ordered by (time, sequence), so that ties have one order.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use super::Time;

#[derive(Debug)]
struct Entry<E> {
    time: Time,
    sequence: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Entry<E>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Entry<E>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Reversed: the standard heap pops its greatest.
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Entry<E>) -> Ordering {
        (other.time, other.sequence).cmp(&(self.time, self.sequence))
    }
}

/// Pending events and the clock.
///
/// An event scheduled for the present goes to a plain FIFO instead of the heap. That keeps the
/// order: whatever the heap holds for the present was scheduled before the clock came here.
#[derive(Debug)]
pub(crate) struct EventQueue<E> {
    now: Time,
    sequence: u64,
    present: VecDeque<E>,
    future: BinaryHeap<Entry<E>>,
}

impl<E> EventQueue<E> {
    pub(crate) fn new() -> EventQueue<E> {
        EventQueue {
            now: Time::ZERO,
            sequence: 0,
            present: VecDeque::new(),
            future: BinaryHeap::new(),
        }
    }

    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    #[inline]
    pub(crate) fn schedule(&mut self, time: Time, event: E) {
        debug_assert!(time >= self.now, "scheduled in the past");
        if time <= self.now {
            self.present.push_back(event);
        } else {
            self.sequence += 1;
            self.future.push(Entry {
                time,
                sequence: self.sequence,
                event,
            });
        }
    }

    /// When the next event is due.
    #[inline]
    pub(crate) fn next_time(&self) -> Option<Time> {
        if self.present.is_empty() {
            self.future.peek().map(|entry| entry.time)
        } else {
            Some(self.now)
        }
    }

    /// The next event due by `limit`; the clock moves to it.
    #[inline]
    pub(crate) fn pop_until(&mut self, limit: Time) -> Option<E> {
        match self.future.peek() {
            Some(entry) if entry.time <= self.now => self.future.pop().map(|entry| entry.event),
            _ if !self.present.is_empty() => self.present.pop_front(),
            Some(entry) if entry.time <= limit => {
                self.now = entry.time;
                self.future.pop().map(|entry| entry.event)
            }
            _ => None,
        }
    }

    /// Moves the clock to `time`. Every event due by then must have been popped.
    #[inline]
    pub(crate) fn advance_clock(&mut self, time: Time) {
        debug_assert!(self.next_time().is_none_or(|next| next > time) || time <= self.now);
        self.now = self.now.max(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_pop_in_the_order_scheduled() {
        let mut queue = EventQueue::new();
        for (time, event) in [(5, 'a'), (3, 'b'), (5, 'c'), (0, 'd'), (3, 'e')] {
            queue.schedule(Time::from_ps(time), event);
        }
        let mut order = String::new();
        while let Some(event) = queue.pop_until(Time::from_ps(4)) {
            order.push(event);
        }
        assert_eq!(order, "dbe");
        assert_eq!(queue.now(), Time::from_ps(3));
        // Scheduled for the present while older events for the same time are still in the heap.
        queue.schedule(Time::from_ps(9), 'x');
        assert_eq!(queue.pop_until(Time::MAX), Some('a'));
        queue.schedule(Time::from_ps(5), 'f');
        assert_eq!(queue.pop_until(Time::MAX), Some('c'));
        assert_eq!(queue.pop_until(Time::MAX), Some('f'));
        assert_eq!(queue.pop_until(Time::MAX), Some('x'));
        assert_eq!(queue.pop_until(Time::MAX), None);
    }
}
