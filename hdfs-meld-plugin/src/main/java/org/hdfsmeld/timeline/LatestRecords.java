package org.hdfsmeld.timeline;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The latest records of many threads, in memory that is there from the beginning: {@value
 * #SLOT_WORDS} words for each.
 *
 * <p>Wait-free: a record takes the next place, whatever was there. A place's turn says which record
 * is complete in it.
 */
final class LatestRecords {
  /** Words of a record. */
  static final int WORDS = 7;

  private static final int SLOT_WORDS = 8;
  private static final VarHandle ARRAY = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] words;
  private final int capacity;
  private final AtomicLong next = new AtomicLong();

  /** Gets the records that there are. */
  interface Visitor {
    void record(long[] record);
  }

  LatestRecords(int capacity) {
    this.capacity = capacity;
    this.words = new long[capacity * SLOT_WORDS];
  }

  void add(long kind, long reader, long key, long begin, long end, long first, long second) {
    long position = next.getAndIncrement();
    int slot = (int) (position % capacity) * SLOT_WORDS;
    ARRAY.setRelease(words, slot, 0L);
    words[slot + 1] = kind;
    words[slot + 2] = reader;
    words[slot + 3] = key;
    words[slot + 4] = begin;
    words[slot + 5] = end;
    words[slot + 6] = first;
    words[slot + 7] = second;
    ARRAY.setRelease(words, slot, position + 1);
  }

  /**
   * The records, oldest first. One that is being added now is left out.
   *
   * @return records that were there and are no more
   */
  long forEach(Visitor visitor) {
    long all = next.get();
    long[] record = new long[WORDS];
    long seen = 0;
    for (long position = Math.max(0, all - capacity); position < all; position++) {
      int slot = (int) (position % capacity) * SLOT_WORDS;
      if ((long) ARRAY.getAcquire(words, slot) == position + 1) {
        System.arraycopy(words, slot + 1, record, 0, WORDS);
        if ((long) ARRAY.getAcquire(words, slot) == position + 1) {
          visitor.record(record);
          seen++;
        }
      }
    }
    return all - seen;
  }
}
