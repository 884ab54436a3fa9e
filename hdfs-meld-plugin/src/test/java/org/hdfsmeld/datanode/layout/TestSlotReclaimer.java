package org.hdfsmeld.datanode.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Slots are given out again once the device has heard that nobody needs what they held. */
class TestSlotReclaimer {
  private static final long SLOT = 128 << 20;

  private final TreeSet<Long> deallocated = new TreeSet<>();
  private final SlotAllocator slots = new SlotAllocator(1 << 20);
  private int room = Integer.MAX_VALUE;
  private final SlotReclaimer reclaimer = new SlotReclaimer(this::deallocate, slots, SLOT);

  private boolean deallocate(long address, long length) {
    if (room-- <= 0) {
      return false;
    }
    for (long slot = address / SLOT; slot * SLOT < address + length; slot++) {
      assertThat(deallocated.add(slot)).isTrue();
    }
    return true;
  }

  @Test
  void moreGapsThanTheDeviceHasRoomForAreDeallocatedLater() {
    slots.restore(20_000);
    room = 4096;
    for (long slot = 0; slot < 20_000; slot += 2) {
      reclaimer.freeRange(slot, slot + 1, true);
    }
    assertThat(deallocated).hasSize(4096);
    assertThat(reclaimer.isEmpty()).isFalse();
    for (int i = 0; i < 4096 - SlotAllocator.QUARANTINE; i++) {
      assertThat(deallocated).contains(slots.allocate());
    }
    assertThat(slots.allocate()).as("not one whose pages are there still").isEqualTo(20_000);
    room = Integer.MAX_VALUE;
    reclaimer.reclaim();
    assertThat(deallocated).hasSize(10_000);
    assertThat(reclaimer.isEmpty()).isTrue();
  }

  @Test
  void aRangeThatIsTooLongForACommandIsSeveral() {
    reclaimer.freeRange(5, 100_005, false);
    assertThat(deallocated).hasSize(100_000);
    assertThat(slots.allocate()).as("they were never given out").isZero();
  }
}
