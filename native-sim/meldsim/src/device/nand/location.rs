//! Where data is on flash.

use super::NandMedium;
use crate::device::front::PageRange;
use crate::device::location::Location;
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
}
