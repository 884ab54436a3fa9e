//! Streams: data that is likely to be read or to die differently does not mix in a block.

use crate::nvme::MAX_STREAMS;

/// How pages lie on wordlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Consecutive pages on different units.
    Normal = 0,
    /// Consecutive pages on one wordline.
    Melded = 1,
}

/// Who fills a block group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// The host, in the stream with this number; 0 for none.
    Host(u8, Layout),
    Gc(Layout),
}

impl Stream {
    /// Streams that are always there.
    pub(crate) const FIXED: [Stream; 4] = [
        Stream::Gc(Layout::Normal),
        Stream::Host(0, Layout::Normal),
        Stream::Gc(Layout::Melded),
        Stream::Host(0, Layout::Melded),
    ];

    /// Streams there can be.
    pub(crate) const COUNT: usize = 2 * (MAX_STREAMS as usize + 2);

    pub(crate) fn index(self) -> usize {
        match self {
            Stream::Gc(layout) => layout as usize,
            Stream::Host(stream, layout) => 2 + 2 * usize::from(stream) + layout as usize,
        }
    }

    pub(crate) fn from_index(index: usize) -> Stream {
        let layout = match index % 2 {
            0 => Layout::Normal,
            _ => Layout::Melded,
        };
        match index / 2 {
            0 => Stream::Gc(layout),
            host => Stream::Host(host as u8 - 1, layout),
        }
    }

    pub(crate) fn layout(self) -> Layout {
        match self {
            Stream::Host(_, layout) | Stream::Gc(layout) => layout,
        }
    }
}
