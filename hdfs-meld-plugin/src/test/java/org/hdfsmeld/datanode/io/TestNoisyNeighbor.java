package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A reader of one volume while another volume of the same device is written, in simulated time. */
class TestNoisyNeighbor {
  private static final String TWO_SETS =
      """
      [sets]
      layout = "vertical"
      count = 2
      """;

  private static final int PACKET = 64 << 10;
  private static final int READ_BYTES = 48 << 20;

  /** Bytes written for each packet that is read: no more than a set can program meanwhile. */
  private static final int WRITTEN_BYTES = 4 << 10;

  /** More than the device's write buffer takes in, so that it has begun to program. */
  private static final int AHEAD_BYTES = 24 << 20;

  @TempDir Path dir;

  @Test
  void ingestDoesNotDisturbReadersOfAnotherVerticalSet() throws IOException {
    assertThat(slowdown(TWO_SETS, "@ssd0/0", "@ssd0/1")).isBetween(0.95, 1.05);
  }

  @Test
  void withoutSetsIngestDisturbsReaders() throws IOException {
    assertThat(slowdown("", "@ssd0", "@ssd0")).isGreaterThan(1.2);
  }

  /** How much longer the device takes for a reader beside a writer than for one alone. */
  private double slowdown(String sets, String read, String written) throws IOException {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.DEVICES, "ssd0=" + profile(sets));
    conf.set(MeldKeys.VOLUME_PROFILES, "/data/1=" + read + ",/data/2=" + written);
    conf.set(MeldKeys.STATE_ENABLED, "false");
    try (MeldVolumes volumes =
        FakeDevice.volumes(
            MeldConfiguration.read(conf),
            profile -> SimDeviceOpener.ofLibrary("", profile),
            HintSource.NONE)) {
      MeldVolume first = volume(volumes, 1);
      File file = Files.createTempFile(dir, "blk_2", "").toFile();
      WriteStream writer =
          new WriteStream(
              volume(volumes, 2), new BlockKey("BP-1", 2), file, true, StreamUser.DATANODE);
      read(first, at -> {});
      long placed = readActivePs(first);
      read(first, at -> {});
      long alone = readActivePs(first) - placed;
      for (int at = 0; at < AHEAD_BYTES; at += PACKET) {
        writer.write(at, PACKET);
      }
      read(first, at -> writer.write(AHEAD_BYTES + at / PACKET * WRITTEN_BYTES, WRITTEN_BYTES));
      long beside = readActivePs(first) - placed - alone;
      writer.close();
      return (double) beside / alone;
    }
  }

  private static void read(MeldVolume volume, LongConsumer before) {
    ReadStream reader =
        new ReadStream(
            volume, new BlockKey("BP-1", 1), () -> READ_BYTES, true, StreamUser.DATANODE);
    reader.longRead();
    for (long at = 0; at < READ_BYTES; at += PACKET) {
      before.accept(at);
      reader.consume(at, PACKET);
    }
    reader.close();
  }

  /** Time in which the device had something to read. */
  private static long readActivePs(MeldVolume volume) {
    FakeDevice.settle(volume);
    return volume.device().device().getCounters().get("read_active_ps");
  }

  private static MeldVolume volume(MeldVolumes volumes, int number) throws IOException {
    File current = new File("/data/" + number + "/current");
    volumes.add("DS-" + number, current);
    return volumes.holding(new File(current, "BP-1/blk_1"));
  }

  private Path profile(String sets) throws IOException {
    return Files.writeString(
        dir.resolve("profile.toml"),
        """
        name = "test"
        description = "made up for a test"

        [geometry]
        channels = 8
        dies_per_channel = 2
        planes_per_die = 1
        blocks_per_plane = 64
        wordlines_per_block = 128
        page_size = "16KiB"

        [bus]
        rate = "800MT/s"
        width_bits = 8

        [timing]
        read = ["58us", "78us", "107us"]
        melded_read = "166us"
        program = "2000us"
        erase = "2274us"

        [controller]
        lba_size = "4KiB"
        write_buffer = "16MiB"

        [ftl]
        over_provisioning_percent = 20

        """
            + sets);
  }
}
