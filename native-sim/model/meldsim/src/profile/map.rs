//! What a mapping that is cached needs: lines of entries in the cache, and room for translation pages on flash.

use super::check::Checker;
use super::units::ByteSize;
use super::{MapKind, Profile};

/// Lines that a cache must have room for: what is fetched is used before it is evicted.
const LEAST_LINES: u64 = 4;
/// A cached line says which one it is.
const TAG_BYTES: u64 = 4;
/// Pages that a leaf of the mapping has entries for.
const LEAF: u64 = 1024;
/// Leaves beyond those of a full device, for data that lies in the middle of large namespaces: a share, and so many.
const SPARSE_SHARE: u64 = 4;
const SPARSE_LEAVES: u64 = 8;
/// Superblocks that translation pages fill: those written, and those moved.
pub(crate) const MAP_STREAMS: u32 = 2;

impl Profile {
    /// Whether part of the mapping lies on flash.
    pub(crate) fn has_map_pages(&self) -> bool {
        self.ftl.map == MapKind::Cached
    }

    /// Entries of a translation page.
    pub fn map_entries_per_page(&self) -> u64 {
        (self.mapping_unit().0 / self.ftl.map_entry.0.max(1)).max(1)
    }

    /// Entries that are cached and evicted together.
    pub fn map_line_entries(&self) -> u64 {
        match self.ftl.map_line {
            0 => self.map_entries_per_page(),
            entries => u64::from(entries),
        }
    }

    fn map_line_bytes(&self) -> u64 {
        self.map_line_entries() * self.ftl.map_entry.0 + TAG_BYTES
    }

    /// Lines that the cache of each set has room for.
    pub fn map_cache_lines(&self) -> u64 {
        self.ftl.map_cache.0 / u64::from(self.sets.count) / self.map_line_bytes()
    }

    /// Leaves of the mapping of a set that has so many pages of flash: as many as translation pages have room for. Data that
    /// is spread wider meets this limit before the flash is full.
    pub(crate) fn map_leaves(pages: u64) -> u64 {
        let leaves = pages / LEAF;
        leaves + leaves / SPARSE_SHARE + SPARSE_LEAVES
    }

    /// Blocks of each plane for translation pages, where there are any.
    pub(crate) fn map_blocks_per_plane(&self) -> u32 {
        if !self.has_map_pages() {
            return 0;
        }
        let pages_per_block_row = self.pages_per_block_row();
        let pages = pages_per_block_row.saturating_mul(u64::from(self.geometry.blocks_per_plane));
        let sets = u64::from(self.sets.count);
        let leaves = sets * Profile::map_leaves(pages / sets);
        let pages = leaves * LEAF.div_ceil(self.map_entries_per_page());
        pages.div_ceil(pages_per_block_row.max(1)) as u32 + MAP_STREAMS
    }

    pub(super) fn check_map(&self, checker: &mut Checker) {
        if !self.has_map_pages() || !checker.are_sound(&["geometry.page_size", "ftl"]) {
            return;
        }
        let (line, most) = (u64::from(self.ftl.map_line), self.map_entries_per_page());
        if line > 0 && most % line != 0 {
            let remedy =
                format!("must divide the {most} entries of a translation page, or be 0 for all");
            return checker.refuse("ftl.map_line", format!("is {line}"), remedy);
        }
        let sets = u64::from(self.sets.count);
        if self.map_cache_lines() < LEAST_LINES {
            let least = ByteSize(sets * LEAST_LINES * self.map_line_bytes());
            let message = format!("is {}", self.ftl.map_cache);
            let remedy = format!("must be at least {least}: {LEAST_LINES} lines for each set");
            checker.refuse("ftl.map_cache", message, remedy);
        } else if self.map_cache_lines() >= u64::from(u32::MAX) {
            let message = format!("is {} in lines of {line} entries", self.ftl.map_cache);
            checker.refuse(
                "ftl.map_cache",
                message,
                "make it smaller, or ftl.map_line larger",
            );
        }
        if self.fdp.handles > 0 {
            let message = format!(
                "is {}, but translation pages are of no handle",
                self.fdp.handles
            );
            let remedy = "set fdp.handles to 0 or ftl.map to \"table\"";
            checker.refuse("fdp.handles", message, remedy);
        }
        if self.commands.copyback {
            checker.refuse(
                "commands.copyback",
                "is true, but what is copied inside a plane may be data beside translation pages",
                "set it to false or ftl.map to \"table\"",
            );
        }
    }
}
