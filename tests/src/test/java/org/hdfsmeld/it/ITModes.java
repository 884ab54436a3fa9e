package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

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
      assertThat(Volumes.total("reader_wait_ns"))
          .as("account mode waits for nothing")
          .isLessThan(200_000_000);

      Volumes.setAll("Mode", "off");
      long reads = Volumes.total("read_commands");
      long forwarded = Volumes.total("forwarded_reads");
      Content.assertSame(cluster.fileSystem(), FILE, bytes);
      assertThat(Volumes.total("read_commands")).isEqualTo(reads);
      assertThat(Volumes.total("forwarded_reads")).isEqualTo(forwarded);

      Volumes.setAll("TimeDilation", 500.0);
      Volumes.setAll("Mode", "real-time");
      long simulatedBefore = Volumes.total("now_ps");
      long waitedBefore = Volumes.total("reader_wait_ns");
      long start = System.nanoTime();
      Content.assertSame(cluster.fileSystem(), FILE, bytes);
      long wallNs = System.nanoTime() - start;
      long simulatedPs = Volumes.total("now_ps") - simulatedBefore;
      long waitedNs = Volumes.total("reader_wait_ns") - waitedBefore;

      assertThat(simulatedPs / 1000.0 * 500.0)
          .as("simulated time is never ahead of the scaled wall clock")
          .isLessThanOrEqualTo(wallNs * 1.02 + 5e6);
      // 12 MiB at no more than 8 channels x 692 MB/s is over 2.2 ms, dilated over 1.1 s.
      assertThat(wallNs).as("the reader was slowed to the device").isGreaterThan(1_100_000_000L);
      assertThat(waitedNs).isGreaterThan(wallNs / 2);
    }
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
