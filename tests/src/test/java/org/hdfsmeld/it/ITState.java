package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster.DataNodeProperties;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockManagerTestUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The state of simulated devices over restarts of their DataNode. */
class ITState {
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES + 99_991;

  @TempDir Path directory;
  private MeldCluster cluster;

  @AfterEach
  void stop() {
    cluster.close();
  }

  private static org.apache.hadoop.fs.Path file(int number) {
    return new org.apache.hadoop.fs.Path("/file-" + number);
  }

  private DistributedFileSystem hdfs() {
    return cluster.fileSystem();
  }

  private void restart(Runnable between) throws Exception {
    DataNodeProperties stopped = cluster.hdfs().stopDataNode(0);
    between.run();
    cluster.hdfs().restartDataNode(stopped, true);
    cluster.hdfs().waitActive();
  }

  private Path state() {
    return Path.of(cluster.hdfs().getInstanceStorageDir(0, 0).getPath(), "meld");
  }

  private void forEachFile(FileAction action) {
    try (Stream<Path> files = Files.list(state())) {
      for (Path file : files.toList()) {
        action.on(file);
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** No more blocks are left. What HDFS does each second to that end is done at once. */
  private void awaitMapped(int atMost) {
    await()
        .until(
            () -> {
              BlockManagerTestUtil.computeInvalidationWork(
                  cluster.hdfs().getNamesystem().getBlockManager());
              cluster.hdfs().triggerHeartbeats();
              return Volumes.total("blocks_mapped") <= atMost;
            });
  }

  private interface FileAction {
    void on(Path file) throws IOException;
  }

  @Test
  void layoutAndWearGoOnAfterARestart() throws Exception {
    // A device so small that its blocks are erased.
    String profile = Profiles.write(directory, 2, 1, 12, "");
    cluster = MeldCluster.builder().meld("profile", profile).start();
    Map<Integer, byte[]> contents = new HashMap<>();
    for (int i = 0; i < 24; i++) {
      contents.put(i, Content.write(hdfs(), file(i), i, FILE_BYTES));
      if (i >= 4) {
        hdfs().delete(file(i - 4), false);
        contents.remove(i - 4);
        awaitMapped(3 * contents.size());
      }
    }
    long erases = Volumes.total("most_erases");
    long pages = Volumes.total("mapped_pages");
    long melded = Volumes.total("melded_mapped_pages");
    assertThat(erases).isPositive();
    restart(() -> {});
    assertThat(Volumes.total("most_erases")).isEqualTo(erases);
    assertThat(Volumes.total("mapped_pages")).isEqualTo(pages);
    assertThat(Volumes.total("melded_mapped_pages")).isEqualTo(melded);
    assertThat(Volumes.total("blocks_mapped")).isEqualTo(3L * contents.size());
    assertThat(Volumes.total("state_relaid_blocks")).isZero();
    for (Map.Entry<Integer, byte[]> content : contents.entrySet()) {
      Content.assertSame(hdfs(), file(content.getKey()), content.getValue());
    }
    assertThat(Volumes.total("unmapped_page_reads")).isZero();
    // Twice what the device holds, at most.
    for (int i = 100; i < 140 && Volumes.total("most_erases") == erases; i++) {
      Content.write(hdfs(), file(i), i, FILE_BYTES);
      hdfs().delete(file(i), false);
      awaitMapped(3 * contents.size());
    }
    assertThat(Volumes.total("most_erases")).as("erases go on from there").isGreaterThan(erases);
    assertThat(Volumes.total("errors") + Volumes.total("state_errors")).isZero();
  }

  @Test
  void aDamagedStateIsRebuiltFromTheReplicas() throws Exception {
    cluster = MeldCluster.builder().start();
    byte[] bytes = Content.write(hdfs(), file(1), 1, FILE_BYTES);
    try (LogCapture log = LogCapture.start()) {
      restart(
          () ->
              forEachFile(
                  file -> {
                    byte[] content = Files.readAllBytes(file);
                    if (content.length > 0) {
                      content[content.length / 2] ^= 4;
                    }
                    Files.write(file, content);
                  }));
      Content.assertSame(hdfs(), file(1), bytes);
      assertThat(log.text()).contains(state().toString()).contains("laid out anew");
    }
    assertThat(Volumes.total("state_rejected")).isPositive();
    assertThat(Volumes.total("unmapped_page_reads") + Volumes.total("errors")).isZero();
    assertThat(Volumes.total("melded_reads")).isPositive();
  }

  @Test
  void filesFromTheFutureAndThePastAreTheSame() throws Exception {
    cluster = MeldCluster.builder().start();
    byte[] bytes = Content.write(hdfs(), file(1), 1, FILE_BYTES);
    long year = 31_536_000_000L;
    restart(
        () ->
            forEachFile(
                file -> {
                  int number = file.getFileName().toString().hashCode();
                  long jump = number % 2 == 0 ? 10 * year : -10 * year;
                  Files.setLastModifiedTime(
                      file, FileTime.fromMillis(System.currentTimeMillis() + jump));
                }));
    assertThat(Volumes.total("state_restored_blocks")).isEqualTo(3);
    Content.assertSame(hdfs(), file(1), bytes);
    assertThat(Volumes.total("state_rejected") + Volumes.total("errors")).isZero();
  }

  @Test
  void blocksThatWentOrGrewWhileTheSimulationWasOffAreSeen() throws Exception {
    cluster = MeldCluster.builder().start();
    byte[] first = Content.write(hdfs(), file(1), 1, FILE_BYTES);
    byte[] second = Content.write(hdfs(), file(2), 2, FILE_BYTES);
    Content.write(hdfs(), file(3), 3, FILE_BYTES);
    Volumes.setAll("Mode", "off");
    byte[] more = Content.random(4, 700_001);
    try (FSDataOutputStream out = hdfs().append(file(2))) {
      out.write(more);
    }
    restart(() -> {});
    Content.assertSame(hdfs(), file(1), first);
    Content.assertSame(hdfs(), file(2), Content.concat(second, more));
    hdfs().delete(file(3), false);
    await().untilAsserted(() -> assertThat(Volumes.total("blocks_mapped")).isEqualTo(6));
    assertThat(Volumes.total("unmapped_page_reads") + Volumes.total("errors")).isZero();
  }

  @Test
  void aSharedDevicesStateComesBackWithAllItsVolumes() throws Exception {
    String sets = "[sets]\nlayout = \"vertical\"\ncount = 2";
    cluster =
        MeldCluster.builder()
            .volumes("@ssd0/0", "@ssd0/1")
            .meld("devices", "ssd0=" + Profiles.divided(directory, sets))
            .set(
                "dfs.datanode.fsdataset.volume.choosing.policy",
                NumberedVolumeChoosingPolicy.class.getName())
            .start();
    NumberedVolumeChoosingPolicy.choose(0);
    byte[] first = Content.write(hdfs(), file(1), 1, FILE_BYTES);
    NumberedVolumeChoosingPolicy.choose(1);
    byte[] second = Content.write(hdfs(), file(2), 2, FILE_BYTES);
    long pages = Volumes.ofDevices("mapped_pages");
    restart(() -> {});
    assertThat(Volumes.ofDevices("mapped_pages")).isEqualTo(pages);
    assertThat(Volumes.ofDevices("state_restored_blocks")).isEqualTo(6);
    Content.assertSame(hdfs(), file(1), first);
    Content.assertSame(hdfs(), file(2), second);
    assertThat(Volumes.ofDevices("unmapped_page_reads") + Volumes.total("errors")).isZero();
    assertThat(List.copyOf(Volumes.all())).hasSize(2);
  }
}
