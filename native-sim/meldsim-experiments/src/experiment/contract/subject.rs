//! A device under test, in the states that the rules ask for.

use super::super::burst::ExperimentError;
use meldsim::device::{Device, Precondition};
use meldsim::nvme::{Directive, NamespaceId};
use meldsim::profile::{Kind, Profile};

/// A device to be, and what its state before each test is.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) profile: Profile,
}

impl Subject {
    /// Bytes that random requests go to.
    pub(crate) const SPAN_BYTES: u64 = 1 << 30;
    /// Blocks of a plane of flash that is to be filled as a whole.
    const SMALL_BLOCKS: u32 = 96;
    /// Wordlines of these.
    const SMALL_WORDLINES: u32 = 64;
    /// Memory to be filled as a whole.
    const SMALL_BYTES: u64 = 4 << 30;

    pub(crate) fn lba_bytes(&self) -> u64 {
        self.profile.controller.lba_size.0
    }

    /// Data that was overwritten at random: flash has it all over the place, elsewhere in each of so
    /// many spans.
    pub(crate) fn used(&self, spans: u64) -> Result<(Device, NamespaceId), ExperimentError> {
        self.preconditioned(spans * Subject::SPAN_BYTES, 100)
    }

    /// Data that was written once, in order.
    pub(crate) fn in_order(&self) -> Result<(Device, NamespaceId), ExperimentError> {
        let mut device = Device::new(&self.profile)?;
        let nsid = device.create_namespace(Subject::SPAN_BYTES)?;
        device.preload(
            nsid,
            0,
            Subject::SPAN_BYTES / self.lba_bytes(),
            Directive::NONE,
        )?;
        Ok((device, nsid))
    }

    /// A small device of the kind, full: of data that was written in order, or overwritten at random
    /// until garbage collection was in steady state. Also the bytes it holds.
    pub(crate) fn full(
        &self,
        random_percent: u32,
    ) -> Result<(Device, NamespaceId, u64), ExperimentError> {
        let mut small = self.clone();
        if small.profile.kind == Kind::Nand {
            small.profile.geometry.blocks_per_plane = Subject::SMALL_BLOCKS;
            small.profile.geometry.wordlines_per_block = Subject::SMALL_WORDLINES;
        } else {
            small.profile.xpoint.capacity.0 = Subject::SMALL_BYTES;
        }
        let bytes = Device::new(&small.profile)?.set_capacity_bytes(0);
        let (device, nsid) = small.preconditioned(bytes, random_percent)?;
        Ok((device, nsid, bytes))
    }

    fn preconditioned(
        &self,
        bytes: u64,
        random_percent: u32,
    ) -> Result<(Device, NamespaceId), ExperimentError> {
        let mut device = Device::new(&self.profile)?;
        let nsid = device.create_namespace(bytes)?;
        device.precondition(&Precondition {
            fill_percent: 100,
            random_percent,
        })?;
        Ok((device, nsid))
    }
}
