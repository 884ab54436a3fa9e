//! A channel: who gets the bus.

use super::ring::Ring;
use crate::engine::Time;
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

/// Who gets the bus next; the number is the die's on its channel.
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
    pub(super) bus_free_at: Time,
    pub(super) transfer: Transfer,
    /// When each sense ends and on which die, in the order of time.
    senses: Ring<(Time, u8)>,
    /// Dies that have sensed, and wait for their registers.
    pub(super) sensed: u64,
    /// Dies that program or erase; each ends at its entry in [`Flash`](super::Flash)'s table.
    pub(super) working: u64,
    /// Dies whose pages wait for the bus.
    pub(super) data_out: u64,
    /// Dies that wait for the data of a program.
    pub(super) data_in: u64,
    /// Dies with reads that wait until what the die works on may be suspended.
    pub(super) to_suspend: u64,
    /// Dies that wait to be given a command, in the order in which they became able to take it; some
    /// may have become unable since.
    commands: Ring<u8>,
    /// The same as a set: each is in the queue once.
    commanded: u64,
    /// The die data arbitration starts from: the one after the last served.
    round_robin: u32,
    /// When the first of `working` ends.
    pub(super) work_next: Time,
    ahead: Option<Ahead>,
    pub(super) busy: Time,
}

/// Data that was granted the bus ahead of time. Until it starts the grant can be taken back.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    /// When the data starts.
    from: Time,
    /// When the bus was free, without it.
    free_at: Time,
    /// What the round robin was at.
    round_robin: u32,
    /// Whether the data starts at the end of its sense.
    sensing: bool,
}

impl Channel {
    pub(super) fn new() -> Channel {
        Channel {
            bus_free_at: Time::ZERO,
            transfer: Transfer::None,
            senses: Ring::new(),
            sensed: 0,
            working: 0,
            data_out: 0,
            data_in: 0,
            to_suspend: 0,
            commands: Ring::new(),
            commanded: 0,
            round_robin: 0,
            work_next: Time::MAX,
            ahead: None,
            busy: Time::ZERO,
        }
    }

    /// Whether a die waits for the bus.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.data_out | self.data_in | self.commanded != 0
    }

    /// A die has become able to take a command.
    #[inline]
    pub(super) fn want_command(&mut self, die: u8) {
        if self.commanded & (1 << die) == 0 {
            self.commanded |= 1 << die;
            self.commands.push_back(die);
        }
    }

    /// Takes the next user of a free bus off its set.
    #[inline]
    pub(super) fn arbitrate(&mut self, arbitration: Arbitration) -> Grant {
        let data = self.data_out | self.data_in;
        let data_now = data != 0
            && match arbitration {
                Arbitration::CommandsFirst => self.commanded == 0,
                Arbitration::DataFirst => true,
            };
        if !data_now {
            let Some(die) = self.commands.pop_front() else {
                return Grant::Nothing;
            };
            self.commanded &= !(1 << die);
            return Grant::Command(u32::from(die));
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

    /// Whose turn it is among these dies.
    #[inline]
    fn next_of(&self, dies: u64) -> u32 {
        let ahead = dies & (u64::MAX << self.round_robin);
        if ahead != 0 { ahead } else { dies }.trailing_zeros()
    }

    /// The die whose data goes out next, if that is known: its turn comes when the bus is free.
    #[inline]
    pub(super) fn next_data_out(&self) -> Option<u32> {
        let data = self.data_out | self.data_in;
        if data == 0 || self.commanded != 0 {
            return None;
        }
        let die = self.next_of(data);
        (self.data_out & (1 << die) != 0).then_some(die)
    }

    /// Grants a die the bus for its data as soon as it is free.
    #[inline]
    pub(super) fn grant_ahead(&mut self, die: u32, length: Time) {
        self.data_out &= !(1 << die);
        self.grant_from(self.bus_free_at, die, length, false);
    }

    /// The die whose sense ends next, and when, if its data is what the bus is free for then.
    #[inline]
    pub(super) fn next_sensed(&self) -> Option<(Time, u32)> {
        let (end, die) = self.senses.front()?;
        let tie = self.senses.get(1).is_some_and(|(other, _)| other == end);
        let wanted = self.is_wanted();
        (!tie && !wanted && end > self.bus_free_at).then_some((end, u32::from(die)))
    }

    /// Grants the die that [`Channel::next_sensed`] has found the bus from the end of its sense on.
    #[inline]
    pub(super) fn grant_at_sense_end(&mut self, length: Time) {
        if let Some((end, die)) = self.senses.pop_front() {
            self.grant_from(end, u32::from(die), length, true);
        }
    }

    fn grant_from(&mut self, from: Time, die: u32, length: Time, sensing: bool) {
        self.ahead = Some(Ahead {
            from,
            free_at: self.bus_free_at,
            round_robin: self.round_robin,
            sensing,
        });
        self.round_robin = (die + 1) & 63;
        self.transfer = Transfer::Out(die);
        self.hold(from, length);
    }

    /// Takes back data that was granted ahead and has not started: somebody else may go first.
    #[inline]
    pub(super) fn take_back(&mut self, now: Time) {
        let Some(ahead) = self.ahead.take() else {
            return;
        };
        if let (true, Transfer::Out(die)) = (now <= ahead.from, self.transfer) {
            self.transfer = Transfer::None;
            self.round_robin = ahead.round_robin;
            self.busy = self.busy - (self.bus_free_at - ahead.from);
            self.bus_free_at = ahead.free_at;
            match ahead.sensing {
                true => self.sense(die, ahead.from),
                false => self.data_out |= 1 << die,
            }
        }
    }

    /// The die that was served last has data of another plane: it goes on, so that it can start or
    /// go idle the sooner.
    pub(super) fn serve_again(&mut self, die: u32) {
        self.round_robin = die;
    }

    /// Holds the bus for `length`.
    #[inline]
    pub(super) fn hold(&mut self, now: Time, length: Time) {
        self.bus_free_at = now + length;
        self.busy += length;
    }

    /// The time the bus was held.
    pub(super) fn busy_until(&self, now: Time) -> Time {
        let from = self.ahead.map_or(now, |ahead| ahead.from.max(now));
        self.busy - self.bus_free_at.saturating_sub(from)
    }

    /// A die senses until `end`.
    #[inline]
    pub(super) fn sense(&mut self, die: u32, end: Time) {
        self.senses
            .insert_after((end, die as u8), |(other, _)| other > end);
    }

    /// When the first sense ends.
    #[inline]
    pub(super) fn sense_next(&self) -> Time {
        self.senses.front().map_or(Time::MAX, |(end, _)| end)
    }

    /// Takes a die whose sense has ended by `now`.
    #[inline]
    pub(super) fn pop_sensed(&mut self, now: Time) -> Option<u32> {
        let (end, die) = self.senses.front()?;
        if end > now {
            return None;
        }
        self.senses.pop_front();
        Some(u32::from(die))
    }

    /// A die programs or erases until `end`.
    #[inline]
    pub(super) fn work(&mut self, die: u32, end: Time) {
        self.working |= 1 << die;
        self.work_next = self.work_next.min(end);
    }
}

/// The earliest of some dies' times, and whose it is.
#[inline]
pub(super) fn earliest(mut dies: u64, times: &[Time]) -> (Time, u32) {
    let mut first = (Time::MAX, 0);
    while dies != 0 {
        let die = dies.trailing_zeros();
        let time = times[die as usize];
        if time < first.0 {
            first = (time, die);
        }
        dies &= dies - 1;
    }
    first
}
