package org.hdfsmeld.datanode.layout;

import java.util.ArrayDeque;

/**
 * Gives out slots of a namespace, each the size of a full block. Slots are reused, because the
 * device's mapping table costs memory for every address ever used, but only after {@value
 * #QUARANTINE} later ones have been freed: that keeps a late write to a deleted block away from its
 * successor.
 */
final class SlotAllocator {
  static final long NONE = -1;
  static final int QUARANTINE = 32;

  private final long slots;
  private final ArrayDeque<Long> freed = new ArrayDeque<>();
  private long fresh;

  SlotAllocator(long slots) {
    this.slots = slots;
  }

  /** Gives out slots from here on, and before those that are freed. */
  synchronized void restore(long firstFresh) {
    fresh = firstFresh;
  }

  synchronized long allocate() {
    boolean reuse = freed.size() > QUARANTINE || (fresh == slots && !freed.isEmpty());
    if (reuse) {
      return freed.remove();
    }
    return fresh < slots ? fresh++ : NONE;
  }

  synchronized void free(long slot) {
    freed.add(slot);
  }
}
