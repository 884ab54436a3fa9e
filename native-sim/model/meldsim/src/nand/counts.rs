//! What the flash counts, and how busy its parts are.

use std::ops::Range;

use super::geometry::Geometry;
use super::timing::Timing;
use crate::engine::{Duration, Instant, TotalTime};
use crate::profile::Energy;

/// What one die has done, or all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DieCounts {
    /// Reads of one flash page.
    pub(crate) page_reads: u64,
    /// Pages that these read beyond the first of their flash page.
    pub(crate) more_pages_read: u64,
    /// Codewords of these pages that did not cross the bus.
    pub(super) codewords_skipped: u64,
    pub(crate) melded_reads: u64,
    pub(crate) melded_pages_read: u64,
    /// Programs of whole wordlines.
    pub(super) programs: u64,
    /// Programs of less.
    pub(super) partial_programs: u64,
    pub(crate) pages_programmed: u64,
    pub(crate) erases: u64,
    pub(crate) copybacks: u64,
    /// Time its planes were in use, summed over planes.
    pub(crate) plane_busy: TotalTime,
}

impl DieCounts {
    /// Pages that somebody had asked for.
    pub(crate) fn pages_read(&self) -> u64 {
        self.page_reads + self.more_pages_read + self.melded_pages_read
    }

    pub(super) fn add(&mut self, other: &DieCounts) {
        self.page_reads += other.page_reads;
        self.more_pages_read += other.more_pages_read;
        self.codewords_skipped += other.codewords_skipped;
        self.melded_reads += other.melded_reads;
        self.melded_pages_read += other.melded_pages_read;
        self.programs += other.programs;
        self.partial_programs += other.partial_programs;
        self.pages_programmed += other.pages_programmed;
        self.erases += other.erases;
        self.copybacks += other.copybacks;
        self.plane_busy = self.plane_busy + other.plane_busy;
    }
}

/// What is not counted by die.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommandCounts {
    pub(crate) program_suspends: u64,
    pub(crate) erase_suspends: u64,
    pub(crate) cached_reads: u64,
    pub(crate) cached_programs: u64,
    /// Transactions that read or program, by how many planes and dies they use at once: one plane,
    /// plane sharing, die interleaving, multi-plane and interleaved. The words are those of Jung and Kandemir,
    /// "An Evaluation of Different Page Allocation Strategies on High-Speed SSDs" (HotStorage'12).
    pub(crate) transactions: [u64; 4],
    pub(crate) transaction_pages: [u64; 4],
}

impl CommandCounts {
    /// Adds what was counted elsewhere.
    pub(super) fn add(&mut self, other: &CommandCounts) {
        self.program_suspends += other.program_suspends;
        self.erase_suspends += other.erase_suspends;
        self.cached_reads += other.cached_reads;
        self.cached_programs += other.cached_programs;
        for class in 0..self.transactions.len() {
            self.transactions[class] += other.transactions[class];
            self.transaction_pages[class] += other.transaction_pages[class];
        }
    }

    #[inline]
    pub(super) fn transaction(&mut self, several_planes: bool, several_dies: bool, pages: u32) {
        let class = usize::from(several_planes) | usize::from(several_dies) << 1;
        self.transactions[class] += 1;
        self.transaction_pages[class] += u64::from(pages);
    }
}

/// What the flash has done since it was built.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlashStats {
    /// Of all dies together.
    pub(crate) dies: DieCounts,
    pub(crate) commands: CommandCounts,
    pub(crate) channel_busy: TotalTime,
    pub(crate) package_busy: TotalTime,
    pub(crate) die_busy: TotalTime,
    pub(crate) read_energy_nj: u64,
    pub(crate) program_energy_nj: u64,
    pub(crate) erase_energy_nj: u64,
    pub(crate) bus_energy_nj: u64,
}

impl FlashStats {
    /// Adds what the counted operations take.
    pub(super) fn with_energy(self, timing: &Timing, energy: &Energy) -> FlashStats {
        let dies = &self.dies;
        let total = |parts: &[(u64, u64)]| {
            let parts = parts.iter();
            let each = parts.map(|&(count, energy)| u128::from(count) * u128::from(energy));
            let picojoules: u128 = each.sum();
            u64::try_from(picojoules / 1_000).unwrap_or(u64::MAX)
        };
        let melded_pages = dies.melded_reads * u64::from(timing.whole.count_ones());
        let single_pages = dies.page_reads + dies.more_pages_read;
        let bus_pages = single_pages + melded_pages + dies.pages_programmed;
        let bus_bytes =
            bus_pages * timing.page_bus_bytes - dies.codewords_skipped * timing.codeword_bus_bytes;
        FlashStats {
            read_energy_nj: total(&[
                (dies.page_reads, energy.read.0),
                (dies.melded_reads, energy.melded_read.0),
            ]),
            program_energy_nj: total(&[
                (dies.programs, energy.program.0),
                (dies.partial_programs, energy.program_page.0),
                // A copyback senses the wordline and programs another.
                (dies.copybacks, energy.program.0 + energy.melded_read.0),
            ]),
            erase_energy_nj: total(&[(dies.erases, energy.erase.0)]),
            bus_energy_nj: total(&[(bus_bytes, energy.bus_byte.0)]),
            ..self
        }
    }
}

/// Busy times of packages of several dies; a package of one is as busy as its die.
#[derive(Debug)]
pub(super) struct Packages {
    dies_per_package: usize,
    packages: Vec<Package>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Package {
    busy_dies: u32,
    since: Instant,
    busy: Duration,
}

impl Packages {
    pub(super) fn new(geometry: &Geometry) -> Packages {
        let dies_per_package = geometry.dies_per_package as usize;
        let packages = match dies_per_package {
            1 => 0,
            _ => geometry.dies as usize / dies_per_package,
        };
        Packages {
            dies_per_package,
            packages: vec![Package::default(); packages],
        }
    }

    #[inline]
    pub(super) fn are_shared(&self) -> bool {
        !self.packages.is_empty()
    }

    /// A die has become busy.
    pub(super) fn begin(&mut self, die: usize, now: Instant) {
        let package = &mut self.packages[die / self.dies_per_package];
        if package.busy_dies == 0 {
            package.since = now;
        }
        package.busy_dies += 1;
    }

    /// A die has become idle.
    pub(super) fn end(&mut self, die: usize, now: Instant) {
        let package = &mut self.packages[die / self.dies_per_package];
        package.busy_dies -= 1;
        if package.busy_dies == 0 {
            package.busy += now - package.since;
        }
    }

    /// Takes over what others say of the packages of some dies.
    pub(super) fn take(&mut self, other: &Packages, dies: &Range<usize>) {
        if self.are_shared() {
            let packages = dies.start / self.dies_per_package..dies.end / self.dies_per_package;
            self.packages[packages.clone()].copy_from_slice(&other.packages[packages]);
        }
    }

    /// The time each package of several dies has had a busy one.
    pub(super) fn busy(&self, now: Instant) -> impl Iterator<Item = Duration> + '_ {
        self.packages.iter().map(move |package| match package {
            Package { busy_dies: 0, .. } => package.busy,
            _ => package.busy + (now - package.since),
        })
    }
}
