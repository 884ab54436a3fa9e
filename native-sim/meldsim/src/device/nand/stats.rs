//! What flash and translation layers count.

use super::NandMedium;
use crate::device::Stats;
use crate::device::utilisation::Utilisation;
use crate::engine::Time;
use crate::ftl::Ftl;

impl NandMedium {
    /// Pages that garbage collection has moved.
    pub(in crate::device) fn pages_moved(&self) -> u64 {
        let moved = self.sets.iter().map(|set| set.ftl.stats().gc_pages_moved);
        moved.sum()
    }

    /// Adds what the medium counts.
    pub(in crate::device) fn stats(&self, now: Time, counted: Stats) -> Stats {
        let flash = self.flash.stats(now);
        let sets = || self.sets.iter().map(|set| &set.ftl);
        let sum =
            |count: fn(&Ftl) -> u64| -> u64 { self.sets.iter().map(|set| count(&set.ftl)).sum() };
        Stats {
            page_reads: flash.dies.page_reads,
            melded_reads: flash.dies.melded_reads,
            melded_pages_read: flash.dies.melded_pages_read,
            programs: sum(|ftl| ftl.stats().programs),
            host_pages_programmed: sum(|ftl| ftl.stats().host_pages_programmed),
            padded_pages: sum(|ftl| ftl.stats().padded_pages),
            melded_wordlines_programmed: sum(|ftl| ftl.stats().melded_wordlines_programmed),
            erases: sum(|ftl| ftl.stats().erases),
            gc_pages_moved: sum(|ftl| ftl.stats().gc_pages_moved),
            gc_pages_relaid: sum(|ftl| ftl.stats().gc_pages_relaid),
            channel_busy_ps: flash.channel_busy.as_ps(),
            die_busy_ps: flash.die_busy.as_ps(),
            channels: u64::from(self.geometry.channels),
            dies: u64::from(self.geometry.dies),
            mapped_pages: sum(Ftl::mapped_pages),
            melded_mapped_pages: sum(Ftl::melded_mapped_pages),
            free_blocks: sum(Ftl::free_blocks),
            capacity_pages: sum(Ftl::capacity),
            copybacks: flash.dies.copybacks,
            program_suspends: flash.commands.program_suspends,
            erase_suspends: flash.commands.erase_suspends,
            cached_reads: flash.commands.cached_reads,
            cached_programs: flash.commands.cached_programs,
            plain_transactions: flash.commands.transactions[0],
            plane_sharing_transactions: flash.commands.transactions[1],
            die_interleaving_transactions: flash.commands.transactions[2],
            both_sharing_transactions: flash.commands.transactions[3],
            plain_pages: flash.commands.transaction_pages[0],
            plane_sharing_pages: flash.commands.transaction_pages[1],
            die_interleaving_pages: flash.commands.transaction_pages[2],
            both_sharing_pages: flash.commands.transaction_pages[3],
            package_busy_ps: flash.package_busy.as_ps(),
            plane_busy_ps: flash.dies.plane_busy.as_ps(),
            packages: u64::from(self.geometry.dies / self.geometry.dies_per_package),
            planes: u64::from(self.geometry.dies * self.geometry.planes),
            read_energy_nj: flash.read_energy_nj,
            program_energy_nj: flash.program_energy_nj,
            erase_energy_nj: flash.erase_energy_nj,
            bus_energy_nj: flash.bus_energy_nj,
            gc_collections: sum(|ftl| ftl.stats().collections),
            gc_background_collections: sum(|ftl| ftl.stats().background_collections),
            gc_levelling_collections: sum(|ftl| ftl.stats().levelling_collections),
            least_erases: sets().map(|ftl| ftl.erases().0).min().unwrap_or(0),
            most_erases: sets().map(|ftl| ftl.erases().1).max().unwrap_or(0),
            ..counted
        }
    }

    pub(in crate::device) fn utilisation(&self, now: Time) -> Utilisation {
        let counts = || self.flash.die_counts();
        Utilisation {
            elapsed: now,
            channels_busy: self.flash.channels_busy(now).collect(),
            packages_busy: self.flash.packages_busy(now),
            dies_busy: self.flash.dies_busy(now).collect(),
            planes_busy: self.flash.planes_busy(now).collect(),
            pages_read: counts().map(|die| die.pages_read()).collect(),
            pages_programmed: counts().map(|die| die.pages_programmed).collect(),
            blocks_erased: counts().map(|die| die.erases).collect(),
            planes_per_die: self.geometry.planes,
        }
    }
}
