//! A lane: an independent log over some units, with its blocks, streams and garbage collection.

use std::collections::VecDeque;

use super::blocks::Blocks;
use super::gc::Collector;
use super::numbering::Numbering;
use super::scheduler::{Fill, Partial, Stripe};
use super::stream::{Layout, Stream};
use crate::nvme::MAX_STREAMS;
use crate::profile::Gc;
use crate::profile::limits::OVER_PROVISIONED_GROUPS;

/// What waits for a place on the flash.
#[derive(Clone, Copy, Debug)]
pub(super) enum Closed {
    /// Pages that are programmed as one: a wordline or, in shadow order, a page.
    Pages(Fill),
    /// Padding, until no open wordline holds a page.
    Padding,
    /// The end of the stream's group, full or not.
    Group,
}

/// What a stream gathers, and what it has closed.
#[derive(Debug, Default)]
pub(super) struct Gatherer {
    pub(super) stripe: Stripe,
    /// Pages whose wordline lacks others.
    pub(super) leftovers: Partial,
    closed: VecDeque<Closed>,
}

const _: () = assert!(Stream::COUNT <= u64::BITS as usize);

#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) blocks: Blocks,
    pub(super) collector: Collector,
    /// By stream; as long as the highest stream used.
    gatherers: Vec<Gatherer>,
    /// Bit n: the stream of that index has closed what waits for a place.
    waiting: u64,
    /// Logical pages whose current data is here or on its way here.
    pub(super) live: u64,
    /// Streams of the host's that groups can be spared for.
    spare_streams: u32,
    /// Bit n: the host's stream n is in use here.
    host_streams: u32,
    /// Bit n: the host's stream n has been released, and its groups are not closed yet.
    ending_streams: u32,
    /// Is in the list of lanes that may be able to go on.
    pub(super) is_stirred: bool,
}

impl Lane {
    pub(crate) fn new(numbering: &Numbering, gc: &Gc, spare_groups: u32) -> Lane {
        Lane {
            blocks: Blocks::new(numbering, gc.wear_levelling),
            collector: Collector::new(numbering),
            gatherers: Vec::new(),
            waiting: 0,
            live: 0,
            spare_streams: spare_groups.saturating_sub(OVER_PROVISIONED_GROUPS),
            host_streams: 0,
            ending_streams: 0,
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

    /// Streams that have been used or are always there, in their turn.
    pub(super) fn streams(&self) -> impl Iterator<Item = Stream> + use<> {
        (0..self.gatherers.len().max(Stream::FIXED)).map(Stream::from_index)
    }

    /// Something of a stream waits for a place.
    pub(super) fn push_closed(&mut self, stream: Stream, closed: Closed) {
        self.gatherer(stream).closed.push_back(closed);
        self.waiting |= 1 << stream.index();
    }

    /// What waits for a place longest, of the first of these streams that something is waiting of.
    #[inline]
    pub(super) fn next_closed(&self, streams: u64) -> Option<(Stream, Closed)> {
        let waiting = self.waiting & streams;
        if waiting == 0 {
            return None;
        }
        let index = waiting.trailing_zeros() as usize;
        let closed = self.gatherers[index].closed.front();
        closed.map(|&closed| (Stream::from_index(index), closed))
    }

    /// What waited longest has its place.
    pub(super) fn pop_closed(&mut self, stream: Stream) {
        let closed = &mut self.gatherer(stream).closed;
        closed.pop_front();
        let is_empty = closed.is_empty();
        self.waiting &= !(u64::from(is_empty) << stream.index());
    }

    /// Whether something closed waits for a place.
    pub(super) fn has_closed(&self) -> bool {
        self.waiting != 0
    }

    /// The stream of this number. Each one keeps a group open, so that a lane with little
    /// over-provisioning has fewer; what belongs to the others goes with data of no stream.
    pub(super) fn host_stream(&mut self, number: u8, layout: Layout) -> Stream {
        let bit = 1 << number;
        if number > 0 && self.host_streams & bit == 0 {
            let others = (self.host_streams | self.ending_streams) & !bit;
            // A stream may be written in both layouts.
            if 2 * (others.count_ones() + 1) > self.spare_streams {
                return Stream::Host(0, layout);
            }
            self.host_streams |= bit;
            self.ending_streams &= !bit;
        }
        Stream::Host(number, layout)
    }

    /// The host's stream of that number is released: it makes room for another once its groups are
    /// closed, unless it is written to before. False when it is not in use.
    pub(super) fn release_stream(&mut self, number: u8) -> bool {
        let bit = self.host_streams & 1 << number;
        self.host_streams &= !bit;
        self.ending_streams |= bit;
        bit != 0
    }

    /// Closes the group that a stream fills, as the first of what it has closed says.
    pub(super) fn end_group(&mut self, stream: Stream) {
        self.blocks.end(stream);
        let Stream::Host(number, _) = stream else {
            return;
        };
        let has_ended = [Layout::Normal, Layout::Melded].into_iter().all(|layout| {
            let of_layout = Stream::Host(number, layout);
            let this = usize::from(of_layout == stream);
            self.gatherer(of_layout).closed.len() <= this && self.blocks.open(of_layout).is_none()
        });
        if has_ended {
            self.ending_streams &= !(1 << number);
        }
    }

    /// Takes note of the host's streams that have a group open; false when there are more than can
    /// be spared groups.
    pub(super) fn resume_streams(&mut self) -> bool {
        (1..=MAX_STREAMS as u8).all(|number| {
            [Layout::Normal, Layout::Melded].into_iter().all(|layout| {
                let stream = Stream::Host(number, layout);
                self.blocks.open(stream).is_none() || self.host_stream(number, layout) == stream
            })
        })
    }

    /// Wordlines to the end of the row that the stream's next wordline lies in, when everything
    /// closed has its place.
    pub(super) fn rest_of_row(&mut self, stream: Stream, numbering: &Numbering) -> u32 {
        // Stripes are placed whole, so that rows are filled in the order of positions only when
        // they are aligned: the position counts in wordlines here.
        let closed = &self.gatherer(stream).closed;
        let in_group = |closed: &&Closed| !matches!(closed, Closed::Group);
        let waiting = closed.iter().rev().take_while(in_group).count();
        let placed = match waiting == closed.len() {
            true => self.blocks.next_position(stream) / numbering.pages_per_wordline,
            false => 0,
        };
        numbering.units - (placed + waiting as u32) % numbering.units
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
