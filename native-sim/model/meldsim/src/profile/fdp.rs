//! `[fdp]`: flexible data placement.

use serde::{Deserialize, Serialize};

use super::check::{Checker, section};
use super::units::ByteSize;
use super::{Allocation, Profile};
use crate::policy::placement::{FRONTIERS, PlacementPolicy};

section! {
    /// `[fdp]`: flexible data placement (NVM Express 2.1). There is one reclaim group in each NVM set, and a reclaim unit is a
    /// superblock: a block of every plane. `ftl.placement` says how handles are isolated: initially with `streams`,
    /// persistently with `isolated`.
    #[non_exhaustive]
    Fdp = "fdp" {
        /// Reclaim unit handles of each NVM set; the placement identifiers are their numbers, from 0. 0: no flexible data
        /// placement, and streams in its place. Unit: count; range 0 to 16; default 0.
        handles: u32 = 0, 0..=16;
        /// Nominal size of a reclaim unit, as the device tells it. `0B`: what it is. Else it must be what it is within 1 %.
        /// Unit: size; default 0B.
        reclaim_unit: ByteSize = ByteSize(0);
    }
}

impl Profile {
    /// Bytes of a block of a plane.
    pub fn block_size(&self) -> ByteSize {
        let pages = u64::from(self.geometry.wordlines_per_block) * self.timing.read.len() as u64;
        ByteSize(pages * self.geometry.page_size.0)
    }

    /// Bytes of a reclaim unit.
    pub fn reclaim_unit(&self) -> ByteSize {
        let pages = self.pages_per_block_row() / u64::from(self.sets.count);
        ByteSize(pages * self.mapping_unit().0)
    }

    /// Whether the pages that collection moves stay apart by handle: handles are persistently isolated.
    pub(crate) fn isolates_handles(&self) -> bool {
        self.ftl.placement == PlacementPolicy::named("isolated")
    }

    /// Refuses handles that the placement policy, the spare blocks or the write buffer cannot keep apart.
    pub(super) fn check_fdp(&self, checker: &mut Checker) {
        let handles = self.fdp.handles;
        if handles == 0 {
            return;
        }
        let key = "fdp.handles";
        if self.ftl.allocation == Allocation::Static {
            let message = format!("is {handles} with ftl.allocation = \"static\"");
            checker.refuse(
                key,
                message,
                "make the allocation dynamic, or fdp.handles 0",
            );
        }
        let is_isolated = self.isolates_handles();
        if !is_isolated && self.ftl.placement != PlacementPolicy::named("streams") {
            let message = format!("is {handles}, and ftl.placement does not follow handles");
            let remedy = "set ftl.placement to \"streams\" or \"isolated\", or fdp.handles to 0";
            checker.refuse(key, message, remedy);
        }
        let most = u32::from(FRONTIERS[1]);
        if is_isolated && handles > most {
            let message = format!("is {handles} with ftl.placement = \"isolated\"");
            checker.refuse(key, message, format!("must be at most {most}"));
        }
        // Each but the first keeps a superblock open in each layout, persistently isolated also of what is moved.
        let open = (handles - 1) * self.layouts() * if is_isolated { 2 } else { 1 };
        self.check_open_blocks(checker, (key, handles), open);
        self.check_gathered(checker, format!("{handles} handles"), handles + 1);
        let (named, is) = (self.fdp.reclaim_unit.0, self.reclaim_unit());
        if named != 0 && named.abs_diff(is.0) > is.0 / 100 {
            let message = format!("is {}", self.fdp.reclaim_unit);
            let remedy = format!("must be {is} within 1 %, a block of every plane, or 0B");
            checker.refuse("fdp.reclaim_unit", message, remedy);
        }
    }
}
