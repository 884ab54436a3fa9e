//! Where data is on flash.

use super::NandMedium;
use crate::device::front::PageRange;
use crate::device::location::{LayoutCount, Location};
use crate::ftl::Entry;

impl NandMedium {
    /// Where the first page of the range is.
    pub(in crate::device) fn locate(&self, range: PageRange) -> Location {
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

    /// How the pages of the range are laid out.
    pub(in crate::device) fn layout(&self, range: PageRange) -> LayoutCount {
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
}
