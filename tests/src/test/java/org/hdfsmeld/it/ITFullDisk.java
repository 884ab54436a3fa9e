package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** No room where the state of a simulated device is kept: HDFS notices nothing. */
class ITFullDisk {
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES + 99_991;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private MeldCluster cluster;
  private Path small;

  @AfterEach
  void stop() throws Exception {
    unmount();
    cluster.close();
  }

  private static org.apache.hadoop.fs.Path file(int number) {
    return new org.apache.hadoop.fs.Path("/file-" + number);
  }

  private static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return process.waitFor() == 0 ? "" : String.join(" ", command) + ": " + said;
  }

  /** A disk on which something else takes all room comes where the state is. */
  private void mount(Path state) throws IOException, InterruptedException {
    String problem = run("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", state.toString());
    assumeTrue(problem.isEmpty(), "no file system can be mounted here: " + problem);
    small = state;
    Files.write(state.resolve("other"), new byte[16 << 10]);
  }

  private void unmount() throws IOException, InterruptedException {
    if (small != null) {
      // Lazily: the journal may be open.
      assertThat(run("umount", "-l", small.toString())).isEmpty();
      small = null;
    }
  }

  @Test
  void costsNoMoreThanTheState() throws Exception {
    cluster = MeldCluster.builder().meld("state.snapshot-interval", "1s").start();
    DistributedFileSystem hdfs = cluster.fileSystem();
    byte[] first = Content.write(hdfs, file(1), 1, FILE_BYTES);
    await().atMost(PATIENCE).until(() -> Volumes.total("state_snapshots") > 1);

    mount(Path.of(cluster.hdfs().getInstanceStorageDir(0, 0).getPath(), "meld"));
    byte[] second = Content.write(hdfs, file(2), 2, FILE_BYTES);
    byte[] more = Content.random(3, 700_001);
    try (FSDataOutputStream out = hdfs.append(file(1))) {
      out.write(more);
      out.hsync();
    }
    await().atMost(PATIENCE).until(() -> Volumes.total("state_errors") > 0);
    hdfs.truncate(file(2), MeldCluster.BLOCK_BYTES);
    Content.assertSame(hdfs, file(1), Content.concat(first, more));
    byte[] third = Content.write(hdfs, file(3), 4, FILE_BYTES);
    Content.assertSame(hdfs, file(3), third);
    assertThat(Volumes.total("errors") + Volumes.total("fallbacks")).isZero();

    unmount();
    long before = Volumes.total("state_snapshots");
    byte[] fourth = Content.write(hdfs, file(4), 5, FILE_BYTES);
    await().atMost(PATIENCE).until(() -> Volumes.total("state_snapshots") > before);
    cluster.hdfs().restartDataNode(0, true);
    cluster.hdfs().waitActive();
    Content.assertSame(hdfs, file(1), Content.concat(first, more));
    Content.assertSame(hdfs, file(2), Arrays.copyOf(second, MeldCluster.BLOCK_BYTES));
    Content.assertSame(hdfs, file(3), third);
    Content.assertSame(hdfs, file(4), fourth);
    assertThat(Volumes.total("state_restored_blocks")).as("state is kept again").isPositive();
    assertThat(Volumes.total("unmapped_page_reads") + Volumes.total("errors")).isZero();
  }
}
