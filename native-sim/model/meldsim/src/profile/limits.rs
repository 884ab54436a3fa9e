//! What the sections of flash must fulfil together: the limits that the translation layer and the
//! medium are built on, and whether a profile keeps them.

use super::check::Checker;
use super::units::ByteSize;
use super::{Allocation, DieInterleave, Issue, Journaling, Kind, Profile, ProgramOrder};

/// Flash pages of a wordline at most (QLC).
pub(crate) const MAX_FLASH_PAGES_PER_WORDLINE: usize = 4;
/// Mapping units of a flash page at most: such as 4 KiB of 16 KiB.
pub(crate) const MAX_UNITS_PER_PAGE: u64 = 4;
/// Slots of a set's write buffer at most, of the host and of garbage collection together.
pub(crate) const MAX_SLOTS: u32 = 1 << 21;
/// Physical pages of a set must be numbered below this: the topmost 40-bit numbers stand for buffer
/// slots, and the last one for no page.
pub(crate) const PPN_LIMIT: u64 = (1 << 40) - 1 - MAX_SLOTS as u64;
/// Pages of a superblock at most: eight of them have 32-bit numbers.
const MAX_SUPERBLOCK_PAGES: u64 = 1 << 29;
/// As [`PPN_LIMIT`] of 32-bit numbers, in which the mapping of most sets is kept.
pub(crate) const SHORT_PPN_LIMIT: u64 = (u32::MAX - MAX_SLOTS) as u64;

/// A full mapping at random of a set that has so many pages of flash: an entry for each page.
pub(crate) fn mapping_bytes_per_page(flash_pages: u64) -> u64 {
    if flash_pages > SHORT_PPN_LIMIT { 5 } else { 4 }
}
/// Streams that are always there, each with an open block of every plane: of the host and of
/// garbage collection, each in the normal and in the melded layout.
pub(crate) const FIXED_STREAMS: u32 = 4;
/// Superblocks that only garbage collection may open: it must be able to make room.
pub(crate) const GC_RESERVE: u32 = 2;
/// Superblocks the host cannot fill, at least: the reserve, one open for each stream that is always
/// there, and one more, so that a full log always has a superblock with an invalid page to collect.
pub(crate) const OVER_PROVISIONED_SUPERBLOCKS: u32 = kept_superblocks(2);

/// As [`OVER_PROVISIONED_SUPERBLOCKS`], of a device with so many layouts.
pub(crate) const fn kept_superblocks(layouts: u32) -> u32 {
    GC_RESERVE + FIXED_STREAMS / 2 * layouts + 1
}

/// Stripes of wordlines that garbage collection reads at a time: the next one's senses overlap the last
/// one's transfers.
pub(crate) const GC_STRIPES_AT_ONCE: u32 = 2;

/// Slots that the garbage collection of so many planes needs: stripes being read, an open stripe, one
/// being programmed, and a packed wordline; in shadow order also what open wordlines hold. A page here
/// is a mapping unit.
pub(crate) fn gc_slots(
    planes: u32,
    pages_per_wordline: u32,
    flash_pages_per_wordline: u32,
    is_shadow: bool,
) -> u32 {
    let held = match is_shadow {
        true => pages_per_wordline * (flash_pages_per_wordline - 1) / 2,
        false => 0,
    };
    let rows = GC_STRIPES_AT_ONCE + 2;
    planes * (rows * pages_per_wordline + held) + pages_per_wordline
}

impl Profile {
    /// Refuses a key whose value, a count, keeps more blocks of each plane open than over-provisioning has.
    pub(super) fn check_open_blocks(
        &self,
        checker: &mut Checker,
        (key, count): (&'static str, u32),
        open: u32,
    ) {
        let needed = open + kept_superblocks(self.layouts());
        let spare = self.spare_blocks_per_plane();
        if spare < needed {
            let message =
                format!("is {count}, and over-provisioning has {spare} blocks of each plane");
            let remedy = format!(
                "raise ftl.over_provisioning_percent or geometry.blocks_per_plane until it has {needed}"
            );
            checker.refuse(key, message, remedy);
        }
    }

    /// Refuses a write buffer without room for so many wordlines of every plane of a set.
    pub(super) fn check_gathered(&self, checker: &mut Checker, who: String, wordlines: u32) {
        let stripe = self.reclaim_unit().0 / u64::from(self.geometry.wordlines_per_block);
        let sets = u64::from(self.sets.count);
        let least = ByteSize(u64::from(wordlines) * stripe * sets);
        if self.controller.write_buffer < least {
            let message = format!(
                "is {} for {who}, each of which gathers a wordline of every plane",
                self.controller.write_buffer
            );
            checker.refuse(
                "controller.write_buffer",
                message,
                format!("must be at least {least}"),
            );
        }
    }

    /// What the mapping has an entry for: a page of flash or a part of one.
    pub fn mapping_unit(&self) -> ByteSize {
        match self.ftl.mapping_unit {
            ByteSize(0) => self.geometry.page_size,
            unit => unit,
        }
    }

    /// Layouts in which data may be programmed: one, or two of a device that melds.
    pub(crate) fn layouts(&self) -> u32 {
        1 + u32::from(self.timing.melded_read.is_some())
    }

    /// Mapping units of a wordline.
    pub fn units_per_wordline(&self) -> u32 {
        let units_per_page = self.geometry.page_size.0 / self.mapping_unit().0;
        self.timing.read.len() as u32 * units_per_page as u32
    }

    /// Mapping units that a transaction of the flash programs: those of a wordline, or of a page where pages are programmed one
    /// at a time, of the planes that work at once.
    pub fn program_pages(&self) -> u64 {
        if self.kind == Kind::Xpoint {
            return 1;
        }
        let units = match self.ftl.program_order {
            ProgramOrder::Shadow => self.units_per_wordline() / self.timing.read.len() as u32,
            _ => self.units_per_wordline(),
        };
        let planes = match self.commands.multi_plane {
            true => self.geometry.planes_per_die,
            false => 1,
        };
        u64::from(units * planes)
    }

    /// Pages of DRAM for the journal of each set; none without a journal.
    pub(crate) fn journal_pages(&self) -> u32 {
        match self.ftl.journal {
            Journaling::Off => 0,
            _ => {
                let sets = u64::from(self.sets.count);
                (self.ftl.journal_buffer.0 / sets / self.mapping_unit().0) as u32
            }
        }
    }

    /// The share of a set in the journal's memory must hold a page.
    fn check_journal(&self, checker: &mut Checker) {
        if self.ftl.journal != Journaling::Off && self.journal_pages() == 0 {
            let (sets, unit) = (self.sets.count, self.mapping_unit());
            let least = ByteSize(u64::from(sets) * unit.0);
            checker.refuse(
                "ftl.journal_buffer",
                format!("is {}", self.ftl.journal_buffer),
                format!("must be at least {least}: a page of {unit} for each set"),
            );
        }
    }

    /// A mapping unit is a page, or a part of one that masks and numbers have room for.
    pub(super) fn check_mapping_unit(&self, checker: &mut Checker) {
        let (unit, page) = (self.mapping_unit(), self.geometry.page_size);
        let (key, keys) = ("ftl.mapping_unit", ["geometry.page_size", "ftl"]);
        if unit == page || !checker.are_sound(&keys) {
            return;
        }
        let parts = [2, MAX_UNITS_PER_PAGE].map(|parts| ByteSize(page.0 / parts));
        if !parts.contains(&unit) {
            let [half, quarter] = parts;
            let remedy =
                format!("must be {page}, {half} or {quarter}: a page, a half or a quarter of one");
            checker.refuse(key, format!("is {unit}"), remedy);
        } else if self.ftl.allocation == Allocation::Static {
            let message = format!(
                "is {unit}, and with static allocation the page decides on which plane it lies"
            );
            let remedy = "leave it out, or set ftl.allocation = \"dynamic\"";
            checker.refuse(key, message, remedy);
        }
    }

    /// Planes of the device.
    fn planes(&self) -> u32 {
        let geometry = &self.geometry;
        geometry.channels * geometry.dies_per_channel * geometry.planes_per_die
    }

    /// Mapping units of one block of every plane.
    pub(super) fn pages_per_block_row(&self) -> u64 {
        u64::from(self.planes())
            * u64::from(self.geometry.wordlines_per_block)
            * u64::from(self.units_per_wordline())
    }

    /// Mapping units of the flash of each set.
    pub(crate) fn flash_pages_per_set(&self) -> u64 {
        let blocks = u64::from(self.geometry.blocks_per_plane);
        self.pages_per_block_row().saturating_mul(blocks) / u64::from(self.sets.count)
    }

    /// Blocks of each plane that the host cannot fill: whole ones, so that over-provisioning is never
    /// less than what garbage collection needs.
    pub(crate) fn spare_blocks_per_plane(&self) -> u32 {
        let blocks = u64::from(self.geometry.blocks_per_plane);
        let spare = (blocks * u64::from(self.ftl.over_provisioning_percent)).div_ceil(100);
        (spare as u32).max(OVER_PROVISIONED_SUPERBLOCKS) + self.map_blocks_per_plane()
    }

    /// Mapping units of the flash that over-provisioning leaves.
    fn usable_pages(&self) -> u64 {
        let blocks = self.geometry.blocks_per_plane;
        u64::from(blocks.saturating_sub(self.spare_blocks_per_plane())) * self.pages_per_block_row()
    }

    /// Mapping units that the device can hold.
    pub(crate) fn capacity_pages(&self) -> u64 {
        match self.controller.capacity {
            ByteSize(0) => self.usable_pages(),
            capacity => capacity.0 / self.mapping_unit().0,
        }
    }

    /// Flash beyond what the host sees, in percent of that: what collection has to work with. `None` where there is no flash.
    pub fn spare_percent(&self) -> Option<f64> {
        (self.kind == Kind::Nand).then(|| {
            let all = u64::from(self.geometry.blocks_per_plane) * self.pages_per_block_row();
            100.0 * (all as f64 / self.capacity_pages().max(1) as f64 - 1.0)
        })
    }

    /// The host sees what there is, or less.
    fn check_capacity(&self, checker: &mut Checker) {
        let (capacity, unit) = (self.controller.capacity, self.mapping_unit().0);
        let least = ByteSize(u64::from(self.planes()) * unit);
        let most = ByteSize(self.usable_pages() * unit);
        let key = "controller.capacity";
        if capacity == ByteSize(0) {
        } else if capacity < least {
            let remedy =
                format!("must be at least {least}, a page of each plane, or 0B for all there is");
            checker.refuse(key, format!("is {capacity}"), remedy);
        } else if capacity > most {
            let percent = self.ftl.over_provisioning_percent;
            let message = format!(
                "is {}, and over-provisioning of {percent} % leaves {}",
                one_decimal(capacity.0),
                one_decimal(most.0)
            );
            let remedy = format!(
                "must be at most {most}, or 0B for all of that; or give the device more flash"
            );
            checker.refuse(key, message, remedy);
        }
    }

    /// Keys of several sections that contradict each other.
    pub(super) fn check_sections(&self, checker: &mut Checker) {
        let commands = &self.commands;
        // A die that is part of a transaction, or whose turn is in order, has nothing queued that
        // could overlap with what it does: these options would silently do nothing.
        let exclusive = commands.die_interleave != DieInterleave::Independent
            || commands.issue != Issue::OutOfOrder;
        for (key, is_on) in [
            ("commands.cache_read", commands.cache_read),
            ("commands.cache_program", commands.cache_program),
            ("commands.suspend_program", commands.suspend_program),
            ("commands.suspend_erase", commands.suspend_erase),
            ("gc.reads_yield", self.gc.reads_yield),
        ] {
            if is_on && exclusive {
                checker.refuse(
                    key,
                    "is true, but a die would never have a second command to overlap with",
                    "turn it off, or set commands.die_interleave = \"independent\" and commands.issue = \"out-of-order\"",
                );
            }
        }
        let is_shadow = self.ftl.program_order == ProgramOrder::Shadow;
        if self.ftl.journal != Journaling::Off && is_shadow {
            checker.refuse(
                "ftl.journal",
                "is on, but in shadow order a page of it would wait for others of its wordline",
                "set ftl.journal = \"off\" or ftl.program_order = \"one-shot\"",
            );
        }
        if commands.copyback && is_shadow {
            checker.refuse(
                "commands.copyback",
                "is true, but garbage collection copies whole wordlines and shadow order programs single pages",
                "turn it off or set ftl.program_order = \"one-shot\"",
            );
        }
        let has_one_plane = self.geometry.planes_per_die == 1;
        if commands.multi_plane && has_one_plane && checker.are_sound(&["geometry.planes_per_die"])
        {
            checker.refuse(
                "commands.multi_plane",
                "is true for dies of one plane",
                "turn it off or raise geometry.planes_per_die",
            );
        }
        let are_pages_unknown = self.timing.program_pages.is_none();
        if is_shadow && are_pages_unknown && checker.are_sound(&["timing.program_pages"]) {
            let message = "is \"shadow\", and no times are known for single pages";
            let remedy = "give timing.program_pages, or make it \"one-shot\"";
            checker.refuse("ftl.program_order", message, remedy);
        }
        let relayout = "gc.relayout";
        let cannot_meld = self.timing.melded_read.is_none();
        if self.gc.relayout && cannot_meld && checker.are_sound(&["timing.melded_read"]) {
            let message = "is true for a device that cannot meld";
            checker.refuse(relayout, message, "turn it off or give timing.melded_read");
        }
        if self.gc.relayout && self.ftl.allocation == Allocation::Static {
            checker.refuse(
                relayout,
                "is true, but with static allocation the layout decides on which plane a page lies",
                "turn it off or set ftl.allocation = \"dynamic\"",
            );
        }
    }

    /// What the device needs in all: page numbers, buffer, spare blocks, memory. Computes with keys that
    /// are in their ranges.
    pub(super) fn check_limits(&self, checker: &mut Checker) {
        let blocks = self.geometry.blocks_per_plane;
        let wordlines = blocks.checked_mul(self.geometry.wordlines_per_block);
        let row = self.pages_per_block_row() / u64::from(self.sets.count);
        let pages = self.flash_pages_per_set();
        let are_few = pages <= PPN_LIMIT && row <= MAX_SUPERBLOCK_PAGES;
        // Numbers are divided by superblocks: see `Divisor`.
        if !are_few || wordlines.is_none() || pages.checked_mul(row).is_none() {
            let message = format!("is {blocks} blocks a plane: too many pages to number");
            let remedy = "page numbers of a set have 40 bits: use larger pages, more sets, or fewer \
                          blocks, wordlines or dies";
            checker.refuse("geometry.blocks_per_plane", message, remedy);
            return;
        }
        let of_map = self.map_blocks_per_plane();
        if blocks <= OVER_PROVISIONED_SUPERBLOCKS + of_map {
            let message = format!("is {blocks} blocks a plane");
            let least = OVER_PROVISIONED_SUPERBLOCKS + of_map + 1;
            let map = match of_map {
                0 => String::new(),
                of_map => format!(" and translation pages {of_map}"),
            };
            let remedy = format!(
                "must be at least {least}: garbage collection needs {OVER_PROVISIONED_SUPERBLOCKS} of them{map}"
            );
            checker.refuse("geometry.blocks_per_plane", message, remedy);
            return;
        }
        self.check_journal(checker);
        self.check_map(checker);
        self.check_buffer(checker);
        self.check_capacity(checker);
        if checker.are_sound(&["fdp"]) {
            self.check_fdp(checker);
        }
        if checker.are_sound(&["zones"]) {
            self.check_zones(checker);
        }
        if !checker.are_sound(&["controller.capacity"]) {
            return;
        }

        let pages = self.capacity_pages();
        let needed = pages * mapping_bytes_per_page(self.flash_pages_per_set());
        if needed > self.ftl.mapping_memory.0 {
            let unit = self.mapping_unit();
            let message = format!(
                "is {}, but mapping {} of capacity in pages of {unit} takes {}",
                self.ftl.mapping_memory,
                one_decimal(pages * unit.0),
                one_decimal(needed)
            );
            let remedy = "raise it, use larger pages, or lower geometry.blocks_per_plane";
            checker.refuse("ftl.mapping_memory", message, remedy);
        }
    }

    /// The share of the buffer that a set has must hold every page that waits for others of its
    /// wordline, or writes would have to be padded; and all slots must have a number.
    fn check_buffer(&self, checker: &mut Checker) {
        let page_bytes = self.mapping_unit().0;
        let sets = u64::from(self.sets.count);
        let planes = self.planes() / self.sets.count;
        let pages_per_wordline = self.units_per_wordline();
        let flash_pages = self.timing.read.len() as u32;
        let is_shadow = self.ftl.program_order == ProgramOrder::Shadow;
        let open = match (self.ftl.allocation, is_shadow) {
            // A stripe.
            (Allocation::Dynamic, false) => planes * pages_per_wordline,
            // In the normal layout, and packed in the melded one.
            (Allocation::Static, false) => 2 * planes * pages_per_wordline,
            // What open melded wordlines hold.
            (_, true) => planes * pages_per_wordline * (flash_pages + 1) / 2,
        };
        let in_runs = u64::from(self.ftl.open_runs + 1) * u64::from(pages_per_wordline);
        let least = sets * (u64::from(open) + in_runs) * page_bytes;
        let (logs, log_planes) = match self.ftl.allocation {
            Allocation::Dynamic => (1, planes),
            Allocation::Static => (planes, 1),
        };
        let gc_slots = gc_slots(log_planes, pages_per_wordline, flash_pages, is_shadow);
        let gc = u64::from(logs) * u64::from(gc_slots);
        // As many again for changes that cannot wait for room.
        let journal = 2 * u64::from(self.journal_pages());
        // Translation pages that are written and those that are moved have a stripe each, and slots as collection has.
        let map = if self.has_map_pages() { 2 * gc } else { 0 };
        let most = sets * u64::from(MAX_SLOTS - 1).saturating_sub(gc + journal + map) * page_bytes;
        let buffer = self.controller.write_buffer;
        let message = match sets {
            1 => format!("is {buffer}"),
            _ => format!("is {buffer} for {sets} sets"),
        };
        if buffer.0 < least {
            let remedy = format!(
                "must be at least {}: all pages of one wordline on every plane and of {} open runs, \
                 for each set",
                ByteSize(least),
                self.ftl.open_runs
            );
            checker.refuse("controller.write_buffer", message, remedy);
        } else if buffer.0 > most {
            let remedy = format!("must be at most {}", ByteSize(most));
            checker.refuse("controller.write_buffer", message, remedy);
        }
    }
}

/// A size with one decimal, for people.
pub(crate) fn one_decimal(bytes: u64) -> String {
    let (factor, unit) = match bytes {
        0..=0xF_FFFF => (1u64 << 10, "KiB"),
        0x10_0000..=0x3FFF_FFFF => (1 << 20, "MiB"),
        0x4000_0000..=0xFF_FFFF_FFFF => (1 << 30, "GiB"),
        _ => (1 << 40, "TiB"),
    };
    format!("{:.1} {unit}", bytes as f64 / factor as f64)
}
