package org.hdfsmeld.datanode.layout;

import java.util.concurrent.ConcurrentLinkedQueue;

/** Deallocates slots as soon as the device has room for that, and gives them out again then. */
final class SlotReclaimer {
  /** A command counts logical blocks, of 512 bytes at least, in 32 bits. */
  private static final long DEALLOCATE_BYTES_MAX = 1L << 39;

  interface Deallocator {
    /** False when the device has no room for the command at present. */
    boolean deallocate(long address, long length);
  }

  /** Slots that wait: so many are given out again, and so many bytes may be in them. */
  private record FreedSlots(long slot, long freed, long bytes) {}

  private final ConcurrentLinkedQueue<FreedSlots> ended = new ConcurrentLinkedQueue<>();
  private final Deallocator device;
  private final SlotAllocator allocator;
  private final long slotBytes;

  SlotReclaimer(Deallocator device, SlotAllocator allocator, long slotBytes) {
    this.device = device;
    this.allocator = allocator;
    this.slotBytes = slotBytes;
  }

  /** The slots of a block that held this many bytes. */
  void free(long[] slots, long bytes) {
    for (int i = 0; i < slots.length; i++) {
      ended.add(new FreedSlots(slots[i], 1, Math.min(slotBytes, bytes - i * slotBytes)));
    }
    reclaim();
  }

  /** Slots that belong to no block, whatever they hold; they may have been given out before. */
  void freeRange(long from, long to, boolean freed) {
    long atOnce = Math.max(1, DEALLOCATE_BYTES_MAX / slotBytes);
    for (long slot = from; slot < to; slot += atOnce) {
      long count = Math.min(atOnce, to - slot);
      ended.add(new FreedSlots(slot, freed ? count : 0, count * slotBytes));
    }
    reclaim();
  }

  boolean isEmpty() {
    return ended.isEmpty();
  }

  /** Deallocates and frees what waits, as far as the device has room. */
  void reclaim() {
    for (FreedSlots next = ended.poll(); next != null; next = ended.poll()) {
      if (next.bytes > 0 && !device.deallocate(next.slot * slotBytes, next.bytes)) {
        ended.add(next);
        return;
      }
      for (long slot = next.slot; slot < next.slot + next.freed; slot++) {
        allocator.free(slot);
      }
    }
  }
}
