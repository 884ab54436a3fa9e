package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A simulator that does not answer, or has no room: HDFS goes on, no byte is lost. */
class ITSilentSimulator {
  private static final org.apache.hadoop.fs.Path FILE = new org.apache.hadoop.fs.Path("/file");
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES + 99_991;

  @TempDir Path directory;

  @Test
  void aBoundedWaitEndsAHang() throws Exception {
    try (MeldCluster cluster = MeldCluster.builder().meld("wait-timeout", "20ms").start()) {
      byte[] before = Content.write(cluster.fileSystem(), FILE, 1, FILE_BYTES);
      // A microsecond of the device takes a second: for all that callers can see, it hangs.
      Volumes.setAll("TimeDilation", 1_000_000.0);
      Volumes.setAll("Mode", "real-time");
      Content.assertSame(cluster.fileSystem(), FILE, before);
      var more = new org.apache.hadoop.fs.Path("/more");
      byte[] written = Content.write(cluster.fileSystem(), more, 2, MeldCluster.BLOCK_BYTES);
      Content.assertSame(cluster.fileSystem(), more, written);
      assertThat(Volumes.total("timeouts")).as("waits that were ended").isPositive();
      Volumes.setAll("Mode", "account");
    }
  }

  @Test
  void aDeviceWithoutRoomCostsTheSimulationOnly() throws Exception {
    // 50 MB of flash, and more data than that.
    String profile = Profiles.write(directory, 1, 1, 8, "");
    try (MeldCluster cluster = MeldCluster.builder().meld("profile", profile).start()) {
      for (int i = 0; i < 6; i++) {
        var file = new org.apache.hadoop.fs.Path("/file-" + i);
        byte[] bytes = Content.write(cluster.fileSystem(), file, i, FILE_BYTES);
        Content.assertSame(cluster.fileSystem(), file, bytes);
      }
      assertThat(Volumes.total("errors") + Volumes.total("failed_commands")).isPositive();
    }
  }
}
