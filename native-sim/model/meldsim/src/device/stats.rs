//! Counters.

macro_rules! stats {
    ($(#[doc = $about:literal])* $of:ident: $($(#[doc = $doc:literal])* $name:ident,)*) => {
        $(#[doc = $about])*
        ///
        /// Everything is a `u64`, so that a table of names and values (`NAMES`, `to_array`) says it all; the order is
        /// stable. Times that are sums over many things at once, as over dies or commands, begin anew at 2^64 ps, 213
        /// days: what they grew by is a wrapping difference.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $of {
            $($(#[doc = $doc])* pub $name: u64,)*
        }

        impl $of {
            /// The counters' names, in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// What each counter counts, in the order of the names.
            pub const DESCRIPTIONS: &'static [&'static str] =
                &[$(concat!($($doc),*).trim_ascii_start()),*];

            /// The counters' values, in the order of the names.
            pub fn to_array(&self) -> [u64; $of::NAMES.len()] {
                [$(self.$name),*]
            }

            /// Each counter with its like.
            fn zip(&self, other: &$of, combine: fn(u64, u64) -> u64) -> $of {
                $of { $($name: combine(self.$name, other.$name)),* }
            }
        }
    };
}

stats! {
    /// Counters of a device since it was built.
    Stats:
    /// Simulated time.
    now_ps,
    /// Reads submitted.
    read_commands,
    /// Writes submitted.
    write_commands,
    /// Deallocations submitted.
    deallocate_commands,
    /// Flushes submitted.
    flush_commands,
    /// Commands completed with a status other than success.
    failed_commands,
    /// Bytes of the reads submitted.
    host_read_bytes,
    /// Bytes of the writes submitted.
    host_written_bytes,
    /// Time with at least one read outstanding.
    read_active_ps,
    /// Time with at least one command outstanding.
    active_ps,
    /// Sum of the latencies of completed reads.
    read_latency_ps,
    /// Pages sensed alone.
    page_reads,
    /// Melded reads: wordlines sensed as a whole.
    melded_reads,
    /// Pages that somebody had asked for, delivered by melded reads.
    melded_pages_read,
    /// Pages read from the write buffer.
    buffer_page_reads,
    /// Pages read that hold nothing: never written or deallocated.
    unmapped_page_reads,
    /// Wordlines programmed.
    programs,
    /// Pages programmed for the host.
    host_pages_programmed,
    /// Pages programmed with nothing in them, to close a wordline.
    padded_pages,
    /// Wordlines programmed in the melded layout.
    melded_wordlines_programmed,
    /// Blocks erased.
    erases,
    /// Pages moved by garbage collection.
    gc_pages_moved,
    /// Time buses were held, summed over channels.
    channel_busy_ps,
    /// Time dies were busy, from command to idle, summed over dies.
    die_busy_ps,
    /// Channels of the device.
    channels,
    /// Dies of the device.
    dies,
    /// Logical pages that hold data.
    mapped_pages,
    /// Of these, pages that lie on flash in the melded layout.
    melded_mapped_pages,
    /// Erased blocks.
    free_blocks,
    /// Logical pages that can hold data at one time.
    capacity_pages,
    /// Copies of pages from one wordline to another of their plane, off the bus.
    copybacks,
    /// Times a program was suspended.
    program_suspends,
    /// Times an erase was suspended.
    erase_suspends,
    /// Reads sensed while an earlier one's data was still in the die.
    cached_reads,
    /// Programs whose data came in while the die programmed.
    cached_programs,
    /// Transactions (reads and programs) of one plane.
    plain_transactions,
    /// Transactions of several planes of a die.
    plane_sharing_transactions,
    /// Transactions of several dies of a package.
    die_interleaving_transactions,
    /// Transactions of several dies of a package, of several planes of some.
    multi_plane_interleaved_transactions,
    /// Pages of transactions of one plane.
    plain_pages,
    /// Pages of transactions of several planes of a die.
    plane_sharing_pages,
    /// Pages of transactions of several dies of a package.
    die_interleaving_pages,
    /// Pages of transactions of several dies of a package, of several planes of some.
    multi_plane_interleaved_pages,
    /// Time packages (ways) had a busy die, summed over packages.
    package_busy_ps,
    /// Time planes were in use, summed over planes.
    plane_busy_ps,
    /// Packages of the device.
    packages,
    /// Planes of the device.
    planes,
    /// Energy of sensing.
    read_energy_nj,
    /// Energy of programming.
    program_energy_nj,
    /// Energy of erasing.
    erase_energy_nj,
    /// Energy of data on the buses.
    bus_energy_nj,
    /// Garbage collections begun: groups of blocks chosen to be emptied and erased.
    gc_collections,
    /// Garbage collections begun because the host was idle.
    gc_background_collections,
    /// Garbage collections begun to move cold data off little-worn blocks.
    gc_levelling_collections,
    /// Erases of the block that was erased least.
    least_erases,
    /// Erases of the block that was erased most.
    most_erases,
    /// Time commands waited in their queues until the controller fetched them, summed over commands.
    queue_wait_ps,
    /// Time data of writes crossed the link.
    link_to_device_busy_ps,
    /// Time data of reads crossed the link.
    link_to_host_busy_ps,
    /// Pages that garbage collection moved to the other layout.
    gc_pages_relaid,
    /// Chunks of XPoint memory read, alone or to be written in part.
    chunk_reads,
    /// Chunks of XPoint memory written.
    chunk_writes,
    /// Accesses to part of a chunk of XPoint memory.
    partial_chunk_accesses,
    /// Time accesses waited for a sector buffer, summed over them.
    sector_buffer_wait_ps,
    /// Cores of the firmware; none when it is ideal.
    firmware_cores,
    /// Time cores fetched, parsed and completed commands, summed over cores.
    firmware_nvmq_busy_ps,
    /// Time cores kept the index lock.
    firmware_ilock_busy_ps,
    /// Time cores looked up and changed the burst buffer.
    firmware_cache_busy_ps,
    /// Time cores translated.
    firmware_trans_busy_ps,
    /// Time cores composed flash transactions.
    firmware_fcmd_busy_ps,
    /// Time cores collected garbage.
    firmware_bgc_busy_ps,
    /// Time cores journalled.
    firmware_log_busy_ps,
    /// Time commands waited for a range of pages, and cores for a lock of shared memory.
    firmware_lock_wait_ps,
    /// Commands that found their range locked.
    firmware_lock_conflicts,
    /// Messages between threads of the firmware.
    firmware_messages,
    /// Reads that the firmware's burst buffer answered.
    firmware_cache_hits,
    /// Reads that did not need a CACHE thread.
    firmware_cache_bypasses,
    /// Energy of the firmware's cores.
    firmware_energy_nj,
    /// Sum of the latencies of completed writes.
    write_latency_ps,
    /// Commands submitted and not completed.
    outstanding_commands,
    /// Pages that reads had from flash.
    host_pages_read,
    /// Pages read from flash because a write covers them in part.
    merge_pages_read,
    /// Pages that garbage collection read, those copied inside their planes among them.
    gc_pages_read,
    /// Pages programmed for garbage collection.
    gc_pages_programmed,
    /// Pages of the journal programmed.
    journal_pages_programmed,
    /// Of the pages programmed for garbage collection, those moved to level wear.
    levelling_pages_programmed,
    /// Bytes programmed to flash, for whatever: the host, garbage collection, the mapping, the journal, padding.
    programmed_bytes,
    /// Bytes of an older copy in pages that the host wrote in part.
    merge_bytes_programmed,
    /// Bytes with nothing in them in pages that the host wrote in part.
    filling_bytes_programmed,
    /// Pages in the write buffer that are not programmed yet.
    buffered_pages,
    /// Pages whose entries of the mapping were looked up, where it is cached.
    map_lookups,
    /// Of these, pages whose entries were not in the cache.
    map_misses,
    /// Lines of the mapping's cache that made room for others.
    map_evictions,
    /// Of these, lines that had changed.
    map_write_backs,
    /// Translation pages read, for what was not in the cache and to be merged with changes.
    map_pages_read,
    /// Translation pages programmed.
    map_pages_programmed,
    /// Time the firmware worked on writes to zones.
    zone_unit_busy_ps,
    /// Time writes waited for the write buffer, summed over them.
    buffer_wait_ps,
    /// Pages read ahead from flash.
    read_ahead_pages,
    /// Pages that reads had of those that were read ahead.
    read_ahead_hits,
}

stats! {
    /// Counters of a namespace since its device was built. One that [`Stats`] has too counts what is the namespace's of
    /// it: over all namespaces it adds up to the device's, unless garbage collection counts there as well.
    NamespaceStats:
    /// Reads submitted.
    read_commands,
    /// Writes submitted.
    write_commands,
    /// Deallocations submitted.
    deallocate_commands,
    /// Flushes submitted.
    flush_commands,
    /// Commands completed with a status other than success.
    failed_commands,
    /// Commands submitted and not completed.
    outstanding_commands,
    /// Bytes of the reads submitted.
    host_read_bytes,
    /// Bytes of the writes submitted.
    host_written_bytes,
    /// Bytes placed as if long since written.
    preloaded_bytes,
    /// Sum of the latencies of completed reads.
    read_latency_ps,
    /// Sum of the latencies of completed writes.
    write_latency_ps,
    /// Pages sensed alone, for its commands.
    page_reads,
    /// Melded reads for its commands: wordlines sensed as a whole. One for commands of several namespaces is the first's.
    melded_reads,
    /// Pages that its commands had asked for, delivered by melded reads.
    melded_pages_read,
    /// Pages read from the write buffer.
    buffer_page_reads,
    /// Pages read that hold nothing: never written or deallocated.
    unmapped_page_reads,
    /// Pages that reads had from flash.
    host_pages_read,
    /// Pages read from flash because a write covers them in part.
    merge_pages_read,
    /// Logical pages that hold data.
    mapped_pages,
    /// Of these, pages that lie on flash in the melded layout.
    melded_mapped_pages,
    /// Pages that reads had of those that were read ahead.
    read_ahead_hits,
}

impl NamespaceStats {
    /// What both have counted.
    pub(super) fn plus(&self, other: &NamespaceStats) -> NamespaceStats {
        self.zip(other, u64::wrapping_add)
    }
}

impl Stats {
    /// What was counted since `before`, which the same device gave earlier. What is no count but a state, as how many
    /// pages hold data, is that of now.
    pub fn since(&self, before: &Stats) -> Stats {
        Stats {
            channels: self.channels,
            dies: self.dies,
            packages: self.packages,
            planes: self.planes,
            mapped_pages: self.mapped_pages,
            melded_mapped_pages: self.melded_mapped_pages,
            free_blocks: self.free_blocks,
            capacity_pages: self.capacity_pages,
            least_erases: self.least_erases,
            most_erases: self.most_erases,
            firmware_cores: self.firmware_cores,
            outstanding_commands: self.outstanding_commands,
            buffered_pages: self.buffered_pages,
            ..self.zip(before, u64::wrapping_sub)
        }
    }

    /// Write amplification: bytes programmed to flash for each byte that the host wrote, as SMART and the OCP log count
    /// them (JESD218). `None` when the host wrote nothing, or nothing has been programmed yet.
    pub fn write_amplification(&self) -> Option<f64> {
        amplification(self.programmed_bytes, self.host_written_bytes)
    }

    /// How long each type of firmware thread was busy: NVMQ, ILOCK, CACHE, TRANS, FCMD, BGC, LOG.
    pub fn firmware_busy_ps(&self) -> [u64; 7] {
        [
            self.firmware_nvmq_busy_ps,
            self.firmware_ilock_busy_ps,
            self.firmware_cache_busy_ps,
            self.firmware_trans_busy_ps,
            self.firmware_fcmd_busy_ps,
            self.firmware_bgc_busy_ps,
            self.firmware_log_busy_ps,
        ]
    }

    /// What the bytes programmed are made of.
    pub fn programmed(&self) -> Programmed {
        let pages = self.host_pages_programmed
            + self.gc_pages_programmed
            + self.journal_pages_programmed
            + self.map_pages_programmed
            + self.padded_pages;
        let page_bytes = self.programmed_bytes.checked_div(pages).unwrap_or(0);
        let (merge, filling) = (self.merge_bytes_programmed, self.filling_bytes_programmed);
        let of_host = self.host_pages_programmed * page_bytes;
        let moved = self.gc_pages_programmed - self.levelling_pages_programmed;
        Programmed {
            host_bytes: of_host - merge - filling,
            merge_bytes: merge,
            filling_bytes: filling,
            collection_bytes: moved * page_bytes,
            levelling_bytes: self.levelling_pages_programmed * page_bytes,
            mapping_bytes: self.map_pages_programmed * page_bytes,
            journal_bytes: self.journal_pages_programmed * page_bytes,
            padding_bytes: self.padded_pages * page_bytes,
        }
    }
}

/// Bytes programmed for each byte written, if there are both.
pub fn amplification(programmed_bytes: u64, written_bytes: u64) -> Option<f64> {
    let any = programmed_bytes > 0 && written_bytes > 0;
    any.then(|| programmed_bytes as f64 / written_bytes as f64)
}

/// What the bytes that were programmed to flash are made of. They add up to [`Stats::programmed_bytes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Programmed {
    /// Data that the host wrote.
    pub host_bytes: u64,
    /// An older copy, in pages that the host wrote in part.
    pub merge_bytes: u64,
    /// Nothing, in pages that the host wrote in part and that held nothing before.
    pub filling_bytes: u64,
    /// Pages that garbage collection moved to make room.
    pub collection_bytes: u64,
    /// Pages that it moved to level wear.
    pub levelling_bytes: u64,
    /// Translation pages.
    pub mapping_bytes: u64,
    /// The journal of the mapping.
    pub journal_bytes: u64,
    /// Nothing, to close a wordline.
    pub padding_bytes: u64,
}

impl Programmed {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.host_bytes
            + self.merge_bytes
            + self.filling_bytes
            + self.collection_bytes
            + self.levelling_bytes
            + self.mapping_bytes
            + self.journal_bytes
            + self.padding_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summed_time_grows_by_what_it_should_when_it_begins_anew() {
        let of = |die_busy_ps| Stats {
            die_busy_ps,
            ..Stats::default()
        };
        let grown = of(4).since(&of(u64::MAX - 5));
        assert_eq!(grown.die_busy_ps, 10);
        let of = |read_latency_ps| NamespaceStats {
            read_latency_ps,
            ..NamespaceStats::default()
        };
        assert_eq!(of(u64::MAX).plus(&of(11)).read_latency_ps, 10);
    }
}
