//! What the flash counts, and how busy its parts are.

use super::timing::Timing;
use crate::engine::Time;
use crate::profile::Energy;

/// How many of its planes and dies a transaction uses at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parallelism {
    None = 0,
    PlaneSharing = 1,
    DieInterleaving = 2,
    Both = 3,
}

impl Parallelism {
    #[inline]
    pub(super) fn of(several_planes: bool, several_dies: bool) -> Parallelism {
        match (several_planes, several_dies) {
            (false, false) => Parallelism::None,
            (true, false) => Parallelism::PlaneSharing,
            (false, true) => Parallelism::DieInterleaving,
            (true, true) => Parallelism::Both,
        }
    }
}

/// What one die has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DieCounts {
    pub(super) page_reads: u64,
    pub(super) melded_reads: u64,
    pub(super) melded_pages_read: u64,
    /// Programs of whole wordlines.
    pub(super) programs: u64,
    /// Programs of less.
    pub(super) partial_programs: u64,
    pub(crate) pages_programmed: u64,
    pub(crate) erases: u64,
    pub(super) copybacks: u64,
    /// Time its planes were in use, summed over planes.
    pub(super) plane_busy: Time,
}

impl DieCounts {
    /// Pages that somebody had asked for.
    pub(crate) fn pages_read(&self) -> u64 {
        self.page_reads + self.melded_pages_read
    }
}

/// What is counted where it happens; the rest is summed over dies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) program_suspends: u64,
    pub(super) erase_suspends: u64,
    pub(super) cached_reads: u64,
    pub(super) cached_programs: u64,
    /// Reads and programs, by [`Parallelism`].
    pub(super) transactions: [u64; 4],
    pub(super) transaction_pages: [u64; 4],
}

impl Counts {
    #[inline]
    pub(super) fn transaction(&mut self, parallelism: Parallelism, pages: u32) {
        self.transactions[parallelism as usize] += 1;
        self.transaction_pages[parallelism as usize] += u64::from(pages);
    }
}

/// What the flash has done since it was built.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlashStats {
    pub(crate) page_reads: u64,
    pub(crate) melded_reads: u64,
    pub(crate) melded_pages_read: u64,
    pub(crate) copybacks: u64,
    pub(crate) program_suspends: u64,
    pub(crate) erase_suspends: u64,
    pub(crate) cached_reads: u64,
    pub(crate) cached_programs: u64,
    /// None, plane sharing, die interleaving, both.
    pub(crate) transactions: [u64; 4],
    pub(crate) transaction_pages: [u64; 4],
    pub(crate) channel_busy: Time,
    pub(crate) package_busy: Time,
    pub(crate) die_busy: Time,
    pub(crate) plane_busy: Time,
    pub(crate) read_energy_nj: u64,
    pub(crate) program_energy_nj: u64,
    pub(crate) erase_energy_nj: u64,
    pub(crate) bus_energy_nj: u64,
}

impl FlashStats {
    pub(super) fn new(
        counts: &Counts,
        dies: impl Iterator<Item = DieCounts>,
        timing: &Timing,
        energy: &Energy,
    ) -> FlashStats {
        let mut sum = DieCounts::default();
        for die in dies {
            sum.page_reads += die.page_reads;
            sum.melded_reads += die.melded_reads;
            sum.melded_pages_read += die.melded_pages_read;
            sum.programs += die.programs;
            sum.partial_programs += die.partial_programs;
            sum.pages_programmed += die.pages_programmed;
            sum.erases += die.erases;
            sum.copybacks += die.copybacks;
            sum.plane_busy += die.plane_busy;
        }
        let total = |parts: &[(u64, u64)]| {
            let picojoules = parts
                .iter()
                .map(|&(count, each)| u128::from(count) * u128::from(each))
                .sum::<u128>();
            u64::try_from(picojoules / 1_000).unwrap_or(u64::MAX)
        };
        let melded_pages = sum.melded_reads * u64::from(timing.whole.count_ones());
        let bus_pages = sum.page_reads + melded_pages + sum.pages_programmed;
        FlashStats {
            page_reads: sum.page_reads,
            melded_reads: sum.melded_reads,
            melded_pages_read: sum.melded_pages_read,
            copybacks: sum.copybacks,
            program_suspends: counts.program_suspends,
            erase_suspends: counts.erase_suspends,
            cached_reads: counts.cached_reads,
            cached_programs: counts.cached_programs,
            transactions: counts.transactions,
            transaction_pages: counts.transaction_pages,
            channel_busy: Time::ZERO,
            package_busy: Time::ZERO,
            die_busy: Time::ZERO,
            plane_busy: sum.plane_busy,
            read_energy_nj: total(&[
                (sum.page_reads, energy.read.0),
                (sum.melded_reads, energy.melded_read.0),
            ]),
            program_energy_nj: total(&[
                (sum.programs, energy.program.0),
                (sum.partial_programs, energy.program_page.0),
                // A copyback senses the wordline and programs another.
                (sum.copybacks, energy.program.0 + energy.melded_read.0),
            ]),
            erase_energy_nj: total(&[(sum.erases, energy.erase.0)]),
            bus_energy_nj: total(&[(bus_pages * timing.page_bus_bytes, energy.bus_byte.0)]),
        }
    }
}
