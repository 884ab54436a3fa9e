package org.hdfsmeld.record;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Records of many threads, for one that takes them, in memory that is there from the beginning:
 * Vyukov's bounded array queue. It keeps the first records, or the latest.
 *
 * <p>Nobody waits. A record that finds a ring of the first ones full is dropped; in a ring of the
 * latest it takes the place of the oldest. Both are counted. A record takes a line of the cache:
 *
 * <pre>
 *   turn | seven words
 * </pre>
 *
 * <p>A slot's turn says whose it is: the position of the record that may fill it, and one more once
 * the record is complete.
 */
public final class RecordRing {
  public static final int WORDS = 7;
  private static final VarHandle ARRAY = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int SLOT_WORDS = 8;
  private static final long CLOSED = Long.MIN_VALUE;

  /** The turn of a slot that is being filled again. */
  private static final long NOBODY = -1;

  private final long[] words;
  private final long mask;
  private final boolean latest;
  private final AtomicLong tail = new AtomicLong();
  private final LongAdder dropped = new LongAdder();

  /** Only the consumer's. */
  private long head;

  private RecordRing(int capacity, boolean latest) {
    if (Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException("capacity " + capacity + " is no power of two");
    }
    this.words = new long[capacity * SLOT_WORDS];
    this.mask = capacity - 1L;
    this.latest = latest;
    for (int i = 0; i < capacity; i++) {
      words[i * SLOT_WORDS] = i;
    }
  }

  /** A ring that drops what finds it full. */
  public static RecordRing ofFirst(int capacity) {
    return new RecordRing(capacity, false);
  }

  /** A ring that keeps the latest; they are taken when nobody adds any more. */
  public static RecordRing ofLatest(int capacity) {
    return new RecordRing(capacity, true);
  }

  /** Adds a record, as the consumer gets it from {@link #poll}. False when there is no room. */
  public boolean add(long a, long b, long c, long d, long e, long f, long g) {
    long position = latest ? takeNext() : takeFree();
    if (position < 0) {
      return false;
    }
    int slot = slot(position);
    words[slot + 1] = a;
    words[slot + 2] = b;
    words[slot + 3] = c;
    words[slot + 4] = d;
    words[slot + 5] = e;
    words[slot + 6] = f;
    words[slot + 7] = g;
    ARRAY.setRelease(words, slot, position + 1);
    return true;
  }

  private long takeNext() {
    long position = tail.getAndIncrement();
    ARRAY.setOpaque(words, slot(position), NOBODY);
    VarHandle.storeStoreFence();
    return position;
  }

  private long takeFree() {
    long position = tail.get();
    while (position >= 0) {
      long behind = turn(position) - position;
      if (behind < 0) {
        // The slot still holds the record of a turn ago.
        dropped.increment();
        return CLOSED;
      }
      if (behind == 0 && tail.compareAndSet(position, position + 1)) {
        return position;
      }
      position = tail.get();
    }
    return CLOSED;
  }

  /** Takes the next record's words; false when there is none at present. */
  public boolean poll(long[] record) {
    if (!latest) {
      if (turn(head) != head + 1) {
        return false;
      }
      System.arraycopy(words, slot(head) + 1, record, 0, WORDS);
      ARRAY.setRelease(words, slot(head), head + mask + 1);
      head++;
      return true;
    }
    long first = Math.max(head, tail.get() - mask - 1);
    dropped.add(first - head);
    for (head = first; head < tail.get(); head++) {
      boolean whole = turn(head) == head + 1;
      System.arraycopy(words, slot(head) + 1, record, 0, WORDS);
      VarHandle.loadLoadFence();
      if (whole && turn(head) == head + 1) {
        head++;
        return true;
      }
      // It is being added, or has made room.
      dropped.increment();
    }
    return false;
  }

  /** Takes no more records, of a ring of the first; those that are there can still be polled. */
  public void close() {
    tail.getAndUpdate(position -> position | CLOSED);
  }

  /** Whether the ring is closed and everything in it was polled. For the consumer. */
  public boolean isDrained() {
    return (head | CLOSED) == tail.get();
  }

  /** Records that are lost: they found the ring full, or made room. */
  public long dropped() {
    return dropped.sum();
  }

  private long turn(long position) {
    return (long) ARRAY.getAcquire(words, slot(position));
  }

  private int slot(long position) {
    return (int) (position & mask) * SLOT_WORDS;
  }
}
