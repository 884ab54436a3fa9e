//! A log: an independent log over some units, with its blocks, streams and garbage collection.
//!
//! In come pages of a stream; out go programs, in the order of positions or in shadow order, as far
//! as the block manager has room. What there is no room for waits in the stream's queue.

use std::collections::VecDeque;

use super::address::Addressing;
use super::blocks::{Blocks, OpenSuperblock, PRELOADED};
use super::buffer::{Place, Programs};
use super::mapping::MapIndex;
use super::pacing::Pace;
use super::stream::{Gatherer, Layout, Stream, WordlinePages};
use super::victim::{Erasing, Victim};
use crate::nvme::MAX_STREAMS;
use crate::policy::placement::FRONTIERS;
use crate::profile::limits::kept_superblocks;

/// What waits for positions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Queued {
    /// The program with this token: of a wordline or, in shadow order, of a flash page.
    Pages(u32),
    /// Padding, until no open wordline holds a page.
    Padding,
    /// The end of the stream's superblock, full or not.
    EndOfSuperblock,
}

/// What a stream gathers, and what of it waits.
#[derive(Debug, Default)]
pub(crate) struct WriteStream {
    pub(crate) gatherer: Gatherer,
    queue: VecDeque<Queued>,
}

/// Logs that may be able to go on, each once.
#[derive(Debug)]
pub(crate) struct ReadyList {
    logs: Vec<u32>,
    is_listed: Box<[bool]>,
}

impl ReadyList {
    /// An empty list, for so many logs.
    pub(crate) fn new(logs: u32) -> ReadyList {
        ReadyList {
            logs: Vec::new(),
            is_listed: vec![false; logs as usize].into_boxed_slice(),
        }
    }

    pub(crate) fn push(&mut self, log_id: u32) {
        if !std::mem::replace(&mut self.is_listed[log_id as usize], true) {
            self.logs.push(log_id);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.logs.is_empty()
    }

    pub(crate) fn pop(&mut self) -> Option<u32> {
        let log_id = self.logs.pop()?;
        self.is_listed[log_id as usize] = false;
        Some(log_id)
    }
}

const _: () = assert!(Stream::COUNT <= u64::BITS as usize);

#[derive(Debug)]
pub(crate) struct Log {
    number: u32,
    pub(crate) blocks: Blocks,
    /// The superblock that is being collected.
    pub(crate) victim: Option<Victim>,
    /// The last victim, while its blocks are erased.
    pub(crate) erasing: Option<Erasing>,
    pub(crate) pace: Pace,
    /// By stream; as long as the highest stream used.
    streams: Vec<WriteStream>,
    /// Bit n: something of the stream of that index waits.
    waiting: u64,
    /// Streams, besides those that are always there, that superblocks can be spared for.
    spare_streams: u32,
    /// Pages of the placement's that went to frontier 0, for there was no superblock for theirs; and those sent to frontiers beyond
    /// the last, which went there.
    pub(crate) unplaced: [u64; 2],
    /// Bit n: the host's stream n is in use here.
    host_streams: u32,
    /// Bit n: the host's stream n has been released, and its superblocks are not closed yet.
    ending_streams: u32,
    /// Bit n: garbage collection's stream n is in use here, besides the first.
    gc_streams: u32,
}

impl Log {
    /// Of a device with so many layouts, and superblocks to spare.
    pub(crate) fn new(number: u32, blocks: Blocks, layouts: u32, spare_superblocks: u32) -> Log {
        Log {
            number,
            blocks,
            victim: None,
            erasing: None,
            pace: Pace::new(number),
            streams: Vec::new(),
            waiting: 0,
            spare_streams: spare_superblocks.saturating_sub(kept_superblocks(layouts)) / layouts,
            unplaced: [0; 2],
            host_streams: 0,
            ending_streams: 0,
            gc_streams: 0,
        }
    }

    #[inline]
    pub(crate) fn stream(&mut self, stream: Stream) -> &mut WriteStream {
        let index = stream.index();
        if self.streams.len() <= index {
            self.streams.resize_with(index + 1, WriteStream::default);
        }
        &mut self.streams[index]
    }

    /// Streams that have been used or are always there, in their turn.
    pub(crate) fn streams(&self) -> impl Iterator<Item = Stream> + use<> {
        (0..self.streams.len().max(Stream::FIXED)).map(Stream::from_index)
    }

    /// Something of a stream waits for positions.
    pub(crate) fn enqueue(&mut self, stream: Stream, queued: Queued) {
        self.stream(stream).queue.push_back(queued);
        self.waiting |= 1 << stream.index();
    }

    /// What waits longest, of the first of these streams of which something waits.
    #[inline]
    pub(crate) fn next_queued(&self, streams: u64) -> Option<(Stream, Queued)> {
        let mut waiting = self.waiting & streams;
        if waiting == 0 {
            return None;
        }
        // Translation pages have the first turn: the host's writes wait for them.
        if waiting & Stream::OF_MAP != 0 {
            waiting = Stream::OF_MAP;
        }
        let index = waiting.trailing_zeros() as usize;
        let queued = self.streams[index].queue.front();
        queued.map(|&queued| (Stream::from_index(index), queued))
    }

    /// What waited longest need not wait any more.
    pub(crate) fn pop_queued(&mut self, stream: Stream) {
        let queue = &mut self.stream(stream).queue;
        queue.pop_front();
        let is_empty = queue.is_empty();
        self.waiting &= !(u64::from(is_empty) << stream.index());
    }

    /// Whether anything waits.
    pub(crate) fn has_queued(&self) -> bool {
        self.waiting != 0
    }

    /// A place in a stream for pages that are programmed together, and the stream: collection must not wait, and pages go to
    /// its first when theirs has no room. Nothing when there is none.
    pub(crate) fn allocate(
        &mut self,
        mut stream: Stream,
        addressing: &Addressing,
    ) -> Option<(Stream, Place)> {
        let pages = addressing.pages_at_once(stream.layout());
        let mut taken = self.blocks.take(stream, pages, addressing);
        let may_wait = self.blocks.isolates && self.erasing.is_some();
        if let (None, Stream::Gc(1.., layout), false) = (taken, stream, may_wait) {
            stream = Stream::Gc(0, layout);
            taken = self.blocks.take(stream, pages, addressing);
        }
        let (superblock, position) = taken?;
        let (position, step) = addressing.positions_at_once(stream.layout(), position);
        let place = Place {
            log_id: self.number,
            superblock,
            position,
            step,
            pages: pages as u8,
        };
        Some((stream, place))
    }

    /// In shadow order: fills the next open wordline of a unit; pages of it and of those before it are
    /// due.
    pub(crate) fn fill_wordline(
        &mut self,
        stream: Stream,
        unit: u32,
        slots: WordlinePages,
        addressing: &Addressing,
        programs: &mut Programs,
        due: &mut Vec<(u32, Place)>,
    ) {
        let Some(OpenSuperblock {
            superblock,
            wordlines: Some(wordlines),
            ..
        }) = self.blocks.open_mut(stream)
        else {
            debug_assert!(false, "a wordline of no open superblock");
            return;
        };
        let (log_id, superblock) = (self.number, *superblock);
        let (mut preloaded, subpages) = (0, addressing.subpages());
        wordlines.fill(unit, slots, |at, slots| match slots.first() {
            Some(&PRELOADED) => preloaded += subpages,
            _ => {
                let place = Place {
                    log_id,
                    superblock,
                    position: addressing.position(Layout::Melded, at),
                    step: subpages,
                    pages: subpages as u8,
                };
                due.push((programs.add(slots.iter().copied().collect()), place));
            }
        });
        self.blocks.programmed(superblock, preloaded);
    }

    /// Fills wordlines with padding until no page waits for one.
    pub(crate) fn pad(
        &mut self,
        stream: Stream,
        addressing: &Addressing,
        programs: &mut Programs,
        due: &mut Vec<(u32, Place)>,
    ) {
        for unit in 0..addressing.units {
            while let Some(superblock) = self.blocks.held(stream, unit) {
                self.blocks.get_mut(superblock).unprogrammed += addressing.pages_per_wordline;
                let padding = WordlinePages::NONE;
                self.fill_wordline(stream, unit, padding, addressing, programs, due);
            }
        }
    }

    /// The victim, if it is this superblock.
    #[inline]
    pub(crate) fn victim_in(&mut self, superblock: u32) -> Option<&mut Victim> {
        let victim = self.victim.as_mut();
        victim.filter(|victim| victim.superblock == superblock)
    }

    /// Pages that can be written before another victim must be emptied.
    pub(crate) fn room(&self, addressing: &Addressing) -> u64 {
        // Each stream of collection's but the first fills a superblock that the others cannot have.
        let streams = u64::from(self.gc_streams.count_ones());
        let room = self.blocks.unwritten() + self.emptied(addressing);
        room.saturating_sub(streams * u64::from(addressing.pages_per_superblock))
    }

    /// The same with what every stream has left of its superblock.
    pub(crate) fn unfilled(&self, addressing: &Addressing) -> u64 {
        self.blocks.unfilled() + self.emptied(addressing)
    }

    /// Pages that have been emptied and are not free yet.
    fn emptied(&self, addressing: &Addressing) -> u64 {
        // What translation pages leave is theirs.
        let is_of_map = |superblock| self.blocks.get(superblock).stream().is_of_map();
        let victim = self.victim.as_ref();
        let victim = victim.filter(|victim| !is_of_map(victim.superblock));
        let emptied = victim.map_or(0, |victim| victim.emptied(addressing.pages_per_stripe));
        let erasing = match &self.erasing {
            Some(erasing) if !is_of_map(erasing.superblock) => addressing.pages_per_superblock,
            _ => 0,
        };
        u64::from(emptied + erasing)
    }

    /// The stream of this number. Each one keeps a superblock open, so that a log with little
    /// over-provisioning has fewer; what belongs to the others goes with data of no stream.
    pub(crate) fn host_stream(&mut self, number: u8, layout: Layout) -> Stream {
        let bit = 1 << number;
        if number > 0 && self.host_streams & bit == 0 {
            let others = (self.host_streams | self.ending_streams) & !bit;
            if !self.can_spare(others.count_ones() + self.gc_streams.count_ones()) {
                return Stream::Host(0, layout);
            }
            self.host_streams |= bit;
            self.ending_streams &= !bit;
        }
        Stream::Host(number, layout)
    }

    /// Garbage collection's stream of this number, or the first where there are no superblocks for another.
    pub(crate) fn gc_stream(&mut self, number: u8, layout: Layout) -> Stream {
        let bit = 1 << number;
        if number > 0 && self.gc_streams & bit == 0 {
            let of_host = self.host_streams | self.ending_streams;
            if !self.can_spare(of_host.count_ones() + self.gc_streams.count_ones()) {
                return Stream::Gc(0, layout);
            }
            self.gc_streams |= bit;
        }
        Stream::Gc(number, layout)
    }

    /// Whether there are superblocks for another stream than so many. Each may be written in all layouts.
    fn can_spare(&self, others: u32) -> bool {
        let past = u32::from(self.blocks.open(Stream::PAST).is_some());
        others + past < self.spare_streams
    }

    /// Whether what was written long ago has a superblock of its own, or may be given one.
    pub(crate) fn spares_past(&self) -> bool {
        let others = (self.host_streams | self.ending_streams).count_ones();
        self.blocks.open(Stream::PAST).is_some()
            || self.can_spare(others + self.gc_streams.count_ones())
    }

    /// Whether the host has begun a stripe that it has not filled.
    pub(crate) fn fills_stripe(&self) -> bool {
        let stream = self.streams.get(Stream::Host(0, Layout::Normal).index());
        stream.is_some_and(|stream| !stream.gatherer.stripe.is_empty())
    }

    /// The host's stream of that number is released: it makes room for another once its superblocks are
    /// closed, unless it is written to before. False when it is not in use, as the first always is.
    pub(crate) fn release_stream(&mut self, number: u8) -> bool {
        if number == 0 {
            return true;
        }
        let bit = self.host_streams & 1 << number;
        self.host_streams &= !bit;
        self.ending_streams |= bit;
        bit != 0
    }

    /// Closes the superblock that a stream fills, as the first operation of its queue says.
    pub(crate) fn end_superblock(&mut self, stream: Stream) {
        self.blocks.end(stream);
        let Stream::Host(number, _) = stream else {
            return;
        };
        let has_ended = Layout::ALL.into_iter().all(|layout| {
            let of_layout = Stream::Host(number, layout);
            let this = usize::from(of_layout == stream);
            self.stream(of_layout).queue.len() <= this && self.blocks.open(of_layout).is_none()
        });
        if has_ended {
            self.ending_streams &= !(1 << number);
        }
    }

    /// Takes note of the host's streams that have a superblock open; false when there are more than can
    /// be spared superblocks.
    pub(crate) fn resume_streams(&mut self) -> bool {
        for number in 1..FRONTIERS[1] {
            let is_open = |layout| self.blocks.open(Stream::Gc(number, layout)).is_some();
            if Layout::ALL.into_iter().any(is_open) {
                self.gc_streams |= 1 << number;
            }
        }
        (1..=MAX_STREAMS as u8).all(|number| {
            Layout::ALL.into_iter().all(|layout| {
                let stream = Stream::Host(number, layout);
                self.blocks.open(stream).is_none() || self.host_stream(number, layout) == stream
            })
        })
    }

    /// Adds a page to the stripe of a stream in one-shot order; returns the wordline it completes.
    pub(crate) fn gather(
        &mut self,
        stream: Stream,
        page: u32,
        addressing: &Addressing,
    ) -> Option<WordlinePages> {
        let stripe = &mut self.stream(stream).gatherer.stripe;
        if !stripe.is_empty() {
            return stripe.push(page);
        }
        let wordlines = self.rest_of_stripe(stream, addressing);
        let stripe = &mut self.stream(stream).gatherer.stripe;
        stripe.begin(
            wordlines,
            addressing.pages_per_wordline,
            addressing.subpages(),
        );
        stripe.push(page)
    }

    /// Wordlines to the end of the stripe that the stream's next wordline lies in, when everything
    /// queued has its positions.
    pub(crate) fn rest_of_stripe(&self, stream: Stream, addressing: &Addressing) -> u32 {
        // Stripes get their positions whole, so that stripes are filled in the order of positions only
        // when they are aligned: the position counts in wordlines here.
        addressing.units - self.filled_wordlines(stream, addressing) % addressing.units
    }

    /// Wordlines of the superblock that the stream fills when everything queued has its positions.
    pub(crate) fn filled_wordlines(&self, stream: Stream, addressing: &Addressing) -> u32 {
        let queue = self.streams.get(stream.index()).map(|of| &of.queue);
        let queued = queue.map_or(0, VecDeque::len);
        let in_superblock = |queued: &&Queued| !matches!(queued, Queued::EndOfSuperblock);
        let last = queue.into_iter().flatten().rev();
        let waiting = last.take_while(in_superblock).count();
        let filled = match waiting == queued {
            true => self.blocks.next_position(stream) / addressing.pages_per_wordline,
            false => 0,
        };
        filled + waiting as u32
    }

    /// Pages of the superblock that the stream fills, but for those that are filled, queued or gathered.
    pub(crate) fn left_in_superblock(&self, stream: Stream, addressing: &Addressing) -> u32 {
        let gathered = self.streams.get(stream.index());
        let gathered = gathered.map_or(0, |stream| stream.gatherer.gathered());
        let filled = self.filled_wordlines(stream, addressing) * addressing.pages_per_wordline;
        let all = self.blocks.pages_per_superblock;
        all - (filled + gathered) % all
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        let streams = self.streams.iter().map(|stream| {
            let queue = stream.queue.capacity() * size_of::<Queued>();
            stream.gatherer.stripe.memory() + (size_of::<WriteStream>() + queue) as u64
        });
        let pages = self.victim.as_ref().map_or(0, |victim| victim.p2l.len());
        let victim = pages * size_of::<MapIndex>();
        self.blocks.memory() + victim as u64 + streams.sum::<u64>()
    }
}
