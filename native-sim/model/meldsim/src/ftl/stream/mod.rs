//! Streams, and which pages of a stream share a wordline: the write scheduler.
//!
//! In come pages, one by one; out go wordlines to program. Data that is likely to be read or to die
//! differently goes to different streams, and streams do not share blocks.
//!
//! Unhinted pages fill *stripes* of one wordline on every unit of the log, in the normal layout: the
//! n-th page of a stripe goes to wordline n mod K as its page n div K, so consecutive pages are on
//! different units, and a wordline is complete only when the last pass over the stripe reaches it.
//! (In shadow order each page is programmed by itself, and there are no stripes.)
//!
//! ```text
//!   stripe of K wordlines     w0   w1   w2  ...          melded: pages 0 1 2 | 3 4 5 | ...
//!   LSB                        0    1    2                       on     w0   |  w1   |
//!   CSB                        K   K+1  K+2
//!   MSB                       2K  2K+1 2K+2
//! ```
//!
//! A flash page of several pages (subpages) is filled before the next: read "page" above as flash page.
//!
//! Pages hinted as sequential are gathered in *runs* of consecutive pages, and those that are
//! consecutive share a wordline. Several writers interleave, so a run is known by the page it
//! expects next. The number of runs is bounded: the one that grew least recently is closed, and its
//! unfinished wordline is packed together with those of other closed runs. Where the logical page
//! decides the log, wordlines begin at multiples of their pages.

mod pages;
mod runs;
mod stripe;

pub(crate) use self::pages::{Token, WordlinePages};
pub(crate) use self::runs::{RunPages, SequentialRuns};
pub(crate) use self::stripe::{Gatherer, Stripe};
use crate::nvme::MAX_STREAMS;
use crate::policy::placement::{FRONTIERS, Frontier};
use crate::profile::limits::FIXED_STREAMS;

/// How pages lie on wordlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Consecutive pages on different units.
    Normal = 0,
    /// Consecutive pages on one wordline.
    Melded = 1,
}

impl Layout {
    pub(crate) const ALL: [Layout; 2] = [Layout::Normal, Layout::Melded];

    pub(crate) fn new(is_melded: bool) -> Layout {
        Layout::ALL[usize::from(is_melded)]
    }
}

/// Who fills a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// The host, in the stream with this number; 0 for none.
    Host(u8, Layout),
    /// Garbage collection, at the frontier with this number.
    Gc(u8, Layout),
}

impl Stream {
    /// Streams that are always there: the first ones.
    pub(crate) const FIXED: usize = FIXED_STREAMS as usize;

    /// Streams there can be.
    pub(crate) const COUNT: usize = Stream::PAST_INDEX + 1;

    /// Those of translation pages: of the ones that are written, and of the ones that are moved.
    pub(crate) const MAP: [Stream; 2] = [
        Stream::Host(MAX_STREAMS as u8 + 1, Layout::Normal),
        Stream::Gc(FRONTIERS[1], Layout::Normal),
    ];
    /// Of data written long ago that is placed while the host fills a stripe. It never waits.
    pub(crate) const PAST: Stream = Stream::Host(2 * FRONTIERS[0], Layout::Normal);
    const PAST_INDEX: usize = Stream::MAP_WRITTEN + 1;
    const MAP_WRITTEN: usize = Stream::OF_GC_BEGIN + 2 * FRONTIERS[1] as usize;
    /// Bit n: the stream of index n is that of translation pages that are written.
    pub(crate) const OF_MAP: u64 = 1 << Stream::MAP_WRITTEN;

    /// The index of the first stream of garbage collection's that is not always there.
    const OF_GC_BEGIN: usize = 2 * (MAX_STREAMS as usize + 2);

    /// Bit n: the stream of index n is garbage collection's, or that of translation pages: it need not wait where the host
    /// has to.
    pub(crate) const UNPACED: u64 = 0b101 | (2 * Stream::OF_MAP - (1 << Stream::OF_GC_BEGIN));

    /// Its number; streams have their turn in this order.
    pub(crate) fn index(self) -> usize {
        match self {
            Stream::Gc(0, layout) => 2 * layout as usize,
            Stream::Host(0, layout) => 2 * layout as usize + 1,
            map if map == Stream::MAP[0] => Stream::MAP_WRITTEN,
            past if past == Stream::PAST => Stream::PAST_INDEX,
            Stream::Host(stream, layout) => 2 + 2 * usize::from(stream) + layout as usize,
            Stream::Gc(frontier, layout) => {
                Stream::OF_GC_BEGIN + 2 * (usize::from(frontier) - 1) + layout as usize
            }
        }
    }

    pub(crate) fn from_index(index: usize) -> Stream {
        match index {
            0 | 2 => Stream::Gc(0, Layout::new(index == 2)),
            1 | 3 => Stream::Host(0, Layout::new(index == 3)),
            Stream::MAP_WRITTEN => Stream::MAP[0],
            Stream::PAST_INDEX => Stream::PAST,
            _ => {
                let layout = Layout::new(index % 2 == 1);
                match index.checked_sub(Stream::OF_GC_BEGIN) {
                    None => Stream::Host((index / 2 - 1) as u8, layout),
                    Some(index) => Stream::Gc((index / 2 + 1) as u8, layout),
                }
            }
        }
    }

    /// Whether translation pages go there.
    #[inline]
    pub(crate) fn is_of_map(self) -> bool {
        Stream::MAP.contains(&self)
    }

    /// The frontier, as policies number them. They know none of translation pages.
    pub(crate) fn frontier(self) -> Frontier {
        match self {
            Stream::Host(number, _) => Frontier::Host(number % FRONTIERS[0]),
            Stream::Gc(number, _) => Frontier::Collection(number % FRONTIERS[1]),
        }
    }

    pub(crate) fn layout(self) -> Layout {
        match self {
            Stream::Host(_, layout) | Stream::Gc(_, layout) => layout,
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
        assert_eq!(Stream::PAST.index(), Stream::COUNT - 1);
        assert!(Stream::PAST.frontier().is_first());
        let is_unpaced = |index| Stream::UNPACED >> index & 1 == 1;
        for index in 0..Stream::COUNT {
            let stream = Stream::from_index(index);
            let is_gc = matches!(stream, Stream::Gc(..));
            assert_eq!(is_unpaced(index), is_gc || stream.is_of_map(), "{index}");
        }
        assert_eq!(FRONTIERS[0], MAX_STREAMS as u8 + 1);
    }
}
