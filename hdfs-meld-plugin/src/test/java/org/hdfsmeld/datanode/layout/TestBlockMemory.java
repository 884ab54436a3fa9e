package org.hdfsmeld.datanode.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.lang.management.ManagementFactory;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.NativeSimDevice;
import org.junit.jupiter.api.Test;

/** The heap that a block takes that is finalized and that nobody reads. */
class TestBlockMemory {
  private static final int BLOCKS = 200_000;
  private static final int BLOCKS_OF_A_FILE = 8;
  private static final long MOST_BYTES = 200;

  /** As HDFS gives it: each value is an object of its own. */
  private static BlockKey key(int block) {
    return new BlockKey(new String("BP-1789-10.0.0.1-1700000000000"), 1_073_741_825L + block);
  }

  private static BlockFile file(int block) {
    String folder = "/data/1/current/%s/current/finalized/subdir%d/subdir%d/blk_%d";
    BlockKey key = key(block);
    File file = new File(folder.formatted(key.pool(), block >> 13 & 31, block >> 8 & 31, key.id()));
    return new BlockFile() {
      @Override
      public long length() {
        return 100;
      }

      @Override
      public File file() {
        return file;
      }

      @Override
      public boolean exists() {
        return true;
      }
    };
  }

  private static BlockHint hint(int block) {
    int file = block / BLOCKS_OF_A_FILE;
    return new BlockHint(ReadPattern.UNKNOWN, 1 << 20, 7 + file, 8, -1, 16_386 + file, 1_000);
  }

  private static long usedHeap() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      System.gc();
      least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return least;
  }

  @Test
  void itIsBounded() throws Exception {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.STATE_ENABLED, "false");
    File current = new File("/data/1/current");
    try (MeldVolumes volumes =
        FakeDevice.volumes(
            MeldConfiguration.read(conf),
            profile -> () -> NativeSimDevice.open("", profile),
            HintSource.NONE)) {
      volumes.add("DS-1", current);
      MeldVolume volume = volumes.holding(new File(current, "BP-1/blk_1"));
      VolumeBlocks blocks = volume.blocks();
      long before = usedHeap();
      for (int block = 0; block < BLOCKS; block++) {
        BlockExtent extent = blocks.create(key(block), hint(block), file(block));
        extent.begins();
        while (extent.mappedBytes() < 100) {
          blocks.io().preload(extent, 100);
        }
      }
      long bytes = (usedHeap() - before) / BLOCKS;
      assertThat(blocks.count()).isEqualTo(BLOCKS);
      assertThat(bytes).isBetween(100L, MOST_BYTES);
    }
  }
}
