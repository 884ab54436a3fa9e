//! Physical page addresses: numbers (PPN), their parts, and the order in which a block is programmed.
//!
//! In come numbers, and positions of pages in a superblock; out go wordlines of the device. A number is
//! dense, and consecutive for pages that are filled one after the other:
//!
//! ```text
//!   PPN = (superblock * pages of a superblock + position) * logs + log
//!
//!   position in the superblock, for 2 units U, 2 wordlines W of 3 pages each, log by log:
//!            normal          melded          normal, shadow order
//!            U0    U1        U0    U1        U0    U1
//!   W0      0 2 4 1 3 5     0 1 2 3 4 5     0 4 8  1 5 9        (LSB CSB MSB)
//!   W1      6 8 a 7 9 b     6 7 8 9 a b     2 6 a  3 7 b
//! ```
//!
//! A page is what the mapping has an entry for: a flash page, or one of a few subpages of it. Those of a
//! flash page are filled one after the other, so for the above a flash page counts as one position and
//! its subpages follow it:
//!
//! ```text
//!   normal, 2 subpages     U0: 0 1 | 4 5 | 8 9     U1: 2 3 | 6 7 | a b
//! ```
//!
//! With one log for each unit the pages of a sequential write go to the logs in turn, and are
//! consecutive all the same. Positions are computed, so nothing is stored for a page.
//!
//! In shadow order a wordline's pages are programmed at separate times, so that the last and most
//! precise pass over a wordline comes after its neighbour's coarse ones:
//!
//! ```text
//!   step      0    1        2            3           ...   last
//!   program   L0   L1 C0    L2 C1 M0     L3 C2 M1    ...   the passes that remain
//! ```

use super::region::Region;
use super::stream::Layout;
use crate::engine::Divisor;
use crate::nand::{Geometry, Unit, WordlineAddr};
use crate::profile::{Allocation, Profile, ProgramOrder};

/// The number of a physical page in its NVM set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ppn(pub(crate) u64);

/// The parts of a number: the log, its superblock, and the position in the order of filling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogAddr {
    pub(crate) log_id: u32,
    pub(crate) superblock: u32,
    pub(crate) position: u32,
}

/// A page of a superblock: the unit of the log, the wordline of the block, the page of the
/// wordline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageAddr {
    pub(crate) unit: u32,
    pub(crate) wordline: u32,
    pub(crate) page: u32,
}

/// Translates between the addresses of an NVM set.
#[derive(Clone, Debug)]
pub(crate) struct Addressing {
    /// Independent logs of the set.
    pub(crate) logs: u32,
    /// Units of a log.
    pub(crate) units: u32,
    pub(crate) flash_pages_per_wordline: u32,
    pub(crate) pages_per_wordline: u32,
    /// Log2 of the pages of a flash page.
    subpage_shift: u32,
    pub(crate) wordlines_per_block: u32,
    pub(crate) pages_per_superblock: u32,
    /// Pages of one wordline on every unit of a log.
    pub(crate) pages_per_stripe: u32,
    /// Superblocks of a log.
    pub(crate) superblocks: u32,
    /// What the position of every read is divided by.
    by_row: Divisor,
    by_wordline: Divisor,
    by_units: Divisor,
    by_superblock: Divisor,
    /// By which stripes of a unit are divided.
    by_block: Divisor,
    shadow: Option<ShadowSequence>,
    region: Region,
}

impl Addressing {
    pub(crate) fn new(profile: &Profile, geometry: &Geometry, region: Region) -> Addressing {
        let (logs, units) = match profile.ftl.allocation {
            Allocation::Dynamic => (1, region.units()),
            Allocation::Static => (region.units(), 1),
        };
        let (pages, wordlines) = (geometry.pages_per_wordline, geometry.wordlines_per_block);
        let flash_pages = geometry.flash_pages_per_wordline;
        let is_shadow = profile.ftl.program_order == ProgramOrder::Shadow;
        Addressing {
            logs,
            units,
            flash_pages_per_wordline: flash_pages,
            pages_per_wordline: pages,
            subpage_shift: geometry.subpage_shift,
            wordlines_per_block: wordlines,
            pages_per_superblock: units * wordlines * pages,
            pages_per_stripe: units * pages,
            superblocks: geometry.blocks_per_plane,
            by_row: Divisor::new(units * pages),
            by_wordline: Divisor::new(pages),
            by_units: Divisor::new(units),
            by_superblock: Divisor::new(units * wordlines * pages),
            by_block: Divisor::new(wordlines),
            shadow: is_shadow.then(|| ShadowSequence::new(wordlines, flash_pages)),
            region,
        }
    }

    pub(crate) fn is_shadow(&self) -> bool {
        self.shadow.is_some()
    }

    /// Pages of a flash page.
    #[inline]
    pub(crate) fn subpages(&self) -> u32 {
        1 << self.subpage_shift
    }

    /// Of consecutive pages from one on, how many of at most so many are on the same flash page.
    #[inline]
    pub(crate) fn on_flash_page(&self, page: u32, most: u32) -> u32 {
        most.min(self.subpages() - (page & (self.subpages() - 1)))
    }

    /// Whether wordlines are filled as a whole, and their flash pages programmed one by one.
    pub(crate) fn fills_wordlines(&self, layout: Layout) -> bool {
        self.is_shadow() && layout == Layout::Melded
    }

    /// Pages that are programmed together: those of a wordline, or of a flash page in shadow order.
    pub(crate) fn pages_at_once(&self, layout: Layout) -> u32 {
        match layout {
            Layout::Normal if self.is_shadow() => self.subpages(),
            Layout::Normal | Layout::Melded => self.pages_per_wordline,
        }
    }

    /// Of the pages that are programmed together, when those of others before them take the positions
    /// up to `filled`: the position of the first, and the step from each flash page to the next.
    #[inline]
    pub(crate) fn positions_at_once(&self, layout: Layout, filled: u32) -> (u32, u32) {
        if layout == Layout::Melded || self.is_shadow() {
            return (filled, self.subpages());
        }
        // The wordline's flash pages are a pass over the stripe apart.
        let (wordline, _) = self.by_wordline.divide(filled);
        let (row, unit) = self.by_units.divide(wordline);
        let first = row * self.pages_per_stripe + (unit << self.subpage_shift);
        (first, self.units << self.subpage_shift)
    }

    /// Of a stripe in one-shot order: positions from the first page of a unit's wordline to that of the
    /// next unit's, and the step from each flash page of a wordline to the next.
    pub(crate) fn strides(&self, layout: Layout) -> (u32, u32) {
        match layout {
            Layout::Melded => (self.pages_per_wordline, self.subpages()),
            Layout::Normal => (self.subpages(), self.units << self.subpage_shift),
        }
    }

    /// How many positions the n-th page of a wordline comes after the first, with such a step between flash
    /// pages.
    #[inline]
    pub(crate) fn offset(&self, step: u32, n: u32) -> u32 {
        (n >> self.subpage_shift) * step + (n & (self.subpages() - 1))
    }

    /// The log that takes a page, when the logical page decides.
    pub(crate) fn log_of(&self, page: u64, layout: Layout) -> u32 {
        if self.logs == 1 {
            return 0;
        }
        let index = match layout {
            Layout::Normal => page,
            Layout::Melded => page / u64::from(self.pages_per_wordline),
        };
        (index % u64::from(self.logs)) as u32
    }

    /// The number of a position from the first of a superblock on, which may be of one after it.
    pub(crate) fn ppn(&self, log_id: u32, superblock: u32, position: impl Into<u64>) -> Ppn {
        let [superblock, pages, logs, log_id] =
            [superblock, self.pages_per_superblock, self.logs, log_id].map(u64::from);
        Ppn((superblock * pages + position.into()) * logs + log_id)
    }

    /// A number's place in its log, and the log.
    #[inline(always)]
    fn in_log(&self, ppn: Ppn) -> (u64, u32) {
        match u64::from(self.logs) {
            1 => (ppn.0, 0),
            logs => (ppn.0 / logs, (ppn.0 % logs) as u32),
        }
    }

    #[inline(always)]
    pub(crate) fn log_addr(&self, ppn: Ppn) -> LogAddr {
        let (number, log_id) = self.in_log(ppn);
        let (superblock, position) = self.by_superblock.divide(number);
        LogAddr {
            log_id,
            superblock,
            position,
        }
    }

    /// Divides consecutive numbers into pieces of consecutive positions. A run of numbers goes on in
    /// its superblock, or from log to log.
    #[inline]
    pub(crate) fn pieces(&self, first: Ppn, pages: u32) -> impl Iterator<Item = (LogAddr, u32)> {
        let mut done = 0;
        std::iter::from_fn(move || {
            if done == pages {
                return None;
            }
            let (number, log_id) = self.in_log(Ppn(first.0 + u64::from(done)));
            let of_superblock = u64::from(self.pages_per_superblock);
            // Not by multiplication: garbage collection's search of the map is slower then.
            let at = LogAddr {
                log_id,
                superblock: (number / of_superblock) as u32,
                position: (number % of_superblock) as u32,
            };
            let here = match self.logs {
                1 => (pages - done).min(self.pages_per_superblock - at.position),
                _ => 1,
            };
            done += here;
            Some((at, here))
        })
    }

    #[inline(always)]
    pub(crate) fn page_addr(&self, layout: Layout, position: u32) -> PageAddr {
        let (unit, wordline, page) = match (layout, &self.shadow) {
            (Layout::Melded, _) => {
                let (wordline, page) = self.by_wordline.divide(position);
                let (row, unit) = self.by_units.divide(wordline);
                (unit, row, page)
            }
            (Layout::Normal, None) => {
                let (row, rest) = self.by_row.divide(position);
                let (page, unit) = self.by_units.divide(rest >> self.subpage_shift);
                (unit, row, page)
            }
            (Layout::Normal, Some(sequence)) => {
                let flash_page = position >> self.subpage_shift;
                let (step, unit) = self.by_units.divide(flash_page);
                let (wordline, page) = sequence.page_at(step);
                (unit, wordline, page)
            }
        };
        let page = match layout {
            Layout::Melded => page,
            Layout::Normal => (page << self.subpage_shift) | (position & (self.subpages() - 1)),
        };
        PageAddr {
            unit,
            wordline,
            page,
        }
    }

    #[inline]
    pub(crate) fn position(&self, layout: Layout, at: PageAddr) -> u32 {
        let PageAddr {
            unit,
            wordline,
            page,
        } = at;
        let (flash_page, subpage) = (page >> self.subpage_shift, page & (self.subpages() - 1));
        let before = match (layout, &self.shadow) {
            (Layout::Melded, _) => {
                return (wordline * self.units + unit) * self.pages_per_wordline + page;
            }
            (Layout::Normal, None) => {
                (wordline * self.flash_pages_per_wordline + flash_page) * self.units + unit
            }
            (Layout::Normal, Some(sequence)) => {
                sequence.position_of(wordline, flash_page) * self.units + unit
            }
        };
        (before << self.subpage_shift) | subpage
    }

    /// Whether a position of a superblock is filled, when `next` is what its stream fills next.
    pub(crate) fn is_filled(&self, layout: Layout, position: u32, next: u32) -> bool {
        match layout {
            Layout::Normal if !self.is_shadow() => {
                // A wordline at a time, whose pages are a pass over the stripe apart.
                let at = self.page_addr(layout, position);
                (at.wordline * self.units + at.unit) * self.pages_per_wordline < next
            }
            Layout::Normal | Layout::Melded => position < next,
        }
    }

    /// Moves on to the first page of the flash page that is filled next in the normal layout and one-shot
    /// order. `WHOLE`: flash pages are of one page.
    #[inline]
    pub(crate) fn next_striped<const WHOLE: bool>(&self, at: &mut PageAddr) {
        let subpages = if WHOLE { 1 } else { self.subpages() };
        at.page &= !(subpages - 1);
        at.unit += 1;
        if at.unit == self.units {
            at.unit = 0;
            at.page += subpages;
            if at.page == self.pages_per_wordline {
                at.page = 0;
                at.wordline += 1;
            }
        }
    }

    /// Where the wordline of a page of a superblock lies on the device.
    #[inline]
    pub(crate) fn wordline(&self, log_id: u32, superblock: u32, at: PageAddr) -> WordlineAddr {
        WordlineAddr {
            unit: self.unit(log_id, at.unit),
            row: superblock * self.wordlines_per_block + at.wordline,
        }
    }

    /// The device's number of a unit of a log. Of log and unit one is always 0.
    pub(crate) fn unit(&self, log_id: u32, unit: u32) -> Unit {
        self.region.unit(log_id + unit)
    }

    /// The log and the superblock of a wordline of the device, and the address of its first page.
    pub(crate) fn locate(&self, at: WordlineAddr) -> (u32, u32, PageAddr) {
        let local = self.region.local(at.unit);
        let (log_id, unit) = if self.logs == 1 {
            (0, local)
        } else {
            (local, 0)
        };
        let (superblock, wordline) = self.by_block.divide(at.row);
        let first = PageAddr {
            unit,
            wordline,
            page: 0,
        };
        (log_id, superblock, first)
    }
}

/// In which order the flash pages of a block are programmed, and the inverse. Pages here are flash pages.
#[derive(Clone, Debug)]
pub(super) struct ShadowSequence {
    pages_per_wordline: u32,
    /// Pages, numbered wordline by wordline, in the order of programming.
    order: Box<[u32]>,
    position: Box<[u32]>,
}

impl ShadowSequence {
    pub(crate) fn new(wordlines: u32, pages_per_wordline: u32) -> ShadowSequence {
        let mut order = Vec::with_capacity((wordlines * pages_per_wordline) as usize);
        for step in 0..wordlines + pages_per_wordline - 1 {
            let pages = passes(step, wordlines, pages_per_wordline);
            order.extend(pages.map(|(wordline, page)| wordline * pages_per_wordline + page));
        }
        let mut position = vec![0; order.len()];
        for (n, &page) in (0..).zip(&order) {
            position[page as usize] = n;
        }
        ShadowSequence {
            pages_per_wordline,
            order: order.into_boxed_slice(),
            position: position.into_boxed_slice(),
        }
    }

    /// The wordline and the page of it that is programmed `n`-th.
    pub(crate) fn page_at(&self, n: u32) -> (u32, u32) {
        let page = self.order[n as usize];
        (
            page / self.pages_per_wordline,
            page % self.pages_per_wordline,
        )
    }

    pub(crate) fn position_of(&self, wordline: u32, page: u32) -> u32 {
        self.position[(wordline * self.pages_per_wordline + page) as usize]
    }
}

/// What a step programs: a page of each wordline that is open.
pub(super) fn passes(step: u32, wordlines: u32, pages: u32) -> impl Iterator<Item = (u32, u32)> {
    let first = (step + 1).saturating_sub(wordlines);
    (first..pages.min(step + 1)).map(move |page| (step - page, page))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::ByteSize;

    fn addressing() -> impl Strategy<Value = Addressing> {
        (
            1..=3u32,
            1..=4u32,
            1..=3u32,
            1..=4usize,
            1..=6u32,
            any::<bool>(),
            any::<bool>(),
            0..=2u32,
        )
            .prop_map(
                |(channels, dies, planes, pages, wordlines, fixed, shadow, subpage_shift)| {
                    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
                    profile.geometry.channels = channels;
                    profile.geometry.dies_per_channel = dies;
                    profile.geometry.planes_per_die = planes;
                    profile.geometry.blocks_per_plane = 5;
                    profile.geometry.wordlines_per_block = wordlines;
                    profile.timing.read = vec![profile.timing.erase; pages];
                    if fixed {
                        profile.ftl.allocation = Allocation::Static;
                    } else {
                        let unit = profile.geometry.page_size.0 >> subpage_shift;
                        profile.ftl.mapping_unit = ByteSize(unit);
                    }
                    if shadow {
                        profile.ftl.program_order = ProgramOrder::Shadow;
                    }
                    let geometry = Geometry::new(&profile);
                    let region = Region::all(&profile, &geometry).remove(0);
                    Addressing::new(&profile, &geometry, region)
                },
            )
    }

    proptest! {
        /// Numbers are dense, and each leads to a page of its own and back.
        #[test]
        fn numbers_and_pages_are_a_bijection(addressing in addressing(), melded in any::<bool>()) {
            let layout = if melded { Layout::Melded } else { Layout::Normal };
            let pages = addressing.logs * addressing.pages_per_superblock * addressing.superblocks;
            let mut seen = std::collections::HashSet::new();
            // As many superblocks further numbers have more than 32 bits.
            let far = u64::from(addressing.logs * addressing.pages_per_superblock) << 30;
            for number in 0..u64::from(pages) {
                let LogAddr { log_id, superblock, position } = addressing.log_addr(Ppn(number));
                prop_assert_eq!(addressing.ppn(log_id, superblock, position), Ppn(number));
                let there = LogAddr { log_id, superblock: superblock + (1 << 30), position };
                prop_assert_eq!(addressing.log_addr(Ppn(far + number)), there);
                prop_assert_eq!(addressing.ppn(log_id, there.superblock, position), Ppn(far + number));
                let at = addressing.page_addr(layout, position);
                prop_assert!(at.page < addressing.pages_per_wordline);
                prop_assert_eq!(addressing.position(layout, at), position);
                let wordline = addressing.wordline(log_id, superblock, at);
                prop_assert!(seen.insert((wordline, at.page)));
                let first = PageAddr { page: 0, ..at };
                prop_assert_eq!(addressing.locate(wordline), (log_id, superblock, first));
                let here = addressing.on_flash_page(at.page, u32::MAX);
                let mut next = at;
                addressing.next_striped::<false>(&mut next);
                if layout == Layout::Normal && !addressing.is_shadow()
                    && position + here < addressing.pages_per_superblock
                {
                    prop_assert_eq!(addressing.page_addr(layout, position + here), next);
                }
                let page = addressing.page_addr(layout, position + here - 1);
                let last = PageAddr { page: at.page + here - 1, ..at };
                prop_assert_eq!(page, last, "subpages follow each other");
            }
        }
    }

    proptest! {
        /// A run of numbers falls into pieces that go on where the one before ends.
        #[test]
        fn pieces_of_a_run_are_the_run(
            addressing in addressing(),
            first: u32,
            pages in 0..200u32,
            is_far: bool,
        ) {
            let all = addressing.logs * addressing.pages_per_superblock * addressing.superblocks;
            let first = first % all;
            let pages = pages.min(all - first);
            let span = u64::from(addressing.logs * addressing.pages_per_superblock);
            let first = u64::from(first) + if is_far { span << 30 } else { 0 };
            let mut next = first;
            for (at, pages) in addressing.pieces(Ppn(first), pages) {
                prop_assert!(pages > 0 && at.position + pages <= addressing.pages_per_superblock);
                for position in at.position..at.position + pages {
                    prop_assert_eq!(addressing.ppn(at.log_id, at.superblock, position), Ppn(next));
                    next += 1;
                }
            }
            prop_assert_eq!(next, first + u64::from(pages));
        }

        /// What is programmed together is a wordline, or a page, and each page once.
        #[test]
        fn what_is_programmed_together_fills_a_superblock(
            addressing in addressing(),
            melded in any::<bool>(),
        ) {
            let layout = Layout::new(melded);
            let at_once = addressing.pages_at_once(layout);
            let mut seen = std::collections::HashSet::new();
            for filled in (0..addressing.pages_per_superblock).step_by(at_once as usize) {
                let (first, step) = addressing.positions_at_once(layout, filled);
                let at = addressing.page_addr(layout, first);
                for page in 0..at_once {
                    let position = first + addressing.offset(step, page);
                    prop_assert!(seen.insert(position));
                    prop_assert!(addressing.is_filled(layout, position, filled + at_once));
                    prop_assert!(!addressing.is_filled(layout, position, filled));
                    let expected = PageAddr { page: at.page + page, ..at };
                    prop_assert_eq!(addressing.page_addr(layout, position), expected);
                }
            }
            prop_assert_eq!(seen.len() as u32, addressing.pages_per_superblock);
        }
    }

    #[test]
    fn tlc_is_programmed_in_the_published_order() {
        let sequence = ShadowSequence::new(4, 3);
        let names: Vec<String> = (0..12)
            .map(|n| {
                let (wordline, page) = sequence.page_at(n);
                format!("{}{wordline}", ["L", "C", "M"][page as usize])
            })
            .collect();
        assert_eq!(names.join(" "), "L0 L1 C0 L2 C1 M0 L3 C2 M1 C3 M2 M3");
    }

    #[test]
    fn each_page_is_programmed_once_even_in_blocks_shorter_than_the_steps() {
        for wordlines in 1..7 {
            for pages in 1..=4 {
                let sequence = ShadowSequence::new(wordlines, pages);
                assert_eq!(sequence.order.len() as u32, wordlines * pages);
                for n in 0..wordlines * pages {
                    let (wordline, page) = sequence.page_at(n);
                    assert_eq!(sequence.position_of(wordline, page), n);
                }
            }
        }
    }
}
