package org.hdfsmeld.datanode.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.hdfsmeld.datanode.state.DeviceState;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.NamespaceInfo;
import org.junit.jupiter.api.Test;

/** A block's slots while commands are issued to them. */
class TestBlockExtent {
  private static final long SLOT = 1 << 20;
  private static final int LBA = 512;

  private final SlotAllocator slots = new SlotAllocator(4);
  private final BlockExtent extent = new BlockExtent(space(block -> true), new BlockKey("BP-1", 7));

  private BlockExtent.Space space(Predicate<DeviceState.Block> journal) {
    NamespaceInfo namespace = new NamespaceInfo(1, LBA, 4 * SLOT / LBA, 4096, 4096, 4 * SLOT, 0);
    return new BlockExtent.Space(namespace, SLOT, slots, null, journal, new AtomicLong());
  }

  @Test
  void slotsAreGivenUpOnce() {
    extent.address(0);
    assertThat(extent.drop()).containsExactly(0);
    assertThat(extent.address(0)).isEqualTo(SlotAllocator.NONE);
    assertThat(extent.drop()).isEmpty();
  }

  /** While commands are put in to its slots under the extent's lock, a block does not end. */
  @Test
  void slotsThatAreInUseAreNotGivenUp() throws Exception {
    FutureTask<long[]> ending = new FutureTask<>(extent::drop);
    Thread other = new Thread(ending);
    synchronized (extent) {
      extent.address(0);
      other.start();
      await().until(() -> other.getState() == Thread.State.BLOCKED);
      assertThat(extent.address(0)).isZero();
    }
    assertThat(ending.get()).containsExactly(0);
  }

  @Test
  void aChangeThatTheJournalDidNotTakeIsNotTheLastItHears() {
    List<Integer> heard = new ArrayList<>();
    BlockExtent loud =
        new BlockExtent(
            space(
                block -> {
                  heard.add(heard.size());
                  return heard.size() > 1;
                }),
            new BlockKey("BP-1", 8));
    loud.address(0);
    loud.preloaded(0, 100);
    loud.preloaded(100, 200);
    assertThat(heard).as("the first one was refused").hasSize(2);
    loud.preloaded(200, 300);
    assertThat(heard).as("it waits for its record to be taken").hasSize(2);
    loud.takeRecord();
    loud.drop();
    assertThat(heard).hasSize(3);
  }

  @Test
  void whatTheDeviceDidNotTakeIsNotMapped() {
    extent.address(0);
    extent.address(SLOT);
    extent.preloaded(0, 2 * SLOT);
    extent.lost(3 * SLOT / LBA);
    assertThat(extent.mappedBytes()).as("no slot of the block's").isEqualTo(2 * SLOT);
    extent.lost((SLOT + 4096) / LBA);
    assertThat(extent.mappedBytes()).isEqualTo(SLOT + 4096);
    assertThat(extent.preloadedBytes()).isEqualTo(SLOT + 4096);
  }
}
