//! A lane: an independent log over some units, with its blocks, streams and garbage collection.

use std::collections::VecDeque;

use super::blocks::{Blocks, OVER_PROVISIONED_GROUPS};
use super::gc::Collector;
use super::numbering::Numbering;
use super::scheduler::{Fill, Partial, Stripe};
use super::stream::{Layout, Stream};
use crate::nvme::MAX_STREAMS;
use crate::profile::Gc;

/// What waits for a place on the flash.
#[derive(Clone, Copy, Debug)]
pub(super) enum Closed {
    /// Pages that are programmed as one: a wordline or, in shadow order, a page.
    Pages(Fill),
    /// Padding, until no open wordline holds a page.
    Padding,
}

/// What a stream gathers, and what it has closed.
#[derive(Debug, Default)]
pub(super) struct Gatherer {
    pub(super) stripe: Stripe,
    /// Pages whose wordline lacks others.
    pub(super) leftovers: Partial,
    pub(super) closed: VecDeque<Closed>,
}

#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) blocks: Blocks,
    pub(super) collector: Collector,
    /// By stream; as long as the highest stream used.
    gatherers: Vec<Gatherer>,
    /// Logical pages whose current data is here or on its way here.
    pub(super) live: u64,
    /// Streams of the host's that groups can be spared for.
    spare_streams: u32,
    /// Bit n: the host's stream n has been used here.
    host_streams: u32,
    /// Is in the list of lanes that may be able to go on.
    pub(super) is_stirred: bool,
}

impl Lane {
    pub(crate) fn new(numbering: &Numbering, gc: &Gc, spare_groups: u32) -> Lane {
        Lane {
            blocks: Blocks::new(numbering, gc.wear_levelling),
            collector: Collector::new(numbering),
            gatherers: Vec::new(),
            live: 0,
            spare_streams: spare_groups.saturating_sub(OVER_PROVISIONED_GROUPS),
            host_streams: 0,
            is_stirred: false,
        }
    }

    pub(super) fn gatherer(&mut self, stream: Stream) -> &mut Gatherer {
        let index = stream.index();
        if self.gatherers.len() <= index {
            self.gatherers.resize_with(index + 1, Gatherer::default);
        }
        &mut self.gatherers[index]
    }

    /// The streams that have been used, but for those that are always there.
    pub(super) fn more_streams(&self) -> impl Iterator<Item = Stream> + use<> {
        (Stream::FIXED.len()..self.gatherers.len()).map(Stream::from_index)
    }

    /// The stream of this number. Each one keeps a group open, so that a lane with little
    /// over-provisioning has fewer; what belongs to the others goes with data of no stream.
    pub(super) fn host_stream(&mut self, number: u8, layout: Layout) -> Stream {
        let bit = 1 << number;
        if number > 0 && self.host_streams & bit == 0 {
            // A stream may be written in both layouts.
            if 2 * (self.host_streams.count_ones() + 1) > self.spare_streams {
                return Stream::Host(0, layout);
            }
            self.host_streams |= bit;
        }
        Stream::Host(number, layout)
    }

    /// After a power cut: the streams that had a group open still have it.
    pub(super) fn recall_host_streams(&mut self) {
        for number in 1..=MAX_STREAMS as u8 {
            let layouts = [Layout::Normal, Layout::Melded];
            let is_open = |layout| self.blocks.open(Stream::Host(number, layout)).is_some();
            if layouts.into_iter().any(is_open) {
                self.host_streams |= 1 << number;
            }
        }
    }

    /// Wordlines to the end of the row that the stream's next wordline lies in, when everything
    /// closed has its place.
    pub(super) fn rest_of_row(&mut self, stream: Stream, numbering: &Numbering) -> u32 {
        // Stripes are placed whole, so that rows are filled in the order of positions only when
        // they are aligned: the position counts in wordlines here.
        let placed = self.blocks.next_position(stream) / numbering.pages_per_wordline;
        let waiting = self.gatherer(stream).closed.len() as u32;
        numbering.units - (placed + waiting) % numbering.units
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        let gatherers = self.gatherers.iter().map(|gatherer| {
            let closed = gatherer.closed.capacity() * size_of::<Closed>();
            gatherer.stripe.memory() + (size_of::<Gatherer>() + closed) as u64
        });
        self.blocks.memory() + self.collector.memory() + gatherers.sum::<u64>()
    }
}
