//! What a NAND medium says of itself: sizes, counters, where data are.

use super::map::MapCounts;
use super::{Map, NandMedium, NvmSet};
use crate::device::Stats;
use crate::device::inspect::{LayoutCount, Location, Utilisation};
use crate::device::medium::Report;
use crate::device::request::PageRange;
use crate::device::sets::SetInfo;
use crate::engine::{Duration, Instant, TotalTime};
use crate::ftl::{Entry, Ftl};
use crate::nand::Timing;
use crate::profile::Profile;

impl<M: Map> Report for NandMedium<M> {
    fn random_read_typical(&self, profile: &Profile) -> Duration {
        let timing = Timing::new(profile);
        let pages = profile.timing.read.len() as u64;
        let senses: Duration = profile.timing.read.iter().copied().sum();
        timing.command + Duration::from_ps(senses.as_ps() / pages) + timing.page_transfer
    }

    fn set_info(&self, set: u32) -> Option<SetInfo> {
        let ftl = &self.sets.get(set as usize)?.ftl;
        let stats = ftl.stats();
        Some(SetInfo {
            capacity_pages: ftl.capacity(),
            mapped_pages: ftl.mapped_pages(),
            free_blocks: ftl.free_blocks(),
            host_pages_programmed: stats.host_pages_programmed,
            gc_pages_moved: stats.gc_pages_moved,
            erases: stats.erases,
            pages_without_frontier: ftl.unplaced_pages(0),
            pages_beyond_frontiers: ftl.unplaced_pages(1),
        })
    }

    fn names_no_victim(&self) -> bool {
        self.sets.iter().any(|set| set.ftl.names_no_victim())
    }

    fn programmed(&self, set: u32) -> (u64, u64) {
        let stats = self.sets[set as usize].ftl.stats();
        (
            stats.pages_programmed() * self.geometry.page_bytes,
            stats.erases,
        )
    }

    fn uniform_write_amplification(&self, set: u32) -> Option<f64> {
        let NvmSet { ftl, map, .. } = self.sets.get(set as usize)?;
        ftl.uniform_write_amplification(map.missed(ftl.mapped_pages()))
    }

    fn kept_room(&self, set: u32) -> Option<u64> {
        let pages = self.sets.get(set as usize)?.ftl.kept_room()?;
        Some(pages * self.geometry.page_bytes)
    }

    fn mapped_pages(&self, set: u32, space: u32) -> (u64, u64) {
        self.sets[set as usize].ftl.pages_of(space)
    }

    fn memory(&self) -> u64 {
        let memory = |set: &NvmSet<M>| set.ftl.memory() + set.map.memory();
        self.sets.iter().map(memory).sum()
    }

    fn stats(&self, now: Instant, counted: Stats) -> Stats {
        let flash = self.flash.stats(now);
        let sets = || self.sets.iter().map(|set| &set.ftl);
        let sum =
            |count: fn(&Ftl) -> u64| -> u64 { self.sets.iter().map(|set| count(&set.ftl)).sum() };
        let of_map = |count: fn(MapCounts) -> u64| -> u64 {
            self.sets.iter().map(|set| count(set.map.counts())).sum()
        };
        let buffer_wait: TotalTime = self.sets.iter().map(|set| set.buffer_wait).sum();
        Stats {
            buffer_wait_ps: buffer_wait.as_counter(),
            map_lookups: of_map(|counts| counts.lookups),
            map_misses: of_map(|counts| counts.misses),
            map_evictions: of_map(|counts| counts.evictions),
            map_write_backs: of_map(|counts| counts.write_backs),
            read_ahead_pages: self
                .sets
                .iter()
                .filter_map(|set| set.ahead.as_ref())
                .map(|ahead| ahead.pages_read)
                .sum(),
            map_pages_read: self.sets.iter().map(|set| set.fetches.pages_read).sum(),
            map_pages_programmed: sum(|ftl| ftl.stats().map_pages_programmed),
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
            gc_pages_read: sum(|ftl| ftl.stats().gc_pages_read),
            gc_pages_programmed: sum(|ftl| ftl.stats().gc_pages_programmed),
            journal_pages_programmed: sum(|ftl| ftl.stats().journal_pages_programmed),
            levelling_pages_programmed: sum(|ftl| ftl.stats().levelling_pages_programmed),
            programmed_bytes: sum(|ftl| ftl.stats().pages_programmed()) * self.geometry.page_bytes,
            merge_bytes_programmed: sum(|ftl| ftl.stats().merge_bytes),
            filling_bytes_programmed: sum(|ftl| ftl.stats().filling_bytes),
            buffered_pages: sum(Ftl::buffered_pages),
            channel_busy_ps: flash.channel_busy.as_counter(),
            die_busy_ps: flash.die_busy.as_counter(),
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
            multi_plane_interleaved_transactions: flash.commands.transactions[3],
            plain_pages: flash.commands.transaction_pages[0],
            plane_sharing_pages: flash.commands.transaction_pages[1],
            die_interleaving_pages: flash.commands.transaction_pages[2],
            multi_plane_interleaved_pages: flash.commands.transaction_pages[3],
            package_busy_ps: flash.package_busy.as_counter(),
            plane_busy_ps: flash.dies.plane_busy.as_counter(),
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

    fn utilisation(&self, now: Instant) -> Utilisation {
        let counts = || self.flash.die_counts();
        Utilisation {
            elapsed: now,
            channels_busy: self.flash.channels_busy(now).collect(),
            packages_busy: self.flash.packages_busy(now),
            dies_busy: self.flash.dies_busy(now).collect(),
            planes_busy: self
                .flash
                .planes_busy(now)
                .map(TotalTime::as_duration)
                .collect(),
            pages_read: counts().map(|die| die.pages_read()).collect(),
            pages_programmed: counts().map(|die| die.pages_programmed).collect(),
            blocks_erased: counts().map(|die| die.erases).collect(),
            planes_per_die: self.geometry.planes,
        }
    }

    fn locate(&self, range: PageRange) -> Location {
        let ftl = &self.sets[range.set as usize].ftl;
        match ftl.entry(range.space, range.first) {
            Entry::Unmapped => Location::Unmapped,
            Entry::Buffered(_) => Location::Buffered,
            Entry::Flash(ppn) => {
                let (at, page) = ftl.locate(ppn);
                let die = self.geometry.die(at.unit);
                Location::Flash {
                    channel: die / self.geometry.dies_per_channel,
                    die: die % self.geometry.dies_per_channel,
                    plane: at.unit.0 % self.geometry.planes,
                    block: at.row / self.geometry.wordlines_per_block,
                    wordline: at.row % self.geometry.wordlines_per_block,
                    page,
                }
            }
        }
    }

    fn layout(&self, range: PageRange) -> LayoutCount {
        let ftl = &self.sets[range.set as usize].ftl;
        let mut count = LayoutCount::default();
        for page in range.first..range.end {
            let entry = ftl.entry(range.space, page);
            count.mapped += u64::from(!matches!(entry, Entry::Unmapped));
            count.buffered += u64::from(matches!(entry, Entry::Buffered(_)));
            count.melded += u64::from(matches!(entry, Entry::Flash(ppn) if ftl.is_melded(ppn)));
        }
        count
    }

    fn pages_moved(&self) -> u64 {
        let moved = self.sets.iter().map(|set| set.ftl.stats().gc_pages_moved);
        moved.sum()
    }

    fn moved_bytes(&self) -> u64 {
        let pages = |set: &NvmSet<M>| {
            let stats = set.ftl.stats();
            stats.host_pages_programmed
                + stats.gc_pages_programmed
                + stats.gc_pages_read
                + stats.journal_pages_programmed
                + stats.map_pages_programmed
                + set.fetches.pages_read
        };
        self.sets.iter().map(pages).sum::<u64>() * self.geometry.page_bytes
    }
}
