//! Directive Send and Directive Receive.

use super::Controller;
use crate::device::Device;
use crate::nvme::hint::MAX_STREAMS;
use crate::nvme::wire::directives::{
    DirectiveCommand, DirectiveParameters, StreamsParameters, doper, dtype, streams_status,
};
use crate::nvme::wire::{Sqe, StatusCode};
use crate::nvme::{Directive, NamespaceId, Pattern};

/// Directive types the controller has: a bit each.
const SUPPORTED: u32 = 1 << dtype::IDENTIFY | 1 << dtype::STREAMS | 1 << dtype::READ_PATTERN;
const ALL_NAMESPACES: u32 = u32::MAX;

/// The directives of one namespace.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamespaceDirectives {
    /// A bit for each type.
    enabled: u32,
    /// Streams allocated to it (NSA); those not allocated are shared.
    allocated: u16,
    /// Streams written to: a bit each.
    open: u32,
}

impl Default for NamespaceDirectives {
    fn default() -> NamespaceDirectives {
        NamespaceDirectives {
            enabled: 1 << dtype::IDENTIFY,
            allocated: 0,
            open: 0,
        }
    }
}

impl NamespaceDirectives {
    fn open_count(&self) -> u16 {
        self.open.count_ones() as u16
    }
}

impl Controller {
    /// Whether writes to the namespace may carry the directive.
    pub(super) fn is_enabled(&self, nsid: NamespaceId, dtype: u8) -> bool {
        u32::from(dtype) < u32::BITS && self.directives_of(nsid).enabled & 1 << dtype != 0
    }

    /// A write with this directive has been taken.
    pub(super) fn opened(&mut self, nsid: NamespaceId, directive: Directive) {
        let stream = directive.stream();
        if stream != 0 {
            self.directives_of_mut(nsid).open |= 1 << stream;
        }
    }

    fn directives_of(&self, nsid: NamespaceId) -> NamespaceDirectives {
        let index = (nsid.0 as usize).wrapping_sub(1);
        self.directives.get(index).copied().unwrap_or_default()
    }

    /// The namespace exists.
    fn directives_of_mut(&mut self, nsid: NamespaceId) -> &mut NamespaceDirectives {
        let index = (nsid.0 as usize).saturating_sub(1);
        if self.directives.len() <= index {
            self.directives
                .resize(index + 1, NamespaceDirectives::default());
        }
        &mut self.directives[index]
    }

    pub(super) fn directive_send(&mut self, sqe: &Sqe) -> Result<u32, StatusCode> {
        let send = DirectiveCommand::parse(sqe);
        let is_enable = (send.dtype, send.doper) == (dtype::IDENTIFY, doper::IDENTIFY_ENABLE);
        if is_enable && sqe.nsid == ALL_NAMESPACES {
            for nsid in 1..=self.device.namespaces().len() as u32 {
                self.enable(NamespaceId(nsid), &send)?;
            }
            return Ok(0);
        }
        let nsid = self.addressed(sqe, send.dtype)?;
        match (send.dtype, send.doper) {
            _ if is_enable => self.enable(nsid, &send)?,
            (dtype::STREAMS, doper::STREAMS_RELEASE_IDENTIFIER) => {
                if send.dspec == 0 || send.dspec > MAX_STREAMS {
                    return Err(StatusCode::INVALID_FIELD);
                }
                self.close_streams(nsid, 1 << send.dspec)?;
            }
            (dtype::STREAMS, doper::STREAMS_RELEASE_RESOURCES) => self.release(nsid)?,
            (dtype::READ_PATTERN, doper::PATTERN_BIND_STREAM) => {
                let pattern = Directive {
                    dtype: dtype::READ_PATTERN,
                    dspec: u16::try_from(send.cdw12).map_err(|_| StatusCode::INVALID_FIELD)?,
                };
                let pattern = pattern.pattern().map_err(|_| StatusCode::INVALID_FIELD)?;
                let bound = self.device.bind_stream(nsid, send.dspec, pattern);
                bound.map_err(|error| super::refused(&error))?;
            }
            _ => return Err(StatusCode::INVALID_FIELD),
        }
        Ok(0)
    }

    pub(super) fn directive_receive(
        &mut self,
        sqe: &Sqe,
        data: &mut [u8],
    ) -> Result<u32, StatusCode> {
        let receive = DirectiveCommand::parse(sqe);
        let nsid = self.addressed(sqe, receive.dtype)?;
        let directives = self.directives_of(nsid);
        match (receive.dtype, receive.doper) {
            (dtype::IDENTIFY, doper::IDENTIFY_PARAMETERS) => {
                let mut parameters = DirectiveParameters::default();
                parameters.supported[..4].copy_from_slice(&SUPPORTED.to_le_bytes());
                parameters.enabled[..4].copy_from_slice(&directives.enabled.to_le_bytes());
                give(&receive, &parameters.encode(), data)
            }
            (dtype::STREAMS, doper::STREAMS_PARAMETERS) => {
                let parameters = self.streams_parameters(nsid);
                give(&receive, &parameters.encode(), data)
            }
            (dtype::STREAMS, doper::STREAMS_STATUS) => {
                let open = (1..=MAX_STREAMS).filter(|stream| directives.open & 1 << stream != 0);
                give(&receive, &streams_status(open), data)
            }
            (dtype::STREAMS, doper::STREAMS_ALLOCATE) => self.allocate(nsid, receive.nsr()),
            (dtype::READ_PATTERN, doper::PATTERN_PARAMETERS) => {
                let patterns = bound(&self.device, nsid)?;
                give(&receive, &patterns, data)
            }
            _ => Err(StatusCode::INVALID_FIELD),
        }
    }

    /// The namespace of a directive command, for which its type must be enabled.
    fn addressed(&self, sqe: &Sqe, dtype: u8) -> Result<NamespaceId, StatusCode> {
        let nsid = NamespaceId(sqe.nsid);
        if self.device.namespace(nsid).is_none() {
            return Err(StatusCode::INVALID_NAMESPACE);
        }
        match self.is_enabled(nsid, dtype) {
            true => Ok(nsid),
            false => Err(StatusCode::INVALID_FIELD),
        }
    }

    /// Enables or disables a directive. The Identify directive is always enabled; disabling Streams
    /// releases their resources.
    fn enable(&mut self, nsid: NamespaceId, send: &DirectiveCommand) -> Result<(), StatusCode> {
        let target = send.tdtype();
        let is_known = u32::from(target) < u32::BITS && SUPPORTED & 1 << target != 0;
        if !is_known || target == dtype::IDENTIFY {
            return Err(StatusCode::INVALID_FIELD);
        }
        let directives = self.directives_of_mut(nsid);
        match send.endir() {
            true => directives.enabled |= 1 << target,
            false => directives.enabled &= !(1 << target),
        }
        if target == dtype::STREAMS && !send.endir() {
            self.release(nsid)?;
        }
        Ok(())
    }

    /// Takes its streams from a namespace.
    fn release(&mut self, nsid: NamespaceId) -> Result<(), StatusCode> {
        self.directives_of_mut(nsid).allocated = 0;
        self.close_streams(nsid, u32::MAX)
    }

    /// Closes those of the streams that are open: a bit each.
    fn close_streams(&mut self, nsid: NamespaceId, streams: u32) -> Result<(), StatusCode> {
        let open = &mut self.directives_of_mut(nsid).open;
        let closed = *open & streams;
        *open &= !streams;
        for stream in (1..=MAX_STREAMS).filter(|stream| closed & 1 << stream != 0) {
            let released = self.device.release_stream(nsid, stream);
            released.map_err(|error| super::refused(&error))?;
        }
        Ok(())
    }

    /// Streams that no namespace has allocated.
    fn available(&self) -> u16 {
        let allocated: u16 = self.directives.iter().map(|of| of.allocated).sum();
        MAX_STREAMS - allocated
    }

    /// Allocates up to `requested` streams to a namespace that has none; how many is returned.
    fn allocate(&mut self, nsid: NamespaceId, requested: u16) -> Result<u32, StatusCode> {
        let granted = requested.min(self.available());
        let directives = self.directives_of_mut(nsid);
        if requested == 0 || directives.allocated > 0 {
            return Err(StatusCode::INVALID_FIELD);
        }
        if granted == 0 {
            return Err(StatusCode::STREAM_RESOURCE_ALLOCATION_FAILED);
        }
        directives.allocated = granted;
        Ok(u32::from(granted))
    }

    fn streams_parameters(&self, nsid: NamespaceId) -> StreamsParameters {
        let directives = self.directives_of(nsid);
        let pages = self.device.namespace(nsid).map_or(1, |namespace| {
            namespace.wordline_bytes / namespace.lba_bytes
        });
        StreamsParameters {
            msl: MAX_STREAMS,
            nssa: self.available(),
            nsso: self.directives.iter().map(|of| of.open_count()).sum(),
            nssc: 0,
            sws: pages.max(1) as u32,
            sgs: 1,
            nsa: directives.allocated,
            nso: directives.open_count(),
        }
    }
}

/// The pattern every stream is bound to, one byte each.
fn bound(device: &Device, nsid: NamespaceId) -> Result<Vec<u8>, StatusCode> {
    let patterns = device.bound_streams(nsid);
    let patterns = patterns.map_err(|error| super::refused(&error))?;
    Ok(patterns
        .iter()
        .map(|&pattern: &Pattern| pattern as u8)
        .collect())
}

/// Transfers as much of `structure` as NUMD asks for; beyond its end there are zeros.
fn give(receive: &DirectiveCommand, structure: &[u8], data: &mut [u8]) -> Result<u32, StatusCode> {
    let bytes = (receive.numd as usize).saturating_add(1).saturating_mul(4);
    let data = data
        .get_mut(..bytes)
        .ok_or(StatusCode::DATA_TRANSFER_ERROR)?;
    let length = bytes.min(structure.len());
    data[..length].copy_from_slice(&structure[..length]);
    data[length..].fill(0);
    Ok(0)
}
