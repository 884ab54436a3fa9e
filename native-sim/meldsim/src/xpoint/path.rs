//! The controller's data path: one for both directions, data one after the other.

use crate::engine::Time;
use crate::profile::Xpoint;

#[derive(Debug)]
pub(super) struct Path {
    /// What a byte takes, in picoseconds times 2^20.
    read_byte: u64,
    write_byte: u64,
    free_at: Time,
    /// What all data so far take.
    total: Time,
}

const SCALE: u32 = 20;

impl Path {
    pub(super) fn new(xpoint: &Xpoint) -> Path {
        let byte = |rate: u64| ((1_000_000_000_000u128 << SCALE) / u128::from(rate.max(1))) as u64;
        Path {
            read_byte: byte(xpoint.read_rate.0),
            write_byte: byte(xpoint.write_rate.0),
            free_at: Time::ZERO,
            total: Time::ZERO,
        }
    }

    /// When data that are ready now have passed.
    #[inline]
    pub(super) fn transfer(&mut self, now: Time, bytes: u32, is_write: bool) -> Time {
        let byte = if is_write {
            self.write_byte
        } else {
            self.read_byte
        };
        let ps = (u128::from(byte) * u128::from(bytes)) >> SCALE;
        let time = Time::from_ps(ps as u64);
        self.free_at = self.free_at.max(now) + time;
        self.total += time;
        self.free_at
    }

    /// Time it was in use: what is still to pass follows without a gap.
    pub(super) fn busy(&self, now: Time) -> Time {
        self.total - self.free_at.saturating_sub(now)
    }
}
