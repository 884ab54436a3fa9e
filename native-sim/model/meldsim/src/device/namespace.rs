//! The namespaces of a device, the pages of their logical blocks, and what the host says of their data apart from its
//! writes: streams and the ranges of Dataset Management.

use super::request::{CODEWORD_SHIFT, PageRange};
use super::{Device, DeviceError};
use crate::nvme::wire::io::DsmRange;
use crate::nvme::{
    Command, DirectiveError, Hint, Hints, MAX_STREAMS, Namespace, NamespaceId, Pattern,
};

/// A namespace's address space on the medium.
#[derive(Clone, Debug)]
struct Space {
    set: u32,
    /// Its number in the set.
    number: u32,
    /// Of the bytes of a page, a power of two.
    page_shift: u32,
    /// What was said about its data before their writes.
    hints: Hints,
}

/// All namespaces, in the order of their identifiers.
#[derive(Clone, Debug, Default)]
pub(super) struct Namespaces {
    namespaces: Vec<Namespace>,
    spaces: Vec<Space>,
}

impl Namespaces {
    /// The position of a namespace that exists.
    #[inline]
    pub(super) fn index(&self, nsid: NamespaceId) -> Result<usize, DeviceError> {
        let index = (nsid.0 as usize).wrapping_sub(1);
        match index < self.namespaces.len() {
            true => Ok(index),
            false => Err(DeviceError::UnknownNamespace { nsid }),
        }
    }

    pub(super) fn all(&self) -> &[Namespace] {
        &self.namespaces
    }

    /// The namespaces of a set, in the order of their numbers there.
    pub(super) fn of_set(&self, set: u32) -> impl Iterator<Item = &Namespace> {
        let both = self.namespaces.iter().zip(&self.spaces);
        both.filter(move |(_, space)| space.set == set)
            .map(|(namespace, _)| namespace)
    }

    /// The set of a namespace and its number there.
    pub(super) fn space(&self, nsid: NamespaceId) -> Result<(u32, u32), DeviceError> {
        let space = &self.spaces[self.index(nsid)?];
        Ok((space.set, space.number))
    }

    /// No pages of the namespace.
    pub(super) fn empty_range(&self, nsid: NamespaceId) -> Result<PageRange, DeviceError> {
        let (set, space) = self.space(nsid)?;
        Ok(PageRange {
            set,
            space,
            first: 0,
            end: 0,
            skipped: [0; 2],
            partial_first: false,
            partial_last: false,
        })
    }

    /// The pages of a range of logical blocks, and its bytes.
    #[inline]
    pub(super) fn pages(
        &self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
    ) -> Result<(PageRange, u64), DeviceError> {
        let index = self.check(nsid, slba, nlb)?;
        Ok(self.pages_at(index, slba, nlb))
    }

    /// The position of the namespace that has a range of logical blocks.
    #[inline(always)]
    pub(super) fn check(
        &self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
    ) -> Result<usize, DeviceError> {
        let index = self.index(nsid)?;
        let size_lbas = self.namespaces[index].size_lbas;
        if nlb == 0 || slba > size_lbas || nlb > size_lbas - slba {
            return Err(DeviceError::OutOfRange {
                nsid,
                slba,
                nlb,
                size_lbas,
            });
        }
        Ok(index)
    }

    /// As [`Namespaces::pages`], of a range that the namespace at this position has.
    #[inline(always)]
    pub(super) fn pages_at(&self, index: usize, slba: u64, nlb: u64) -> (PageRange, u64) {
        let namespace = &self.namespaces[index];
        let (start, bytes) = (slba * namespace.lba_bytes, nlb * namespace.lba_bytes);
        let stop = start + bytes;
        let space = &self.spaces[index];
        let (page, in_page) = (space.page_shift, namespace.page_bytes - 1);
        let range = PageRange {
            set: space.set,
            space: space.number,
            first: start >> page,
            end: (stop >> page) + u64::from(stop & in_page != 0),
            partial_first: start & in_page != 0,
            partial_last: stop & in_page != 0,
            skipped: [start & in_page, stop.wrapping_neg() & in_page]
                .map(|bytes| (bytes >> CODEWORD_SHIFT) as u8),
        };
        (range, bytes)
    }

    /// The page that a logical block begins in, with its set and the number of its space there, if there is such a namespace.
    #[inline(always)]
    pub(super) fn place(&self, nsid: NamespaceId, lba: u64) -> Option<(u32, u32, u64)> {
        let index = self.index(nsid).ok()?;
        let space = &self.spaces[index];
        let page = lba.wrapping_mul(self.namespaces[index].lba_bytes) >> space.page_shift;
        Some((space.set, space.number, page))
    }

    /// The pattern and the stream of a write.
    pub(super) fn hint(&self, write: &Command, nlb: u64) -> Result<Hint, DeviceError> {
        let hints = &self.spaces[self.index(write.nsid)?].hints;
        Ok(hints.resolve(write.slba, nlb, write.directive, write.dsm)?)
    }

    fn hints_mut(&mut self, nsid: NamespaceId) -> Result<&mut Hints, DeviceError> {
        let index = self.index(nsid)?;
        Ok(&mut self.spaces[index].hints)
    }

    /// With deallocated data goes what was said about them.
    pub(super) fn forget(&mut self, nsid: NamespaceId, slba: u64, nlb: u32) {
        if let Ok(hints) = self.hints_mut(nsid) {
            hints.forget(slba, u64::from(nlb));
        }
    }
}

/// Namespaces and what is said of them.
impl Device {
    /// Creates a namespace of `size_bytes`. It is thin: its size may exceed the device's capacity.
    /// Namespaces go to the NVM sets in turn, the first to set 0.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NamespaceSize`].
    pub fn create_namespace(&mut self, size_bytes: u64) -> Result<NamespaceId, DeviceError> {
        let set = self.namespaces().len() as u32 % self.sets();
        self.create_namespace_in(set, size_bytes)
    }

    /// Creates a namespace in an NVM set; see [`Device::create_namespace`].
    ///
    /// # Errors
    ///
    /// [`DeviceError::NamespaceSize`], [`DeviceError::UnknownSet`].
    pub fn create_namespace_in(
        &mut self,
        set: u32,
        size_bytes: u64,
    ) -> Result<NamespaceId, DeviceError> {
        self.known_set(set)?;
        let lba_bytes = self.profile.controller.lba_size.0;
        let zoned_bytes = self.max_zoned_bytes();
        let max_bytes = zoned_bytes.unwrap_or(self.medium.max_namespace_bytes());
        let lba_bytes = zoned_bytes.map_or(lba_bytes, |_| self.profile.zones.size.0);
        if zoned_bytes.is_some() && !self.namespaces().is_empty() {
            return Err(DeviceError::SecondZoned);
        }
        if size_bytes == 0 || size_bytes % lba_bytes != 0 || size_bytes > max_bytes {
            return Err(DeviceError::NamespaceSize {
                size_bytes,
                lba_bytes,
                max_bytes,
            });
        }
        let lba_bytes = self.profile.controller.lba_size.0;
        self.make_zones(size_bytes / lba_bytes);
        let number = self.medium.add_space(set, size_bytes);
        let page_bytes = self.medium.page_bytes();
        let Namespaces { namespaces, spaces } = &mut self.namespaces;
        spaces.push(Space {
            set,
            number,
            page_shift: page_bytes.trailing_zeros(),
            hints: Hints::new(self.profile.fdp.handles as u16),
        });
        self.requests.add_namespace();
        let id = NamespaceId(spaces.len() as u32);
        namespaces.push(Namespace {
            id,
            lba_bytes,
            size_lbas: size_bytes / lba_bytes,
            page_bytes,
            wordline_bytes: self.medium.optimal_write_bytes(),
        });
        Ok(id)
    }

    /// The namespace, if it exists.
    pub fn namespace(&self, nsid: NamespaceId) -> Option<&Namespace> {
        self.namespaces().get((nsid.0 as usize).wrapping_sub(1))
    }

    /// All namespaces, in the order of their identifiers.
    pub fn namespaces(&self) -> &[Namespace] {
        self.namespaces.all()
    }

    /// Takes the context attributes of a range, as Dataset Management tells them with the integral
    /// dataset for read attribute: one that will be read sequentially, with an access size, is a
    /// read pattern for the writes to it that follow; any other takes back what was said.
    ///
    /// # Errors
    ///
    /// A namespace that does not exist, a range beyond it.
    pub fn describe(&mut self, nsid: NamespaceId, range: &DsmRange) -> Result<(), DeviceError> {
        if range.length > 0 {
            self.namespaces
                .pages(nsid, range.slba, u64::from(range.length))?;
            self.namespaces.hints_mut(nsid)?.describe(range);
        }
        Ok(())
    }

    /// Binds a stream of a namespace to a pattern: its writes will be read that way unless they say
    /// otherwise. [`Pattern::None`] releases it.
    ///
    /// # Errors
    ///
    /// A namespace or a stream that does not exist.
    pub fn bind_stream(
        &mut self,
        nsid: NamespaceId,
        stream: u16,
        pattern: Pattern,
    ) -> Result<(), DeviceError> {
        Ok(self.namespaces.hints_mut(nsid)?.bind(stream, pattern)?)
    }

    /// Releases a stream, as the host does that will not write to it any more: what it still gathers
    /// is programmed, with padding, and its blocks are closed, so that another stream may have
    /// blocks. A later write opens it again. It stays bound to its pattern.
    ///
    /// # Errors
    ///
    /// A namespace or a stream that does not exist.
    pub fn release_stream(&mut self, nsid: NamespaceId, stream: u16) -> Result<(), DeviceError> {
        let (set, _) = self.namespaces.space(nsid)?;
        if stream == 0 || stream > MAX_STREAMS {
            return Err(DirectiveError::Stream { dspec: stream }.into());
        }
        let (queue, requests) = (&mut self.queue, &mut self.requests);
        self.medium
            .release_stream(queue, requests, set, stream as u8);
        self.take_outcomes();
        Ok(())
    }

    /// The pattern each stream of a namespace is bound to, from stream 0, which is none.
    ///
    /// # Errors
    ///
    /// A namespace that does not exist.
    pub fn bound_streams(&self, nsid: NamespaceId) -> Result<&[Pattern], DeviceError> {
        let index = self.namespaces.index(nsid)?;
        Ok(self.namespaces.spaces[index].hints.bound())
    }
}
