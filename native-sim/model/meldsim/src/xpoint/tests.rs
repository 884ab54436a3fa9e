//! The array alone: closed forms of what it takes.

use super::{Access, Array};
use crate::engine::{Duration, EventQueue, Instant};
use crate::event::{Event, XpointStep};
use crate::profile::{DataRate, Xpoint};

const CHUNK: u32 = 4096;

/// An array whose data path takes no time to speak of.
fn xpoint() -> Xpoint {
    Xpoint {
        read_rate: DataRate(1_000_000_000_000),
        write_rate: DataRate(1_000_000_000_000),
        ..Xpoint::default()
    }
}

fn read(chunk: u64, bytes: u32) -> Access {
    Access {
        request: 0,
        chunk,
        bytes,
        is_write: false,
    }
}

fn write(chunk: u64, bytes: u32) -> Access {
    Access {
        is_write: true,
        ..read(chunk, bytes)
    }
}

/// Submits all at once; the ends of the accesses in microseconds, in the order they ended.
fn ends(xpoint: &Xpoint, accesses: impl IntoIterator<Item = Access>) -> Vec<u64> {
    let mut array = Array::new(xpoint, Duration::ZERO);
    let mut queue: EventQueue<Event> = EventQueue::new(0);
    for access in accesses {
        array.submit(&mut queue, access, Instant::START);
    }
    let mut ends = Vec::new();
    while let Some(event) = queue.pop_until(Instant::MAX) {
        let Event::Xpoint(step) = event else {
            panic!("{event:?}")
        };
        if array.step(&mut queue, step).is_some() {
            ends.push((queue.now() - Instant::START).as_us());
        }
    }
    ends
}

#[test]
fn chunks_of_one_die_overlap_by_its_interval() {
    let same_die = (0..4).map(|n| read(7 * n, CHUNK));
    assert_eq!(ends(&xpoint(), same_die), [5, 7, 9, 11]);
    let every_die = (0..7).map(|n| read(n, CHUNK));
    assert_eq!(ends(&xpoint(), every_die), [5; 7]);
    let twice = (0..14).map(|n| read(n, CHUNK));
    assert_eq!(ends(&xpoint(), twice).last(), Some(&7));
}

#[test]
fn accesses_to_one_chunk_take_turns() {
    let same_chunk = (0..4).map(|_| read(3, CHUNK));
    assert_eq!(ends(&xpoint(), same_chunk), [5, 10, 15, 20]);
    // A write among them, too.
    let mixed = [read(3, CHUNK), write(3, CHUNK), read(3, CHUNK)];
    assert_eq!(ends(&xpoint(), mixed), [5, 10, 15]);
}

#[test]
fn a_part_of_a_chunk_passes_a_sector_buffer() {
    let buffers = |sector_buffers| Xpoint {
        sector_buffers,
        ..xpoint()
    };
    let parts = || (0..4).map(|n| read(n, 512));
    assert_eq!(ends(&buffers(4), parts()), [7; 4]);
    assert_eq!(ends(&buffers(2), parts()), [7, 7, 14, 14]);
    assert_eq!(ends(&buffers(1), parts()), [7, 14, 21, 28]);
    // Whole chunks need none.
    let whole = (0..4).map(|n| read(n, CHUNK));
    assert_eq!(ends(&buffers(1), whole), [5; 4]);
}

#[test]
fn a_write_of_a_part_is_a_read_modify_write() {
    assert_eq!(ends(&xpoint(), [write(0, CHUNK)]), [5]);
    assert_eq!(ends(&xpoint(), [write(0, 512)]), [5 + 2 + 5]);
    // The chunk is not free in between.
    assert_eq!(ends(&xpoint(), [write(0, 512), write(0, 512)]), [12, 24]);
}

#[test]
fn data_of_both_directions_share_the_path() {
    // 4 us for a chunk read, 8 us for one written.
    let slow = Xpoint {
        read_rate: DataRate(1_024_000_000),
        write_rate: DataRate(512_000_000),
        ..xpoint()
    };
    let reads = (0..3).map(|n| read(n, CHUNK));
    assert_eq!(ends(&slow, reads), [9, 13, 17]);
    // The write's data go first, until 8; the read's come out at 5 and wait.
    let both = [write(0, CHUNK), read(1, CHUNK)];
    assert_eq!(ends(&slow, both), [12, 13]);
}

#[test]
fn counts_say_what_the_dies_did() {
    let mut array = Array::new(&xpoint(), Duration::ZERO);
    let mut queue: EventQueue<Event> = EventQueue::new(0);
    for access in [read(0, CHUNK), read(1, 512), write(2, CHUNK), write(9, 512)] {
        array.submit(&mut queue, access, Instant::START);
    }
    while let Some(event) = queue.pop_until(Instant::MAX) {
        if let Event::Xpoint(step) = event {
            array.step(&mut queue, step);
        }
    }
    let counts = array.counts();
    assert_eq!((counts.chunk_reads, counts.chunk_writes), (3, 2));
    assert_eq!(counts.partial_accesses, 2);
    assert_eq!(array.die_counts()[..3], [[1, 0], [1, 0], [1, 2]]);
    let busy: Vec<u64> = array.dies_busy(queue.now()).map(Duration::as_us).collect();
    assert_eq!(busy[..3], [2, 2, 6]);
}

#[test]
fn steps_are_small_enough_for_the_event_queue() {
    assert!(size_of::<Event>() <= 16 && size_of::<XpointStep>() <= 8);
}
