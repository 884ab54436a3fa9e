//! Boxes of some 4 KiB in huge pages, where the system grants them.
//!
//! The tables of a large device are hundreds of megabytes, and are looked up at random. In pages of 4 KiB the processor's
//! translation of addresses misses, too, and each lookup walks the page table as well.
//!
//! ```text
//!   chunk, 2 MiB   | header | slot | slot | slot | ...     all chunks of the process are one pool
//!                      |        used, or the number of the next free one
//!                      '--> first free slot, how many are used
//! ```
//!
//! Slots come from the chunk that was freed into last, and a chunk goes back to the system when nothing of it is in use,
//! but for the first eight. So a process keeps up to 16 MiB, and devices that come and go share them.
//!
//! The pool is shared by all devices of a process. It holds nothing of a device, and no result depends on it.
//! It is unsafe code because what is safe was slower (27 November 2026, median of five pairs; above 1 is faster):
//!
//! ```text
//!                                               scattered map   overwrites at random   70 % reads
//!   boxes of the allocator                      0.62            0.93                   0.91
//!   numbers into chunks of 16 MiB of a mapping  0.90            0.92                   0.94
//!   numbers into chunks of 64 MiB of a mapping  0.92            0.93                   0.92
//! ```
//!
//! The allocator's boxes are in ordinary pages. A number needs the table of chunks before each entry. Memory was the same.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A huge page of most processors. Chunks are aligned to it, so that a slot's chunk is known by its address.
const CHUNK: usize = 2 << 20;
/// Bytes of a slot: a table of 1024 numbers, and what tells whose it is.
const SLOT: usize = 4096 + 16;
const SLOTS: u32 = ((CHUNK - size_of::<Header>()) / SLOT) as u32;
const NONE: u32 = u32::MAX;

/// What is allocated.
#[repr(align(0x20_0000))]
struct Chunk {
    _bytes: [u8; CHUNK],
}

/// The beginning of a chunk.
#[repr(C, align(16))]
struct Header {
    /// The first slot that was used and is free.
    free: u32,
    /// Slots from here on have not been used yet.
    fresh: u32,
    used: u32,
    /// Where it is among the chunks that have free slots.
    place: u32,
}

/// So many chunks are kept, and are in ordinary pages: the processor holds the translation of their addresses, and a huge
/// page may be long in coming.
const ORDINARY: usize = 8;

struct Pool {
    /// Chunks that have free slots. Those that have none are known by their slots only.
    open: Vec<NonNull<Header>>,
    /// All of them.
    chunks: usize,
}

// SAFETY: the chunks are the pool's; whoever has the pool's lock may touch their headers and free slots.
#[allow(unsafe_code)]
unsafe impl Send for Pool {}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    open: Vec::new(),
    chunks: 0,
});

fn pool() -> MutexGuard<'static, Pool> {
    // Nothing panics while it is locked.
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

#[allow(unsafe_code)]
impl Pool {
    const LAYOUT: Layout = Layout::new::<Chunk>();

    /// A slot that nobody uses.
    fn take(&mut self) -> NonNull<u8> {
        let chunk = match self.open.last() {
            Some(&chunk) => chunk,
            None => self.add(),
        };
        // SAFETY: chunks in the list are allocated, and the lock makes this the only reference to its header.
        let header = unsafe { &mut *chunk.as_ptr() };
        header.used += 1;
        let number = if header.free == NONE {
            header.fresh += 1;
            header.fresh - 1
        } else {
            let number = header.free;
            // SAFETY: a free slot begins with the number of the next one, which `give` wrote.
            header.free = unsafe { slot(chunk, number).cast::<u32>().read() };
            number
        };
        if header.used == SLOTS {
            self.open.pop();
        }
        slot(chunk, number)
    }

    /// A slot that nobody uses any longer.
    fn give(&mut self, given: NonNull<u8>) {
        let address = given.as_ptr().addr();
        // SAFETY: the slot is of a chunk, which is aligned to its size and begins with its header.
        let chunk = unsafe { given.byte_sub(address % CHUNK) }.cast::<Header>();
        let number = (address % CHUNK - size_of::<Header>()) / SLOT;
        // SAFETY: as in `take`; a chunk with a used slot is allocated.
        let header = unsafe { &mut *chunk.as_ptr() };
        // SAFETY: the slot is free now, and large enough and aligned for a number.
        unsafe { given.cast::<u32>().write(header.free) };
        header.free = number as u32;
        if header.used == SLOTS {
            header.place = self.open.len() as u32;
            self.open.push(chunk);
        }
        header.used -= 1;
        if header.used == 0 && self.chunks > ORDINARY {
            let place = header.place as usize;
            self.chunks -= 1;
            self.open.swap_remove(place);
            if let Some(moved) = self.open.get(place) {
                // SAFETY: as in `take`; it is another chunk.
                unsafe { (*moved.as_ptr()).place = place as u32 };
            }
            // SAFETY: it was allocated with this layout, and nothing of it is in use.
            unsafe { dealloc(chunk.as_ptr().cast(), Pool::LAYOUT) };
        }
    }

    fn add(&mut self) -> NonNull<Header> {
        // SAFETY: the layout is not of size 0.
        let chunk = unsafe { alloc(Pool::LAYOUT) };
        let Some(chunk) = NonNull::new(chunk.cast::<Header>()) else {
            handle_alloc_error(Pool::LAYOUT);
        };
        self.chunks += 1;
        if self.chunks > ORDINARY {
            advise_huge(chunk.cast());
        }
        let header = Header {
            free: NONE,
            fresh: 0,
            used: 0,
            place: self.open.len() as u32,
        };
        // SAFETY: the chunk is large enough and aligned for it.
        unsafe { chunk.write(header) };
        self.open.push(chunk);
        chunk
    }
}

#[allow(unsafe_code)]
fn slot(chunk: NonNull<Header>, number: u32) -> NonNull<u8> {
    debug_assert!(number < SLOTS);
    // SAFETY: a chunk has so many slots after its header.
    unsafe { chunk.add(1).cast::<u8>().add(number as usize * SLOT) }
}

/// Asks for a huge page. Whether there is one is the system's affair.
#[allow(unsafe_code)]
fn advise_huge(chunk: NonNull<u8>) {
    #[cfg(target_os = "linux")]
    // SAFETY: the chunk is allocated and aligned to pages; the advice changes no contents.
    unsafe {
        libc::madvise(chunk.as_ptr().cast(), CHUNK, libc::MADV_HUGEPAGE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = chunk;
}

/// As `Box`, of what fits into a slot.
pub(crate) struct Block<T>(NonNull<T>);

#[allow(unsafe_code)]
impl<T> Block<T> {
    pub(crate) fn new(value: T) -> Block<T> {
        const { assert!(size_of::<T>() <= SLOT && align_of::<T>() <= align_of::<Header>()) };
        let place = pool().take().cast::<T>();
        // SAFETY: the slot is large enough and aligned, and nobody else's.
        unsafe { place.write(value) };
        Block(place)
    }
}

// SAFETY: it owns its value, as a box does.
#[allow(unsafe_code)]
unsafe impl<T: Send> Send for Block<T> {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl<T: Sync> Sync for Block<T> {}

#[allow(unsafe_code)]
impl<T> Deref for Block<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: it points to its value as long as it is there.
        unsafe { self.0.as_ref() }
    }
}

#[allow(unsafe_code)]
impl<T> DerefMut for Block<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the reference is the only one.
        unsafe { self.0.as_mut() }
    }
}

#[allow(unsafe_code)]
impl<T> Drop for Block<T> {
    fn drop(&mut self) {
        // SAFETY: the value is there, and is not used again.
        unsafe { self.0.drop_in_place() };
        pool().give(self.0.cast());
    }
}

impl<T: fmt::Debug> fmt::Debug for Block<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Random;

    /// Blocks of several chunks come and go, and keep what they hold.
    #[test]
    fn blocks_hold_what_was_put_there() {
        let mut random = Random::new(7);
        let mut blocks: Vec<(u32, Block<[u32; 1024]>)> = Vec::new();
        for round in 0..6 {
            let grows = round % 2 == 0;
            for number in 0..3 * SLOTS {
                if grows {
                    blocks.push((number, Block::new([number; 1024])));
                } else if !blocks.is_empty() {
                    let at = random.below(blocks.len() as u64) as usize;
                    let (number, block) = blocks.swap_remove(at);
                    assert!(block.iter().all(|&held| held == number));
                }
            }
            for (number, block) in &mut blocks {
                assert!(block.iter().all(|held| held == number));
                *number += 1;
                block.fill(*number);
            }
        }
        assert!(blocks.iter().all(|(number, block)| block[1023] == *number));
    }

    #[test]
    fn what_a_block_holds_is_dropped_once() {
        let shared = std::sync::Arc::new(());
        let blocks: Vec<_> = (0..100).map(|_| Block::new(shared.clone())).collect();
        assert_eq!(std::sync::Arc::strong_count(&shared), 101);
        drop(blocks);
        assert_eq!(std::sync::Arc::strong_count(&shared), 1);
    }
}
