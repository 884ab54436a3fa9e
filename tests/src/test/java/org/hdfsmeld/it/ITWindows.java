package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a client's reads become on the device, in each mode of the window. */
class ITWindows {
  private static final Path FILE = new Path("/file");
  private static final int BLOCK_BYTES = 16 << 20;
  private static final int PREAD_BYTES = 16 << 10;

  private static MeldCluster start(String mode, String window, String fadvise) {
    return MeldCluster.builder()
        .set("dfs.blocksize", Integer.toString(BLOCK_BYTES))
        .meld("readahead.mode", mode)
        .meld("readahead.window", window)
        .meld("readahead.request", "1m")
        .meld("readahead.linux.fadvise", fadvise)
        .start();
  }

  /**
   * The number of commands tells the windows apart. linux: 128 KiB each; with advice, of every 2
   * MiB 1280 KiB at once (or what is not cached of it), the rest in windows of up to 256 KiB. That
   * the advice arrives is what no unit test can show.
   */
  @ParameterizedTest
  @CsvSource({
    "adaptive, auto, 16, 32",
    "fixed, auto, 15, 18",
    "linux, false, 126, 132",
    "linux, true, 30, 60",
  })
  void aScanOfABlock(String mode, String fadvise, long least, long most) throws IOException {
    try (MeldCluster cluster = start(mode, "16m", fadvise)) {
      byte[] content = Content.write(cluster.fileSystem(), FILE, 1, BLOCK_BYTES);
      Content.assertSame(cluster.fileSystem(), FILE, content);
      assertThat(Volumes.total("read_commands")).isBetween(least, most);
      assertThat(Volumes.total("host_read_bytes")).isEqualTo(BLOCK_BYTES);
    }
  }

  /** Each positional read is a stream of its own; two sequences of them are recognised. */
  @Test
  void interleavedPositionalReads() throws IOException {
    try (MeldCluster cluster = start("adaptive", "2m", "auto")) {
      byte[] content = Content.write(cluster.fileSystem(), FILE, 1, BLOCK_BYTES);
      int reads = 200;
      try (FSDataInputStream in = cluster.fileSystem().open(FILE)) {
        for (int i = 0; i < reads; i++) {
          assertPread(in, content, (1 << 20) + i * PREAD_BYTES);
          assertPread(in, content, (8 << 20) + i * PREAD_BYTES);
          int streams = 2 * (i + 1);
          // The DataNode closes a stream a moment after the client has all of it.
          await()
              .pollDelay(Duration.ZERO)
              .pollInterval(Duration.ofMillis(1))
              .until(() -> Volumes.total("history_runs") >= streams);
        }
      }
      assertThat(Volumes.total("read_commands")).isLessThan(reads);
      // Both sequences, and a window ahead of each.
      assertThat(Volumes.total("host_read_bytes"))
          .isBetween(2L * reads * PREAD_BYTES, 2L * reads * PREAD_BYTES + (6 << 20));
    }
  }

  private static void assertPread(FSDataInputStream in, byte[] content, int offset)
      throws IOException {
    byte[] bytes = new byte[PREAD_BYTES];
    in.readFully(offset, bytes);
    assertThat(bytes).isEqualTo(Arrays.copyOfRange(content, offset, offset + PREAD_BYTES));
  }
}
