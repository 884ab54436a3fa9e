//! A channel: its bus, the dies that wait for it, and which of them is granted it next.
//!
//! Dies that can take a command are in the ready list, first come, first served. Data goes round-robin
//! among the dies that have some. Which of the two goes first is the profile's arbitration.

use crate::engine::{Duration, Instant};
use crate::profile::Arbitration;

/// What crosses the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    None,
    /// Pages of a die, to the controller.
    Out(u32),
    /// Pages to program, to a die.
    In(u32),
}

/// Which die is granted the bus, by its number on the channel, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    Nothing,
    Command(u32),
    DataOut(u32),
    DataIn(u32),
}

/// The bus of a channel and the dies that wait for it, as sets of the dies' numbers on the channel.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) bus_free_at: Instant,
    pub(super) transfer: Transfer,
    senses: Senses,
    /// Dies that have sensed, and wait for their registers.
    pub(super) sensed: u64,
    /// Dies that program or erase, and are not suspended.
    pub(super) executing: u64,
    /// When the first of `executing` ends.
    pub(super) next_pe_end: Instant,
    /// Dies whose pages wait for the bus.
    pub(super) data_out: u64,
    /// Dies that wait for the data of a program.
    pub(super) data_in: u64,
    /// Dies with reads that wait until what the die executes may be suspended.
    pub(super) to_suspend: u64,
    /// The ready list: dies that can take a command, in the order in which they became able to; some
    /// may have become unable since.
    ready: Ring<u8>,
    /// The same as a set: each is in the list once.
    ready_set: u64,
    /// The die that data arbitration starts from: the one after the last served.
    round_robin: u32,
    early: Option<EarlyGrant>,
    pub(super) busy: Duration,
}

/// A grant to data that may not have begun yet. Until it begins the grant can be taken back.
#[derive(Clone, Copy, Debug)]
struct EarlyGrant {
    /// When the data begins to cross the bus.
    from: Instant,
    /// When the bus was free, without it.
    free_at: Instant,
    /// What the round robin was at.
    round_robin: u32,
    /// Whether that is the end of its sense.
    sensing: bool,
}

impl Channel {
    pub(super) fn new(dies: u32) -> Channel {
        Channel {
            bus_free_at: Instant::START,
            transfer: Transfer::None,
            senses: Senses::new(dies),
            sensed: 0,
            executing: 0,
            next_pe_end: Instant::MAX,
            data_out: 0,
            data_in: 0,
            to_suspend: 0,
            ready: Ring::new(dies),
            ready_set: 0,
            round_robin: 0,
            early: None,
            busy: Duration::ZERO,
        }
    }

    /// Whether a die waits for the bus.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.data_out | self.data_in | self.ready_set != 0
    }

    /// The first die of the ready list.
    #[inline(always)]
    pub(super) fn first_ready(&self) -> Option<u32> {
        self.ready.front().map(u32::from)
    }

    /// Takes the first die off the ready list.
    #[inline(always)]
    pub(super) fn pop_ready(&mut self) -> Option<u32> {
        let die = self.ready.pop_front()?;
        self.ready_set &= !(1 << die);
        Some(u32::from(die))
    }

    /// Enters a die that can take a command into the ready list.
    #[inline]
    pub(super) fn make_ready(&mut self, die: u8) {
        if self.ready_set & (1 << die) == 0 {
            self.ready_set |= 1 << die;
            self.ready.push_back(die);
        }
    }

    /// Takes the next user of a free bus off its set.
    #[inline]
    pub(super) fn arbitrate(&mut self, arbitration: Arbitration) -> Grant {
        let data = self.data_out | self.data_in;
        let data_now = data != 0
            && match arbitration {
                Arbitration::CommandsFirst => self.ready_set == 0,
                Arbitration::DataFirst => true,
            };
        if !data_now {
            return self.pop_ready().map_or(Grant::Nothing, Grant::Command);
        }
        let die = self.next_of(data);
        self.round_robin = (die + 1) & 63;
        let bit = 1 << die;
        if self.data_out & bit != 0 {
            self.data_out &= !bit;
            Grant::DataOut(die)
        } else {
            self.data_in &= !bit;
            Grant::DataIn(die)
        }
    }

    /// Which of these dies the round robin serves next.
    #[inline]
    fn next_of(&self, dies: u64) -> u32 {
        let later = dies & (u64::MAX << self.round_robin);
        if later != 0 { later } else { dies }.trailing_zeros()
    }

    /// The die whose data goes out when the bus is free, if that is known already.
    #[inline(always)]
    pub(super) fn next_data_out(&self) -> Option<u32> {
        let data = self.data_out | self.data_in;
        if data == 0 || self.ready_set != 0 {
            return None;
        }
        let die = self.next_of(data);
        (self.data_out & (1 << die) != 0).then_some(die)
    }

    /// Grants a die the bus for its data as soon as the bus is free.
    #[inline(always)]
    pub(super) fn grant_early(&mut self, die: u32, length: Duration) {
        self.data_out &= !(1 << die);
        self.grant_from(self.bus_free_at, die, length, false);
    }

    /// The die whose sense ends next, and when, if nothing else wants the bus then.
    #[inline(always)]
    pub(super) fn next_sensed(&self) -> Option<(Instant, u32)> {
        let (end, die) = self.senses.first;
        let can = end < Instant::MAX && end > self.bus_free_at && !self.is_wanted();
        (can && self.senses.second_end() != end).then_some((end, u32::from(die)))
    }

    /// Grants the die that [`Channel::next_sensed`] has found the bus from the end of its sense on.
    #[inline(always)]
    pub(super) fn grant_at_sense_end(&mut self, length: Duration) {
        let (end, die) = self.senses.pop();
        self.grant_from(end, u32::from(die), length, true);
    }

    #[inline(always)]
    fn grant_from(&mut self, from: Instant, die: u32, length: Duration, sensing: bool) {
        self.early = Some(EarlyGrant {
            from,
            free_at: self.bus_free_at,
            round_robin: self.round_robin,
            sensing,
        });
        self.round_robin = (die + 1) & 63;
        self.transfer = Transfer::Out(die);
        self.hold(from, length);
    }

    /// Takes back an early grant that has not begun: another die may have to go first.
    #[inline]
    pub(super) fn take_back(&mut self, now: Instant) {
        let Some(early) = self.early.take() else {
            return;
        };
        if let (true, Transfer::Out(die)) = (now <= early.from, self.transfer) {
            self.transfer = Transfer::None;
            self.round_robin = early.round_robin;
            self.busy = self.busy - (self.bus_free_at - early.from);
            self.bus_free_at = early.free_at;
            match early.sensing {
                true => self.sense(die, early.from),
                false => self.data_out |= 1 << die,
            }
        }
    }

    /// Serves the die that was served last once more: it has data of another plane, and can start or
    /// become idle the sooner.
    pub(super) fn serve_again(&mut self, die: u32) {
        self.round_robin = die;
    }

    /// Holds the bus for `length`.
    #[inline]
    pub(super) fn hold(&mut self, now: Instant, length: Duration) {
        self.bus_free_at = now + length;
        self.busy += length;
    }

    /// The time the bus was held.
    pub(super) fn busy_until(&self, now: Instant) -> Duration {
        let from = self.early.map_or(now, |early| early.from.max(now));
        self.busy - self.bus_free_at.saturating_since(from)
    }

    /// A die senses until `end`.
    #[inline(always)]
    pub(super) fn sense(&mut self, die: u32, end: Instant) {
        self.senses.insert(end, die as u8);
    }

    /// When the first sense ends.
    #[inline]
    pub(super) fn next_sense_end(&self) -> Instant {
        self.senses.first.0
    }

    /// Takes a die whose sense has ended by `now`.
    #[inline(always)]
    pub(super) fn pop_sensed(&mut self, now: Instant) -> Option<u32> {
        let (end, _) = self.senses.first;
        (end <= now && end < Instant::MAX).then(|| u32::from(self.senses.pop().1))
    }

    /// A die programs or erases until `end`.
    #[inline]
    pub(super) fn execute(&mut self, die: u32, end: Instant) {
        self.executing |= 1 << die;
        self.next_pe_end = self.next_pe_end.min(end);
    }
}

/// When each sense ends and on which die, in the order of time.
#[derive(Debug)]
struct Senses {
    /// The one that ends first, at [`Instant::MAX`] if there is none: every event looks at it.
    first: (Instant, u8),
    later: Ring<(Instant, u8)>,
}

impl Senses {
    const NONE: (Instant, u8) = (Instant::MAX, 0);

    fn new(dies: u32) -> Senses {
        Senses {
            first: Senses::NONE,
            later: Ring::new(dies),
        }
    }

    /// When the second one ends.
    #[inline]
    fn second_end(&self) -> Instant {
        self.later.front().unwrap_or(Senses::NONE).0
    }

    /// Takes the first one off.
    #[inline(always)]
    fn pop(&mut self) -> (Instant, u8) {
        let next = self.later.pop_front().unwrap_or(Senses::NONE);
        std::mem::replace(&mut self.first, next)
    }

    #[inline(always)]
    fn insert(&mut self, end: Instant, die: u8) {
        if end >= self.first.0 {
            self.later
                .insert_after((end, die), |(other, _)| other > end);
            return;
        }
        let first = std::mem::replace(&mut self.first, (end, die));
        if first != Senses::NONE {
            self.later.push_front(first);
        }
    }
}

/// Dies of a channel at most; sets of them are bits of a word.
const MAX_DIES: usize = 64;

/// A FIFO in which each die of a channel is at most once, so that it needs no memory of its own and
/// its indices no check. It goes round in as few places as the dies need, for those stay in the cache.
#[derive(Clone, Debug)]
struct Ring<T> {
    items: [T; MAX_DIES],
    /// The last place in use: a power of two less one.
    last: usize,
    head: usize,
    len: usize,
}

impl<T: Copy + Default> Ring<T> {
    fn new(dies: u32) -> Ring<T> {
        Ring {
            items: [T::default(); MAX_DIES],
            last: (dies as usize).next_power_of_two().min(MAX_DIES) - 1,
            head: 0,
            len: 0,
        }
    }

    #[inline]
    fn front(&self) -> Option<T> {
        (self.len > 0).then(|| self.items[self.head & (MAX_DIES - 1)])
    }

    #[inline]
    fn pop_front(&mut self) -> Option<T> {
        let front = self.front()?;
        self.head = self.slot(1);
        self.len -= 1;
        Some(front)
    }

    #[inline]
    fn push_front(&mut self, item: T) {
        debug_assert!(self.len <= self.last, "a die is twice in a queue");
        self.head = self.head.wrapping_sub(1) & self.last;
        self.items[self.head & (MAX_DIES - 1)] = item;
        self.len += 1;
    }

    #[inline]
    fn push_back(&mut self, item: T) {
        self.insert_after(item, |_| false);
    }

    /// Inserts an item after those from the back that do not come after it.
    #[inline(always)]
    fn insert_after(&mut self, item: T, comes_after: impl Fn(T) -> bool) {
        debug_assert!(self.len <= self.last, "a die is twice in a queue");
        let mut index = self.len;
        while index > 0 {
            let before = self.items[self.slot(index - 1)];
            if !comes_after(before) {
                break;
            }
            self.items[self.slot(index)] = before;
            index -= 1;
        }
        self.items[self.slot(index)] = item;
        self.len += 1;
    }

    #[inline]
    fn slot(&self, index: usize) -> usize {
        (self.head + index) & self.last & (MAX_DIES - 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn it_is_a_queue_however_often_it_goes_round() {
        for dies in [1, 3, 8, 64] {
            goes_round(dies);
        }
    }

    fn goes_round(dies: u32) {
        let (mut ring, mut model) = (Ring::new(dies), VecDeque::new());
        for number in 0..1000u32 {
            if model.len() < dies as usize && number % 5 != 4 {
                ring.push_back(number);
                model.push_back(number);
            }
            if number % 3 == 0 || model.len() == dies as usize {
                assert_eq!(ring.pop_front(), model.pop_front());
            }
            assert_eq!(ring.front(), model.front().copied());
            if model.len() < dies as usize && number % 7 == 0 {
                ring.push_front(number);
                model.push_front(number);
                assert_eq!(ring.front(), Some(number));
            }
        }
    }

    #[test]
    fn senses_end_in_order_and_ties_as_they_began() {
        let at = |us| Instant::START + Duration::from_us(us);
        let mut senses = Senses::new(5);
        for (end, die) in [(5, b'a'), (3, b'b'), (5, b'c'), (4, b'd'), (3, b'e')] {
            senses.insert(at(end), die);
            assert!(senses.first.0 <= senses.second_end());
        }
        let dies = std::iter::from_fn(|| Some(senses.pop()).filter(|first| *first != Senses::NONE));
        let order: String = dies.map(|(_, die)| char::from(die)).collect();
        assert_eq!(order, "bedac");
    }
}
