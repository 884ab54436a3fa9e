package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import javax.management.ObjectName;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/**
 * Off forwards nothing, account waits for nothing, real-time makes readers wait as long as the
 * device.
 */
class ITModes {
  private static final Path FILE = new Path("/file");
  private static final int FILE_BYTES = 3 * MeldCluster.BLOCK_BYTES + 12_345;

  @Test
  void theModeChangesWhileRunning() throws Exception {
    try (MeldCluster cluster = MeldCluster.builder().start()) {
      byte[] bytes = Content.write(cluster.fileSystem(), FILE, 1, FILE_BYTES);
      Content.assertSame(cluster.fileSystem(), FILE, bytes);
      assertThat(Volumes.total("reader_wait_ns")).as("account mode waits for nothing").isZero();

      Volumes.setAll("Mode", "off");
      long reads = Volumes.total("read_commands");
      long forwarded = Volumes.total("forwarded_reads");
      Content.assertSame(cluster.fileSystem(), FILE, bytes);
      assertThat(Volumes.total("read_commands")).isEqualTo(reads);
      assertThat(Volumes.total("forwarded_reads")).isEqualTo(forwarded);

      Volumes.setAll("TimeDilation", 500.0);
      Volumes.setAll("Mode", "real-time");
      // The wall clock is read around the counters, and they are published anew by a read after
      // that: however long it takes, more of the wall clock has passed than of simulated time.
      long start = System.nanoTime();
      try (FSDataInputStream in = cluster.fileSystem().open(FILE)) {
        assertThat(in.read()).isNotNegative();
      }
      long simulatedBefore = Volumes.total("now_ps");
      long activeBefore = Volumes.total("read_active_ps");
      Content.assertSame(cluster.fileSystem(), FILE, bytes);
      long activePs = Volumes.total("read_active_ps") - activeBefore;
      long simulatedPs = Volumes.total("now_ps") - simulatedBefore;
      long wallNs = System.nanoTime() - start;

      assertThat(simulatedPs / 1000.0 * 500.0)
          .as("simulated time is never ahead of the scaled wall clock")
          .isLessThanOrEqualTo(wallNs);
      assertThat(activePs)
          .as("time the device needs")
          .isBetween(leastPs(3 * MeldCluster.BLOCK_BYTES), simulatedPs);
      assertThat(Volumes.total("reader_wait_ns")).as("the reader waited for it").isPositive();
    }
  }

  /** What the channels of the device's profile need for so many bytes, all of them busy. */
  private static long leastPs(long bytes) throws Exception {
    ObjectName volume = Volumes.all().iterator().next();
    String profile = Commands.meldsim("profiles", "show", (String) Volumes.get(volume, "Profile"));
    double onBus = bytes / 4096.0 * Commands.number(profile, "bytes_per_4kib = (\\d+)");
    double perSecond =
        Commands.number(profile, "channels = (\\d+)")
            * Commands.number(profile, "rate = \"(\\d+)MT/s\"")
            * 1e6
            * Commands.number(profile, "width_bits = (\\d+)")
            / 8;
    return (long) (onBus / perSecond * 1e12);
  }

  @Test
  void withoutTheHintNothingIsMelded() throws Exception {
    try (MeldCluster cluster =
        MeldCluster.builder().meld("hint.full-block-sequential", "false").start()) {
      byte[] bytes = Content.write(cluster.fileSystem(), FILE, 2, FILE_BYTES);
      Content.assertSame(cluster.fileSystem(), FILE, bytes);
      assertThat(Volumes.total("hinted_blocks")).isZero();
      assertThat(Volumes.total("melded_wordlines_programmed")).isZero();
      assertThat(Volumes.total("melded_reads")).isZero();
      assertThat(Volumes.total("page_reads")).isPositive();
    }
  }
}
