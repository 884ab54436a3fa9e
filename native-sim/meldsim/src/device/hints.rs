//! What the host says about its data apart from its writes.

use super::medium::Medium;
use super::{Device, DeviceError};
use crate::nvme::wire::io::DsmRange;
use crate::nvme::{
    Command, DirectiveError, Hint, Hints, MAX_STREAMS, NamespaceId, Opcode, Pattern,
};

impl Device {
    /// Takes the context attributes of a range, as Dataset Management tells them with the integral
    /// dataset for read attribute: one that will be read sequentially, with an access size, is a
    /// read pattern for the writes to it that follow; any other takes back what was told.
    pub fn describe(&mut self, nsid: NamespaceId, range: &DsmRange) -> Result<(), DeviceError> {
        if range.length > 0 {
            self.front
                .pages(nsid, range.slba, u64::from(range.length))?;
            self.hints_mut(nsid)?.describe(range);
        }
        Ok(())
    }

    /// Binds a stream of a namespace to a pattern: its writes will be read that way unless they say
    /// otherwise. [`Pattern::None`] releases it.
    pub fn bind_stream(
        &mut self,
        nsid: NamespaceId,
        stream: u16,
        pattern: Pattern,
    ) -> Result<(), DeviceError> {
        Ok(self.hints_mut(nsid)?.bind(stream, pattern)?)
    }

    /// Releases a stream, as the host does that will not write to it any more: what it still gathers
    /// is programmed, with padding, and its blocks are closed, so that another stream may have
    /// blocks. A later write opens it again. It stays bound to its pattern.
    pub fn release_stream(&mut self, nsid: NamespaceId, stream: u16) -> Result<(), DeviceError> {
        let set = self.set_of(nsid);
        let set = set.ok_or(DeviceError::UnknownNamespace { nsid })?;
        if stream == 0 || stream > MAX_STREAMS {
            return Err(DirectiveError::Stream { dspec: stream }.into());
        }
        match &mut self.medium {
            Medium::Nand(nand) => nand.release_stream(&mut self.front, set, stream as u8),
            // Nothing gathers.
            Medium::Xpoint(_) => {}
        }
        Ok(())
    }

    /// The pattern each stream of a namespace is bound to, from stream 0, which is none.
    pub fn bound_streams(&self, nsid: NamespaceId) -> Result<&[Pattern], DeviceError> {
        let hints = self.front.hints.get((nsid.0 as usize).wrapping_sub(1));
        let hints = hints.ok_or(DeviceError::UnknownNamespace { nsid })?;
        Ok(hints.bound())
    }

    /// The pattern and the stream of a write. The namespace exists.
    #[inline]
    pub(super) fn hint(&self, command: &Command, nlb: u64) -> Result<Hint, DirectiveError> {
        let hints = &self.front.hints[(command.nsid.0 - 1) as usize];
        match command.opcode {
            Opcode::Write => hints.resolve(command.slba, nlb, command.directive, command.dsm),
            _ => Ok(Hint::NONE),
        }
    }

    fn hints_mut(&mut self, nsid: NamespaceId) -> Result<&mut Hints, DeviceError> {
        let hints = self.front.hints.get_mut((nsid.0 as usize).wrapping_sub(1));
        hints.ok_or(DeviceError::UnknownNamespace { nsid })
    }

    /// Deallocated data leave nothing behind, nor what was said about them.
    pub(super) fn forget_hints(&mut self, command: &Command) {
        if let Ok(hints) = self.hints_mut(command.nsid) {
            hints.forget(command.slba, u64::from(command.nlb));
        }
    }
}
