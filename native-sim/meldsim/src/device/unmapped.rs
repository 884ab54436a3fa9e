//! Placing what is missing and leaving alone what is there.

use super::{Device, DeviceError, Location};
use crate::nvme::{Directive, NamespaceId};

impl Device {
    /// As [`Device::preload`], but only for the pages of the range that hold nothing. Returns how many logical blocks
    /// those are.
    pub fn preload_unmapped(
        &mut self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
        directive: Directive,
    ) -> Result<u64, DeviceError> {
        self.front.pages(nsid, slba, nlb)?;
        let namespace = self.namespace(nsid);
        let namespace = namespace.ok_or(DeviceError::UnknownNamespace { nsid })?;
        // What is mapped together: a page, or the pages of one logical block.
        let step = (namespace.page_bytes / namespace.lba_bytes).max(1);
        let end = slba + nlb;
        let (mut placed, mut missing_from) = (0, None);
        let mut lba = slba;
        while lba < end {
            let next = ((lba / step + 1) * step).min(end);
            let missing = self.locate(nsid, lba)? == Location::Unmapped;
            if missing && missing_from.is_none() {
                missing_from = Some(lba);
            }
            let gap_end = if missing { next } else { lba };
            if let Some(from) = missing_from.filter(|_| !missing || next == end) {
                self.preload(nsid, from, gap_end - from, directive)?;
                placed += gap_end - from;
                missing_from = None;
            }
            lba = next;
        }
        Ok(placed)
    }
}
