package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.Test;

/** How a directory is read decides how its next blocks are laid out. */
class ITReadHistory {
  private static final int BLOCK_BYTES = 16 << 20;
  private static final int BLOCKS = 2;
  private static final int MIN_RUNS = 4;
  private static final int PREAD_BYTES = 16 << 10;
  private static final long CROSSOVER_BYTES = 1 << 20;
  private static final Path POINTS = new Path("/points");
  private static final Path SCANS = new Path("/scans");

  private static MeldCluster start() {
    return MeldCluster.builder()
        .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
        .set("dfs.blocksize", Integer.toString(BLOCK_BYTES))
        .meld("hint.timeout", "30s")
        .meld("hint.history.min-runs", Integer.toString(MIN_RUNS))
        .meld("readahead.window", "16m")
        .meld("readahead.request", "1m")
        .start();
  }

  private static byte[] write(MeldCluster cluster, Path directory, String name) throws IOException {
    byte[] content = Content.random(name.hashCode(), BLOCKS * BLOCK_BYTES);
    try (FSDataOutputStream out = cluster.fileSystem().create(new Path(directory, name))) {
      out.write(content);
    }
    return content;
  }

  private static void readPoints(MeldCluster cluster, Path file, byte[] content)
      throws IOException {
    Random random = new Random(1);
    byte[] read = new byte[PREAD_BYTES];
    try (FSDataInputStream in = cluster.fileSystem().open(file)) {
      for (int i = 0; i < 40; i++) {
        int offset = random.nextInt(content.length - PREAD_BYTES);
        in.readFully(offset, read);
        assertThat(read).isEqualTo(Arrays.copyOfRange(content, offset, offset + PREAD_BYTES));
      }
    }
  }

  /**
   * Of the blocks written by {@code write}: how many history decided on, and how many it melded.
   */
  private static void assertLayout(
      MeldCluster cluster, Path directory, String name, boolean decided, boolean melded)
      throws IOException {
    long byHistory = Volumes.total("hints_history");
    long hinted = Volumes.total("hinted_blocks");
    long unhinted = Volumes.total("unhinted_blocks");
    write(cluster, directory, name);
    assertThat(Volumes.total("hints_history") - byHistory).isEqualTo(decided ? BLOCKS : 0);
    assertThat(Volumes.total("hinted_blocks") - hinted).isEqualTo(melded ? BLOCKS : 0);
    assertThat(Volumes.total("unhinted_blocks") - unhinted).isEqualTo(melded ? 0 : BLOCKS);
  }

  @Test
  void laterBlocksOfADirectoryAreLaidOutAsItIsRead() throws Exception {
    try (MeldCluster cluster = start()) {
      byte[] points = write(cluster, POINTS, "first");
      byte[] scans = write(cluster, SCANS, "first");
      assertLayout(cluster, POINTS, "undecided", false, true);

      readPoints(cluster, new Path(POINTS, "first"), points);
      Content.assertSame(cluster.fileSystem(), new Path(SCANS, "first"), scans);
      Content.assertSame(cluster.fileSystem(), new Path(SCANS, "first"), scans);
      // A stream is closed, and counted, a moment after its client has all it wanted; and the
      // device's times are measured meanwhile.
      await().until(() -> Volumes.total("history_runs") >= 40 + 2 * BLOCKS);
      await().until(() -> Volumes.total("crossover_bytes") == CROSSOVER_BYTES);
      assertLayout(cluster, POINTS, "second", true, false);
      assertLayout(cluster, SCANS, "second", true, true);
      assertLayout(cluster, new Path("/elsewhere"), "first", false, true);

      cluster.hdfs().restartDataNode(0, true);
      cluster.hdfs().waitActive();
      await().until(() -> Volumes.total("crossover_bytes") == CROSSOVER_BYTES);
      assertThat(Volumes.total("history_resets")).isZero();
      assertLayout(cluster, POINTS, "third", true, false);
      assertLayout(cluster, SCANS, "third", true, true);
      assertThat(Volumes.total("errors")).isZero();
    }
  }

  /** Reads of blocks from before a restart count for their directory still. */
  @Test
  void afterARestartTheHistoryOfADirectoryGoesOn() throws Exception {
    try (MeldCluster cluster = start()) {
      byte[] points = write(cluster, POINTS, "first");
      MiniDFSCluster.DataNodeProperties stopped = cluster.hdfs().stopDataNode(0);
      Files.deleteIfExists(
          cluster.hdfs().getInstanceStorageDir(0, 0).toPath().resolve("meld-read-history"));
      cluster.hdfs().restartDataNode(stopped, true);
      cluster.hdfs().waitActive();
      assertThat(Volumes.total("state_restored_blocks")).isEqualTo(BLOCKS);
      readPoints(cluster, new Path(POINTS, "first"), points);
      await().until(() -> Volumes.total("history_runs") >= 40);
      await().until(() -> Volumes.total("crossover_bytes") == CROSSOVER_BYTES);
      assertLayout(cluster, POINTS, "second", true, false);
    }
  }
}
