//! Namespaces: thin address spaces over the flash.

use std::fmt;

/// Identifies a namespace; the first one is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamespaceId(pub u32);

impl fmt::Display for NamespaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What Identify Namespace would tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its identifier.
    pub id: NamespaceId,
    /// Bytes of one logical block.
    pub lba_bytes: u64,
    /// Size in logical blocks (NSZE). Thin provisioned: it may exceed the device's capacity.
    pub size_lbas: u64,
    /// Bytes of one flash page: the smallest write that needs no read-modify-write.
    pub page_bytes: u64,
    /// Bytes of one wordline: the preferred granularity of sequential reads and writes.
    pub wordline_bytes: u64,
}

impl Namespace {
    /// Its size in flash pages; the last may be covered in part.
    pub fn pages(&self) -> u64 {
        (self.size_lbas * self.lba_bytes).div_ceil(self.page_bytes)
    }
}
