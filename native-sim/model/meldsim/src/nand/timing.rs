//! What everything takes, in picoseconds, computed once.

use super::geometry::{MAX_FLASH_PAGES_PER_WORDLINE, PageSet};
use crate::engine::Duration;
use crate::profile::{MeldedPartialRead, Profile};

/// The times of a device.
#[derive(Clone, Debug)]
pub(crate) struct Timing {
    /// A command on the bus.
    pub(crate) command: Duration,
    /// One page with its spare area on the bus.
    pub(crate) page_transfer: Duration,
    /// A codeword of 4 KiB with its spare area on the bus.
    codeword_transfer: Duration,
    /// All pages of a wordline on the bus.
    pub(crate) wordline_transfer: Duration,
    /// Bytes of one page on the bus, and of a codeword.
    pub(crate) page_bus_bytes: u64,
    pub(crate) codeword_bus_bytes: u64,
    /// Sensing each flash page of a wordline alone.
    pub(crate) sense: [Duration; MAX_FLASH_PAGES_PER_WORDLINE],
    /// Sensing all of them at once.
    pub(crate) melded_sense: Duration,
    pub(crate) erase: Duration,
    /// For each set of flash pages of a wordline: programming them.
    program: [Duration; 1 << MAX_FLASH_PAGES_PER_WORDLINE],
    /// For each set of flash pages: sensing them on their way to another wordline of the plane.
    copy_sense: [Duration; 1 << MAX_FLASH_PAGES_PER_WORDLINE],
    /// All pages of a wordline.
    pub(crate) whole: PageSet,
    pages_per_wordline: u32,
    /// Log2 of the pages of a flash page.
    subpage_shift: u32,
    /// The pages of the first flash page.
    first_pages: PageSet,
    /// For each set of flash pages of a melded wordline: read it melded?
    meld: [bool; 1 << MAX_FLASH_PAGES_PER_WORDLINE],
}

impl Timing {
    pub(crate) fn new(profile: &Profile) -> Timing {
        let bus = &profile.bus;
        // One byte takes 8e6 / (MT/s x bits) picoseconds. Rounding happens once for each transfer,
        // not for each byte: published cells are sensitive to less than a nanosecond a page.
        let bits_per_us = u128::from(bus.rate.0) * u128::from(bus.width_bits);
        let page = u128::from(profile.mapping_unit().0) * u128::from(bus.bytes_per_4kib);
        let page_transfer = divide(page * 8_000_000, 4096 * bits_per_us);
        let codeword = u128::from(bus.bytes_per_4kib) * 8_000_000;
        let command = divide(u128::from(bus.command_bytes) * 8_000_000, bits_per_us);
        let mut sense = [Duration::ZERO; MAX_FLASH_PAGES_PER_WORDLINE];
        for (slot, time) in sense.iter_mut().zip(&profile.timing.read) {
            *slot = *time;
        }
        let pages = profile.timing.read.len();
        let all_pages = profile.units_per_wordline();
        let subpages = all_pages / pages as u32;
        let mut timing = Timing {
            command,
            page_transfer,
            codeword_transfer: divide(codeword, bits_per_us),
            wordline_transfer: page_transfer * u64::from(all_pages),
            sense,
            melded_sense: profile.timing.melded_read.unwrap_or(Duration::ZERO),
            page_bus_bytes: ((page + 2048) / 4096) as u64,
            codeword_bus_bytes: bus.bytes_per_4kib.into(),
            program: [profile.timing.program; 1 << MAX_FLASH_PAGES_PER_WORDLINE],
            copy_sense: [Duration::ZERO; 1 << MAX_FLASH_PAGES_PER_WORDLINE],
            erase: profile.timing.erase,
            pages_per_wordline: all_pages,
            whole: ((1u32 << all_pages) - 1) as PageSet,
            subpage_shift: subpages.ilog2(),
            first_pages: ((1u32 << subpages) - 1) as PageSet,
            meld: [false; 1 << MAX_FLASH_PAGES_PER_WORDLINE],
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

    /// How long the array programs some pages.
    pub(crate) fn program(&self, pages: PageSet) -> Duration {
        self.program[self.flash_pages(pages)]
    }

    /// How long the array copies some pages to another wordline of the plane.
    pub(crate) fn copyback(&self, pages: PageSet) -> Duration {
        let flash_pages = self.flash_pages(pages);
        self.copy_sense[flash_pages] + self.program[flash_pages]
    }

    /// How long so many pages cross the bus, without so many codewords of theirs.
    #[inline]
    pub(crate) fn transfer(&self, pages: u32, skipped: u32) -> Duration {
        self.page_transfer * u64::from(pages) - self.codeword_transfer * u64::from(skipped)
    }

    /// How many pages there are in a set; of a whole wordline, without counting.
    #[inline]
    pub(crate) fn count(&self, pages: PageSet) -> u32 {
        match pages == self.whole {
            true => self.pages_per_wordline,
            false => pages.count_ones(),
        }
    }

    /// The flash page of a page.
    #[inline]
    pub(crate) fn flash_page(&self, page: u32) -> u32 {
        page >> self.subpage_shift
    }

    /// The pages of a flash page.
    #[inline]
    pub(crate) fn pages_of(&self, flash_page: u32) -> PageSet {
        self.first_pages << (flash_page << self.subpage_shift)
    }

    /// Of some pages, those that are on the flash page of the first.
    #[inline]
    pub(crate) fn on_first_flash_page(&self, pages: PageSet) -> PageSet {
        match self.subpage_shift {
            0 => pages & pages.wrapping_neg(),
            _ => pages & self.pages_of(self.flash_page(pages.trailing_zeros())),
        }
    }

    /// The flash pages of some pages, as a set that is within bounds.
    #[inline]
    fn flash_pages(&self, pages: PageSet) -> usize {
        let mut set = usize::from(pages);
        if self.subpage_shift > 0 {
            let all = 0..MAX_FLASH_PAGES_PER_WORDLINE as u32;
            let is_in = |page: &u32| pages & self.pages_of(*page) != 0;
            set = all.filter(is_in).map(|page| 1 << page).sum();
        }
        set & ((1 << MAX_FLASH_PAGES_PER_WORDLINE) - 1)
    }

    /// How long a melded read occupies a die on an idle bus.
    fn melded_read(&self) -> Duration {
        self.command + self.melded_sense + self.wordline_transfer
    }

    /// How long reading the flash pages of `mask` one by one does.
    fn single_reads(&self, mask: u32) -> Duration {
        let transfer = self.page_transfer * (1 << self.subpage_shift);
        (0..MAX_FLASH_PAGES_PER_WORDLINE)
            .filter(|page| mask & (1 << page) != 0)
            .map(|page| self.command + self.sense[page] + transfer)
            .sum()
    }

    /// Whether some pages, all of one melded wordline, are read melded.
    #[inline]
    pub(crate) fn melds(&self, pages: PageSet) -> bool {
        self.meld[self.flash_pages(pages)]
    }
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
        let melded: Vec<PageSet> = (1..8).filter(|&mask| timing.melds(mask)).collect();
        // CSB and MSB together (185 us of sensing) and all three; every other set is cheaper alone.
        assert_eq!(melded, [0b110, 0b111]);
        profile.ftl.melded_partial_read = MeldedPartialRead::WholeWordline;
        let timing = Timing::new(&profile);
        assert!((1..8).all(|mask| timing.melds(mask)));
    }
}
