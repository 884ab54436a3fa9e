//! Streams: data that is likely to be read or to die differently does not mix in a block.

use crate::nvme::MAX_STREAMS;
use crate::profile::limits::FIXED_STREAMS;

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
    /// Streams that are always there: the first ones.
    pub(crate) const FIXED: usize = FIXED_STREAMS as usize;

    /// Streams there can be.
    pub(crate) const COUNT: usize = 2 * (MAX_STREAMS as usize + 2);

    /// Its number, in the order in which streams have their turn.
    #[inline]
    pub(crate) fn index(self) -> usize {
        match self {
            Stream::Gc(layout) => 2 * layout as usize,
            Stream::Host(0, layout) => 2 * layout as usize + 1,
            Stream::Host(stream, layout) => 2 + 2 * usize::from(stream) + layout as usize,
        }
    }

    #[inline]
    pub(crate) fn from_index(index: usize) -> Stream {
        const FIXED: [Stream; Stream::FIXED] = [
            Stream::Gc(Layout::Normal),
            Stream::Host(0, Layout::Normal),
            Stream::Gc(Layout::Melded),
            Stream::Host(0, Layout::Melded),
        ];
        let layout = match index % 2 {
            0 => Layout::Normal,
            _ => Layout::Melded,
        };
        match FIXED.get(index) {
            Some(&stream) => stream,
            None => Stream::Host((index / 2 - 1) as u8, layout),
        }
    }

    pub(crate) fn layout(self) -> Layout {
        match self {
            Stream::Host(_, layout) | Stream::Gc(layout) => layout,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_one_number() {
        for index in 0..Stream::COUNT {
            assert_eq!(Stream::from_index(index).index(), index);
        }
        let last = Stream::Host(MAX_STREAMS as u8, Layout::Melded);
        assert_eq!(last.index(), Stream::COUNT - 1);
    }
}
