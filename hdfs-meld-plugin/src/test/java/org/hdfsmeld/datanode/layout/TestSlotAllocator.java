package org.hdfsmeld.datanode.layout;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TestSlotAllocator {
  @Test
  void reusesSlotsOnlyAfterAQuarantine() {
    SlotAllocator slots = new SlotAllocator(1000);
    for (int i = 0; i <= SlotAllocator.QUARANTINE; i++) {
      assertThat(slots.allocate()).isEqualTo(i);
    }
    for (long i = 0; i < SlotAllocator.QUARANTINE; i++) {
      slots.free(i);
    }
    assertThat(slots.allocate()).isEqualTo(SlotAllocator.QUARANTINE + 1);
    slots.free(SlotAllocator.QUARANTINE);
    assertThat(slots.allocate()).isZero();
  }

  @Test
  void usesTheQuarantineBeforeItGivesUp() {
    SlotAllocator slots = new SlotAllocator(1);
    assertThat(slots.allocate()).isZero();
    assertThat(slots.allocate()).isEqualTo(SlotAllocator.NONE);
    slots.free(0);
    assertThat(slots.allocate()).isZero();
  }
}
