package org.hdfsmeld.datanode.hint;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;

/**
 * Hints by block, for as many blocks as there is room for.
 *
 * <p>Set-associative, without locks: what two threads put at one instant may get lost, which costs
 * a question more. A hit allocates nothing. An entry takes about 100 bytes, and 4 while empty.
 */
final class HintCache {
  private static final int WAYS = 8;

  /** Striped block ids are below 0; these bits say which block of the group it is. */
  private static final int INDEX_BITS = 4;

  private record Entry(BlockKey block, BlockHint hint) {}

  private final AtomicReferenceArray<Entry> entries;
  private final int setMask;

  /** Room for at least {@code blocks} blocks, up to a power of two. */
  HintCache(int blocks) {
    int sets = Integer.highestOneBit(Math.max(1, (blocks + WAYS - 1) / WAYS) * 2 - 1);
    this.entries = new AtomicReferenceArray<>(sets * WAYS);
    this.setMask = sets - 1;
  }

  /** The block's hint, or null when it is not here. */
  BlockHint get(String pool, long blockId) {
    int first = first(blockId);
    for (int way = first; way < first + WAYS; way++) {
      Entry entry = entries.getAcquire(way);
      if (entry != null && entry.block.id() == blockId && entry.block.pool().equals(pool)) {
        return entry.hint;
      }
    }
    return null;
  }

  /** Keeps a hint, in place of the block's last one or of the oldest in its set. */
  void put(BlockKey block, BlockHint hint) {
    int first = first(block.id());
    Entry entry = new Entry(block, hint);
    for (int way = first; way < first + WAYS && entry != null; way++) {
      Entry moved = entries.getAndSet(way, entry);
      entry = moved != null && moved.block.equals(block) ? null : moved;
    }
  }

  /**
   * Block ids of one file follow each other, and those of its block groups where it is striped:
   * neighbours go to different sets.
   */
  private int first(long blockId) {
    long number = blockId < 0 ? blockId >> INDEX_BITS : blockId;
    return ((int) (number ^ number >>> 32) & setMask) * WAYS;
  }
}
