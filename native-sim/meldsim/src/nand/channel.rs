//! A channel: who gets the bus.

use std::collections::VecDeque;

use crate::engine::Time;
use crate::profile::Arbitration;

/// What crosses the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    None,
    /// Pages of a die, to the controller.
    Out(u32),
    /// A wordline, to a die.
    In(u32),
}

/// Who gets the bus next; the number is the die's on its channel (its way).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    Nothing,
    Command(u32),
    DataOut(u32),
    DataIn(u32),
}

/// The bus of a channel and the dies that wait for it, as sets of ways.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) bus_free_at: Time,
    pub(super) transfer: Transfer,
    /// Ways that sense; each ends at its entry in [`Flash`](super::Flash)'s table.
    pub(super) sensing: u64,
    /// Ways that program or erase.
    pub(super) working: u64,
    /// Ways whose pages wait for the bus.
    pub(super) data_out: u64,
    /// Ways that wait for the data of a program.
    pub(super) data_in: u64,
    /// Ways that wait to be given a command, in the order in which they became idle.
    pub(super) commands: VecDeque<u8>,
    /// The way data arbitration starts from: the one after the last served.
    round_robin: u32,
    /// When this channel is next looked at; later entries in the event queue are stale.
    pub(super) wake_at: Time,
    pub(super) busy: Time,
}

impl Channel {
    pub(super) fn new(ways: u32) -> Channel {
        Channel {
            bus_free_at: Time::ZERO,
            transfer: Transfer::None,
            sensing: 0,
            working: 0,
            data_out: 0,
            data_in: 0,
            commands: VecDeque::with_capacity(ways as usize),
            round_robin: 0,
            wake_at: Time::MAX,
            busy: Time::ZERO,
        }
    }

    /// Whether a die waits for the bus.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        (self.data_out | self.data_in) != 0 || !self.commands.is_empty()
    }

    /// Takes the next user of a free bus off its set.
    #[inline]
    pub(super) fn arbitrate(&mut self, arbitration: Arbitration) -> Grant {
        let data = self.data_out | self.data_in;
        let data_now = data != 0
            && match arbitration {
                Arbitration::CommandsFirst => self.commands.is_empty(),
                Arbitration::DataFirst => true,
            };
        if !data_now {
            return match self.commands.pop_front() {
                Some(way) => Grant::Command(u32::from(way)),
                None => Grant::Nothing,
            };
        }
        let ahead = data & (u64::MAX << self.round_robin);
        let way = if ahead != 0 { ahead } else { data }.trailing_zeros();
        self.round_robin = (way + 1) & 63;
        let bit = 1 << way;
        if self.data_out & bit != 0 {
            self.data_out &= !bit;
            Grant::DataOut(way)
        } else {
            self.data_in &= !bit;
            Grant::DataIn(way)
        }
    }

    /// Holds the bus for `length`.
    #[inline]
    pub(super) fn hold(&mut self, now: Time, length: Time) {
        self.bus_free_at = now + length;
        self.busy += length;
    }
}
