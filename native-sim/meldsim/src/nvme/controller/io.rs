//! I/O commands: from the wire to the device.

use super::{Controller, refused};
use crate::device::QueueId;
use crate::nvme::wire::directives::dtype;
use crate::nvme::wire::io::{DatasetManagement, ReadWrite, opcode};
use crate::nvme::wire::{Sqe, StatusCode};
use crate::nvme::{Command, Directive, NamespaceId};

impl Controller {
    /// Submits the command to the device; false when there is nothing to wait for.
    pub(super) fn execute(
        &mut self,
        queue: QueueId,
        tag: u32,
        sqe: &Sqe,
        data: &[u8],
    ) -> Result<bool, StatusCode> {
        if sqe.is_fused() {
            return Err(StatusCode::INVALID_FIELD);
        }
        let nsid = NamespaceId(sqe.nsid);
        let tag = u64::from(tag);
        let command = match sqe.opcode {
            opcode::FLUSH => Command::flush(nsid, tag),
            opcode::READ => {
                let read = Controller::read_write(sqe)?;
                Command::read(nsid, read.slba, u32::from(read.nlb) + 1, tag).with_dsm(read.dsm)
            }
            opcode::WRITE => {
                let write = Controller::read_write(sqe)?;
                let directive = self.directive_of(nsid, &write)?;
                Command::write(nsid, write.slba, u32::from(write.nlb) + 1, directive, tag)
                    .with_dsm(write.dsm)
            }
            opcode::DATASET_MANAGEMENT => return self.manage(queue, nsid, tag, sqe, data),
            _ => return Err(StatusCode::INVALID_OPCODE),
        };
        let submitted = self.device.submit_to(queue, &command);
        submitted.map_err(|error| refused(&error))?;
        if let opcode::WRITE = sqe.opcode {
            self.opened(nsid, command.directive);
        }
        Ok(true)
    }

    /// Namespaces have no protection information.
    fn read_write(sqe: &Sqe) -> Result<ReadWrite, StatusCode> {
        let dwords = ReadWrite::parse(sqe);
        match dwords.prinfo {
            0 => Ok(dwords),
            _ => Err(StatusCode::INVALID_FIELD),
        }
    }

    /// The directive of a write, if it is enabled for its namespace.
    fn directive_of(&self, nsid: NamespaceId, write: &ReadWrite) -> Result<Directive, StatusCode> {
        if write.dtype == dtype::IDENTIFY {
            return Ok(Directive::NONE);
        }
        // An unknown namespace is told by the device.
        if self.device.namespace(nsid).is_some() && !self.is_enabled(nsid, write.dtype) {
            return Err(StatusCode::INVALID_FIELD);
        }
        Ok(match (write.dtype, write.dspec) {
            (dtype::STREAMS, 0) => Directive::NONE,
            (dtype, dspec) => Directive { dtype, dspec },
        })
    }

    /// Dataset Management: every range is checked before any takes effect.
    fn manage(
        &mut self,
        queue: QueueId,
        nsid: NamespaceId,
        tag: u64,
        sqe: &Sqe,
        data: &[u8],
    ) -> Result<bool, StatusCode> {
        let dsm = DatasetManagement::parse(sqe, data)?;
        let Some(namespace) = self.device.namespace(nsid) else {
            return Err(StatusCode::INVALID_NAMESPACE);
        };
        let size_lbas = namespace.size_lbas;
        let fits = |slba: u64, length: u32| {
            let end = slba.checked_add(u64::from(length));
            end.is_some_and(|end| end <= size_lbas)
        };
        if !dsm
            .ranges
            .iter()
            .all(|range| fits(range.slba, range.length))
        {
            return Err(StatusCode::LBA_OUT_OF_RANGE);
        }
        let ranges = dsm.ranges.iter().filter(|range| range.length > 0);
        let mut waits = false;
        if dsm.ad {
            let ranges: Vec<(u64, u32)> = ranges
                .clone()
                .map(|range| (range.slba, range.length))
                .collect();
            if !ranges.is_empty() {
                let submitted = self.device.deallocate(queue, nsid, &ranges, tag);
                submitted.map_err(|error| refused(&error))?;
                waits = true;
            }
        }
        if dsm.idr {
            for range in ranges {
                let described = self.device.describe(nsid, range);
                described.map_err(|error| refused(&error))?;
            }
        }
        Ok(waits)
    }
}
