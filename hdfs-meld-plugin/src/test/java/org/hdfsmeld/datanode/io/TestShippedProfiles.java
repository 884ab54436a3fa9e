package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldConfigurationException;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.NativeSimDevice;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each profile that is shipped, as a volume's device. */
class TestShippedProfiles {
  private static final int MIB = 1 << 20;
  private static final int PACKET = 64 << 10;
  private static final int BLOCKS = 18;

  private static final Path PROFILES = Path.of("../native-sim/model/meldsim/profiles");

  @TempDir Path dir;

  static Stream<String> profiles() throws IOException {
    try (Stream<Path> files = Files.list(PROFILES)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".toml"))
          .map(name -> name.replace(".toml", ""))
          .sorted()
          .toList()
          .stream();
    }
  }

  private static boolean isZoned(String profile) throws IOException {
    return Files.readString(PROFILES.resolve(profile + ".toml")).contains("\n[zones]\n");
  }

  /** From 100 bytes to 8 MiB, none of whole pages. */
  private static int length(int block) {
    return 100 + block * 997_001 % (8 * MIB);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void blocksAreWrittenReadCountedAndDeleted(String profile) throws IOException {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.PROFILE, profile);
    File current = dir.resolve("current").toFile();
    try (MeldVolumes volumes =
        FakeDevice.volumes(
            MeldConfiguration.read(conf),
            name -> () -> NativeSimDevice.open("", name),
            HintSource.NONE)) {
      if (isZoned(profile)) {
        assertThatThrownBy(() -> volumes.add("DS-1", current))
            .isInstanceOf(MeldConfigurationException.class)
            .hasMessageContaining(MeldKeys.PROFILE)
            .hasMessageContaining("use a profile without zones, such as melded-tlc-8x8");
        return;
      }
      volumes.add("DS-1", current);
      MeldVolume volume = volumes.holding(new File(current, "BP-1/blk_1"));
      assertThat(volume.isHealthy()).as(volume.getLastError()).isTrue();
      long pageBytes = volume.device().namespace().pageBytes();
      long bytes = 0;
      for (int block = 0; block < BLOCKS; block++) {
        writeAndRead(volume, block, length(block));
        bytes += (length(block) + pageBytes - 1) / pageBytes * pageBytes;
      }
      Map<String, Long> counters = FakeDevice.counters(volume);
      assertThat(counters)
          .containsEntry("fallbacks", 0L)
          .containsEntry("errors", 0L)
          .containsEntry("unseen_writes", 0L)
          .containsEntry("unmapped_page_reads", 0L);
      long all = counters.get("capacity_pages") * pageBytes;
      assertThat(counters.get("mapped_bytes"))
          .isEqualTo(profile.startsWith("optane") ? all : bytes);
      for (int block = 0; block < BLOCKS; block++) {
        volume.deleted(new BlockKey("BP-1", block));
      }
      // In account mode a deletion that the device takes time for is done when time moves next.
      writeAndRead(volume, BLOCKS, MIB);
      assertThat(FakeDevice.counters(volume).get("mapped_bytes"))
          .isEqualTo(profile.startsWith("optane") ? all : MIB);
    }
  }

  private void writeAndRead(MeldVolume volume, int block, int length) {
    BlockKey key = new BlockKey("BP-1", block);
    WriteStream writer = new WriteStream(volume, key, dir.toFile(), true, StreamUser.DATANODE);
    for (int at = 0; at < length; at += PACKET) {
      writer.write(at, Math.min(PACKET, length - at));
    }
    writer.close();
    volume.finalized(key, length);
    ReadStream reader = new ReadStream(volume, key, () -> length, true, StreamUser.DATANODE);
    reader.consume(0, length);
    reader.close();
  }
}
