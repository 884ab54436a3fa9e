//! What everything takes, in picoseconds, computed once.

use super::geometry::MAX_PAGES_PER_WORDLINE;
use crate::engine::Duration;
use crate::profile::{MeldedPartialRead, Profile};

/// The times of a device.
#[derive(Clone, Debug)]
pub(crate) struct Timing {
    /// A command on the bus.
    pub(crate) command: Duration,
    /// One page with its spare area on the bus.
    pub(crate) page_transfer: Duration,
    /// All pages of a wordline on the bus.
    pub(crate) wordline_transfer: Duration,
    /// Bytes of one page on the bus.
    pub(crate) page_bus_bytes: u64,
    /// Sensing each page of a wordline alone.
    pub(crate) sense: [Duration; MAX_PAGES_PER_WORDLINE],
    /// Sensing all of them at once.
    pub(crate) melded_sense: Duration,
    pub(crate) erase: Duration,
    /// For each set of pages of a wordline: programming them.
    program: [Duration; 1 << MAX_PAGES_PER_WORDLINE],
    /// For each set of pages: sensing them on their way to another wordline of the plane.
    copy_sense: [Duration; 1 << MAX_PAGES_PER_WORDLINE],
    /// All pages of a wordline.
    pub(crate) whole: u8,
    /// For each set of pages of a melded wordline: read it melded?
    meld: [bool; 1 << MAX_PAGES_PER_WORDLINE],
}

impl Timing {
    pub(crate) fn new(profile: &Profile) -> Timing {
        let bus = &profile.bus;
        // One byte takes 8e6 / (MT/s x bits) picoseconds. Rounding happens once for each transfer,
        // not for each byte: published cells are sensitive to less than a nanosecond a page.
        let bits_per_us = u128::from(bus.rate.0) * u128::from(bus.width_bits);
        let page = u128::from(profile.geometry.page_size.0) * u128::from(bus.bytes_per_4kib);
        let page_transfer = divide(page * 8_000_000, 4096 * bits_per_us);
        let command = divide(u128::from(bus.command_bytes) * 8_000_000, bits_per_us);
        let mut sense = [Duration::ZERO; MAX_PAGES_PER_WORDLINE];
        for (slot, time) in sense.iter_mut().zip(&profile.timing.read) {
            *slot = *time;
        }
        let pages = profile.timing.read.len();
        let mut timing = Timing {
            command,
            page_transfer,
            wordline_transfer: page_transfer * pages as u64,
            sense,
            melded_sense: profile.timing.melded_read.unwrap_or(Duration::ZERO),
            page_bus_bytes: ((page + 2048) / 4096) as u64,
            program: [profile.timing.program; 1 << MAX_PAGES_PER_WORDLINE],
            copy_sense: [Duration::ZERO; 1 << MAX_PAGES_PER_WORDLINE],
            erase: profile.timing.erase,
            whole: ((1u32 << pages) - 1) as u8,
            meld: [false; 1 << MAX_PAGES_PER_WORDLINE],
        };
        if profile.timing.melded_read.is_some() {
            for mask in 1..1u32 << pages {
                timing.meld[mask as usize] = match profile.ftl.melded_partial_read {
                    MeldedPartialRead::WholeWordline => true,
                    MeldedPartialRead::Cheapest => timing.melded_read() < timing.single_reads(mask),
                };
            }
        }
        for mask in 1..1u32 << pages {
            let all = mask == (1 << pages) - 1;
            if let (false, Some(times)) = (all, &profile.timing.program_pages) {
                timing.program[mask as usize] = in_mask(mask, times).sum();
            }
            timing.copy_sense[mask as usize] = match profile.timing.melded_read {
                Some(melded) if all => melded,
                _ => in_mask(mask, &profile.timing.read).sum(),
            };
        }
        timing
    }

    /// How long the array programs the pages of `mask`.
    pub(crate) fn program(&self, mask: u8) -> Duration {
        self.program[index(mask)]
    }

    /// How long the array copies the pages of `mask` to another wordline of the plane.
    pub(crate) fn copyback(&self, mask: u8) -> Duration {
        self.copy_sense[index(mask)] + self.program[index(mask)]
    }

    /// How long a melded read occupies a die on an idle bus.
    fn melded_read(&self) -> Duration {
        self.command + self.melded_sense + self.wordline_transfer
    }

    /// How long reading the pages of `mask` one by one does.
    fn single_reads(&self, mask: u32) -> Duration {
        (0..MAX_PAGES_PER_WORDLINE)
            .filter(|page| mask & (1 << page) != 0)
            .map(|page| self.command + self.sense[page] + self.page_transfer)
            .sum()
    }

    /// Whether the pages of `mask`, all of one melded wordline, are read melded.
    #[inline]
    pub(crate) fn melds(&self, mask: u8) -> bool {
        self.meld[index(mask)]
    }
}

/// A set of pages as an index that is within bounds.
#[inline]
fn index(mask: u8) -> usize {
    usize::from(mask) & ((1 << MAX_PAGES_PER_WORDLINE) - 1)
}

/// Of each page's times, those of the pages in the set.
fn in_mask(mask: u32, times: &[Duration]) -> impl Iterator<Item = Duration> {
    let times = times.iter().enumerate();
    times.filter_map(move |(page, time)| (mask & (1 << page) != 0).then_some(*time))
}

/// Rounds to the nearest picosecond.
fn divide(numerator: u128, denominator: u128) -> Duration {
    Duration::from_ps(((numerator + denominator / 2) / denominator) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bus_times_of_the_preset() {
        let timing = Timing::new(&Profile::builtin("melded-tlc-8x8").unwrap());
        assert_eq!(timing.page_transfer, Duration::from_ps(5_781_250));
        assert_eq!(timing.command, Duration::from_ps(12_500));
    }

    #[test]
    fn a_partial_read_melds_only_when_that_is_cheaper() {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        let timing = Timing::new(&profile);
        let melded: Vec<u8> = (1..8).filter(|&mask| timing.melds(mask)).collect();
        // CSB and MSB together (185 us of sensing) and all three; every other set is cheaper alone.
        assert_eq!(melded, [0b110, 0b111]);
        profile.ftl.melded_partial_read = MeldedPartialRead::WholeWordline;
        let timing = Timing::new(&profile);
        assert!((1..8).all(|mask| timing.melds(mask)));
    }
}
