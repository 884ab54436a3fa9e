package org.hdfsmeld.trace;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A bounded queue of records between many producers and one consumer, after Vyukov's array queue.
 *
 * <p>Lock-free: a producer that finds the ring full drops its record and counts it, and never
 * waits. Nothing is allocated after construction. A record takes one cache line of the array:
 *
 * <pre>
 *   turn | time | block | offset | pool, length | kind | directory | -
 * </pre>
 *
 * <p>A slot's turn says whose it is: the position of the producer that may fill it, and one more
 * once the consumer may read it.
 */
final class TraceRing {
  private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

  /** Words of a record. */
  static final int RECORD_WORDS = 6;

  private static final int SLOT_WORDS = 8;
  private static final long CLOSED = Long.MIN_VALUE;

  private final long[] words;
  private final long mask;
  private final AtomicLong tail = new AtomicLong();
  private final LongAdder dropped = new LongAdder();

  /** Only the consumer's. */
  private long head;

  /** A ring of {@code capacity} records, a power of two. */
  TraceRing(int capacity) {
    if (Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException("capacity " + capacity + " is no power of two");
    }
    words = new long[capacity * SLOT_WORDS];
    mask = capacity - 1L;
    for (int i = 0; i < capacity; i++) {
      words[i * SLOT_WORDS] = i;
    }
  }

  /** Records are as the consumer gets them in {@link #poll}. False when it was dropped. */
  boolean offer(long time, long block, long offset, long poolAndLength, long kind, long directory) {
    long position = tail.get();
    while (position >= 0) {
      int slot = slot(position);
      long behind = (long) WORDS.getAcquire(words, slot) - position;
      if (behind < 0) {
        // The slot still holds the record of a turn ago.
        dropped.increment();
        return false;
      }
      if (behind == 0 && tail.compareAndSet(position, position + 1)) {
        words[slot + 1] = time;
        words[slot + 2] = block;
        words[slot + 3] = offset;
        words[slot + 4] = poolAndLength;
        words[slot + 5] = kind;
        words[slot + 6] = directory;
        WORDS.setRelease(words, slot, position + 1);
        return true;
      }
      position = tail.get();
    }
    // Closed: the trace is over.
    return false;
  }

  /** Takes the next record's words; false when there is none at present. */
  boolean poll(long[] record) {
    int slot = slot(head);
    if ((long) WORDS.getAcquire(words, slot) != head + 1) {
      return false;
    }
    System.arraycopy(words, slot + 1, record, 0, RECORD_WORDS);
    WORDS.setRelease(words, slot, head + mask + 1);
    head++;
    return true;
  }

  /** Takes no more records; what was offered before can still be polled. */
  void close() {
    tail.getAndUpdate(position -> position | CLOSED);
  }

  /** Whether the ring is closed and everything in it was polled. For the consumer. */
  boolean isDrained() {
    return (head | CLOSED) == tail.get();
  }

  /** Records that found the ring full. */
  long dropped() {
    return dropped.sum();
  }

  private int slot(long position) {
    return (int) (position & mask) * SLOT_WORDS;
  }
}
