//! What happened during the slowest commands: a ring of the packets of the last records. What leaves the ring is kept if it
//! overlaps one of the commands that are the slowest so far.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use meldsim::{Duration, Instant};

/// Bytes of packets in the ring.
const RING_BYTES: usize = 8 << 20;
/// Bytes of packets that are kept.
const KEPT_BYTES: usize = 8 << 20;

/// The packets of a record.
#[derive(Clone, Copy, Debug)]
struct Slow {
    start: Instant,
    end: Instant,
    len: u32,
    slices: u32,
}

/// Packets one after the other.
#[derive(Debug, Default)]
struct Packets {
    entries: VecDeque<Slow>,
    bytes: VecDeque<u8>,
}

impl Packets {
    /// With room for so many bytes, so that it takes no more.
    fn with_room(bytes: usize) -> Packets {
        Packets {
            entries: VecDeque::new(),
            bytes: VecDeque::with_capacity(bytes),
        }
    }

    fn push(&mut self, entry: Slow, packets: &[u8]) {
        self.bytes.extend(packets);
        self.entries.push_back(entry);
    }

    /// Takes the first, and moves its packets.
    fn pop(&mut self, to: &mut Vec<u8>) -> Option<Slow> {
        let entry = self.entries.pop_front()?;
        to.clear();
        to.extend(self.bytes.drain(..entry.len as usize));
        Some(entry)
    }
}

/// The ring, and what is kept of it.
#[derive(Debug)]
pub(super) struct Slowest {
    most: usize,
    ring: Packets,
    kept: Packets,
    /// Packets that are moved. Reused.
    buffer: Vec<u8>,
    /// From when to when each was outstanding, by latency; of equal ones the later as the faster.
    commands: BTreeMap<(Duration, Reverse<u64>), (Instant, Instant)>,
    /// The same without overlap, in order; and some of commands that were dropped.
    times: Vec<(Instant, Instant)>,
}

impl Slowest {
    /// For so many commands.
    pub(super) fn new(commands: u32) -> Slowest {
        Slowest {
            most: commands.max(1) as usize,
            ring: Packets::with_room(RING_BYTES),
            kept: Packets::with_room(KEPT_BYTES),
            buffer: Vec::new(),
            commands: BTreeMap::new(),
            times: Vec::new(),
        }
    }

    /// Adds the packets of a record; old ones make room for them.
    pub(super) fn push(&mut self, (start, end): (Instant, Instant), packets: &[u8], slices: u64) {
        while self.ring.bytes.len() + packets.len() > RING_BYTES && self.give_up_oldest() {}
        let entry = Slow {
            start,
            end,
            len: packets.len() as u32,
            slices: slices as u32,
        };
        self.ring.push(entry, packets);
    }

    /// A command has completed.
    pub(super) fn completed(&mut self, (start, end): (Instant, Instant), command: u64) {
        let newest = (end - start, Reverse(command));
        let is_full = self.commands.len() == self.most;
        let is_slower = |(least, _): (&(Duration, Reverse<u64>), _)| newest > *least;
        if is_full && !self.commands.first_key_value().is_some_and(is_slower) {
            return;
        }
        self.commands.insert(newest, (start, end));
        if is_full {
            self.commands.pop_first();
        }
        insert(&mut self.times, (start, end));
        // Those of commands that were dropped are kept for a while, so that this takes little for each command.
        if self.times.len() > 2 * self.most {
            self.times = without_overlap(self.commands.values());
        }
    }

    /// Takes the oldest packets off the ring. False when there are none.
    fn give_up_oldest(&mut self) -> bool {
        let Some(entry) = self.ring.pop(&mut self.buffer) else {
            return false;
        };
        if overlaps(&self.times, entry) {
            if self.kept.bytes.len() + self.buffer.len() > KEPT_BYTES {
                let moved = std::mem::take(&mut self.buffer);
                self.prune();
                self.buffer = moved;
            }
            self.kept.push(entry, &self.buffer);
        }
        true
    }

    /// Leaves what is of the present commands; if that is still more than half of what is allowed, of fewer.
    fn prune(&mut self) {
        loop {
            let times = without_overlap(self.commands.values());
            // Once around: what is left goes to the end again.
            for _ in 0..self.kept.entries.len() {
                let entry = self.kept.pop(&mut self.buffer);
                if let Some(entry) = entry.filter(|entry| overlaps(&times, *entry)) {
                    self.kept.push(entry, &self.buffer);
                }
            }
            if self.kept.bytes.len() <= KEPT_BYTES / 2 || self.commands.len() <= 1 {
                self.times = times;
                return;
            }
            // An eighth at a time, so that this is not done for each.
            for _ in 0..self.commands.len().div_ceil(8) {
                self.commands.pop_first();
            }
        }
    }

    /// Hands over what is of the slowest commands, in the order of the records.
    pub(super) fn finish<E>(
        mut self,
        mut write: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let times = without_overlap(self.commands.values());
        let (mut slices, mut buffer) = (0, Vec::new());
        for mut from in [
            std::mem::take(&mut self.kept),
            std::mem::take(&mut self.ring),
        ] {
            while let Some(entry) = from.pop(&mut buffer) {
                if overlaps(&times, entry) {
                    write(&buffer)?;
                    slices += u64::from(entry.slices);
                }
            }
        }
        Ok(slices)
    }
}

/// Adds a time to those without overlap.
fn insert(times: &mut Vec<(Instant, Instant)>, (start, end): (Instant, Instant)) {
    let first = times.partition_point(|time| time.1 < start);
    let last = times.partition_point(|time| time.0 <= end);
    let mut joined = (start, end);
    if first < last {
        joined = (start.min(times[first].0), end.max(times[last - 1].1));
    }
    times.splice(first..last, [joined]);
}

/// Joins times that overlap, in order.
fn without_overlap<'a>(
    times: impl Iterator<Item = &'a (Instant, Instant)>,
) -> Vec<(Instant, Instant)> {
    let mut sorted: Vec<(Instant, Instant)> = times.copied().collect();
    sorted.sort_unstable();
    let mut joined: Vec<(Instant, Instant)> = Vec::new();
    for (start, end) in sorted {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    joined
}

fn overlaps(times: &[(Instant, Instant)], entry: Slow) -> bool {
    let next = times.partition_point(|&(_, end)| end < entry.start);
    times
        .get(next)
        .is_some_and(|&(start, _)| start <= entry.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::START + Duration::from_us(us)
    }

    /// Command n takes `latency(n)` us from 1000 n on, and has a record of a kilobyte of its own.
    fn kept(commands: u64, most: u32, latency: impl Fn(u64) -> u64) -> (Vec<u64>, u64) {
        let mut slowest = Slowest::new(most);
        for number in 0..commands {
            let times = (at(1000 * number), at(1000 * number + latency(number)));
            let mut packets = vec![0; 1024];
            packets[..8].copy_from_slice(&number.to_le_bytes());
            slowest.push(times, &packets, 1);
            slowest.completed(times, number);
        }
        let mut numbers = Vec::new();
        let slices = slowest.finish(|packets| {
            numbers.push(u64::from_le_bytes(packets[..8].try_into().unwrap()));
            Ok::<(), ()>(())
        });
        (numbers, slices.unwrap())
    }

    #[test]
    fn it_keeps_the_slowest_and_of_equal_ones_the_first() {
        let (numbers, slices) = kept(50_000, 3, |number| match number {
            7 => 500,
            20_000 => 900,
            _ => 100,
        });
        assert_eq!((numbers, slices), (vec![0, 7, 20_000], 3));
    }

    #[test]
    fn times_join_where_they_overlap() {
        let mut times = Vec::new();
        for (start, end) in [
            (10, 20),
            (40, 50),
            (1, 2),
            (22, 30),
            (20, 22),
            (45, 60),
            (100, 101),
        ] {
            insert(&mut times, (at(start), at(end)));
        }
        let expected = [(1, 2), (10, 30), (40, 60), (100, 101)];
        assert_eq!(times, expected.map(|(start, end)| (at(start), at(end))));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        // Ever slower ones: the last, as far as there is room.
        let (numbers, _) = kept(100_000, 60_000, |number| number / 200);
        assert!(numbers.len() * 1024 <= RING_BYTES + KEPT_BYTES);
        assert_eq!(numbers.last(), Some(&99_999));
        assert!(numbers.len() > 8_000, "{}", numbers.len());
    }
}
