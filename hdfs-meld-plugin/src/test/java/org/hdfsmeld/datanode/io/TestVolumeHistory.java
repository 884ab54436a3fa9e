package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.config.MeldMode;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.NativeSimDevice;
import org.hdfsmeld.trace.ClientKind;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Which reads of streams go into a volume's history, and what is decided by them. */
class TestVolumeHistory {
  private static final long KIB = 1 << 10;
  private static final long MIB = 1 << 20;
  private static final BlockKey BLOCK = new BlockKey("BP-1", 1);
  private static final BlockHint OF_FILE = new BlockHint(ReadPattern.UNKNOWN, 0, 7, 70, -1);
  private static final BlockHint NEW_FILE = new BlockHint(ReadPattern.UNKNOWN, 0, 8, 70, -1);

  @TempDir Path folder;

  /** Caching, and threads of which nothing is known, read as the DataNode. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CLIENT")
  void readsThatNoClientAsksForSayNothing(ClientKind kind) throws Exception {
    MeldVolume volume = volume(new Configuration());
    try {
      scan(volume, BLOCK, new StreamUser(kind, "", null));
      assertThat(FakeDevice.counters(volume)).containsEntry("history_runs", 0L);
      scan(volume, BLOCK);
      assertThat(FakeDevice.counters(volume)).containsEntry("history_runs", 1L);
    } finally {
      volume.close();
    }
  }

  /**
   * What is decided depends on the window that the reader has: see docs/explanation/windows.md for
   * the gains.
   */
  @ParameterizedTest
  @CsvSource({
    "adaptive, 128k, false, SEQUENTIAL",
    "linux, 128k, false, NONE",
    "linux, 128k, true, NONE",
    "linux, 2m, false, SEQUENTIAL",
    "linux, 2m, true, SEQUENTIAL",
  })
  void scansAreMeldedWhereTheWindowIsLargeEnough(
      String mode, String readAhead, String fadvise, ReadPattern expected) throws Exception {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.READAHEAD_MODE, mode);
    conf.set(MeldKeys.READAHEAD_LINUX_READ_AHEAD, readAhead);
    conf.set(MeldKeys.READAHEAD_LINUX_FADVISE, fadvise);
    MeldVolume volume = volume(conf);
    try {
      for (int block = 1; block <= 8; block++) {
        scan(volume, new BlockKey("BP-1", block));
      }
      await().until(() -> volume.policy().decide(NEW_FILE).pattern() == expected);
      assertThat(FakeDevice.counters(volume))
          .containsEntry("history_runs", 8L)
          .containsEntry("history_entries", 2L);
    } finally {
      volume.close();
    }
  }

  private MeldVolume volume(Configuration conf) throws Exception {
    MeldVolume volume =
        FakeDevice.alone(
            "DS-1",
            folder.resolve("current").toFile(),
            MeldConfiguration.read(conf),
            () -> NativeSimDevice.open("", "melded-tlc-8x8"),
            new Told());
    volume.change(MeldMode.ACCOUNT, 1);
    return volume;
  }

  private static void scan(MeldVolume volume, BlockKey block) {
    scan(volume, block, new StreamUser(ClientKind.CLIENT, "", null));
  }

  private static void scan(MeldVolume volume, BlockKey block, StreamUser user) {
    ReadStream reader = new ReadStream(volume, block, () -> 64 * MIB, true, user);
    reader.longRead();
    for (long at = 0; at < 64 * MIB; at += 64 * KIB) {
      reader.consume(at, (int) (64 * KIB));
    }
    reader.close();
  }

  /** Knows at once whose a block is. */
  private static final class Told implements HintSource {
    @Override
    public BlockHint of(String pool, long blockId) {
      return OF_FILE;
    }

    @Override
    public void ask(BlockKey block, Consumer<BlockHint> then) {
      then.accept(OF_FILE);
    }
  }
}
