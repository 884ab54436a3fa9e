package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Arrays;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.BlockMissingException;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.MiniDFSCluster.DataNodeProperties;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Restarts, dead nodes and dead writers: HDFS recovers as it does without the plugin. */
class ITRecovery {
  private static final Path FILE = new Path("/file");
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES + 54_321;

  private MeldCluster cluster;

  @AfterEach
  void stop() {
    cluster.close();
  }

  @Test
  void blocksWrittenBeforeARestartAreReadThroughTheDevice() throws Exception {
    cluster = MeldCluster.builder().start();
    byte[] bytes = Content.write(cluster.fileSystem(), FILE, 1, FILE_BYTES);
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    Content.assertSame(cluster.fileSystem(), FILE, bytes);
    assertThat(Volumes.total("host_read_bytes")).isGreaterThanOrEqualTo(FILE_BYTES);
    assertThat(Volumes.total("melded_reads"))
        .as("full-size blocks found on disk are laid out as if written with the hint")
        .isPositive();
    assertThat(Volumes.total("unmapped_page_reads")).isZero();
    assertThat(Volumes.total("errors")).isZero();
  }

  @Test
  void aWriterSurvivesTheRestartOfADataNodeOfItsPipeline() throws Exception {
    cluster = MeldCluster.builder().dataNodes(3).set("dfs.replication", "3").start();
    byte[] bytes = Content.random(2, FILE_BYTES);
    int half = FILE_BYTES / 2;
    try (FSDataOutputStream out = cluster.fileSystem().create(FILE)) {
      out.write(bytes, 0, half);
      out.hflush();
      DataNodeProperties stopped = cluster.hdfs().stopDataNode(0);
      out.write(bytes, half, FILE_BYTES - half);
      out.hflush();
      cluster.hdfs().restartDataNode(stopped, true);
    }
    cluster.hdfs().waitActive();
    Content.assertSame(cluster.fileSystem(), FILE, bytes);
    awaitReplicas(3);
    assertThat(Volumes.total("errors")).isZero();
  }

  @Test
  void anUnclosedFileIsRecovered() throws Exception {
    cluster = MeldCluster.builder().start();
    byte[] bytes = Content.random(3, 1_500_007);
    FileSystem writer = FileSystem.newInstance(cluster.fileSystem().getConf());
    FSDataOutputStream abandoned = writer.create(FILE);
    abandoned.write(bytes);
    abandoned.hsync();
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    await().until(() -> cluster.fileSystem().recoverLease(FILE));
    Content.assertSame(cluster.fileSystem(), FILE, bytes);
    byte[] more = Content.random(4, 3_000_017);
    try (FSDataOutputStream out = cluster.fileSystem().append(FILE)) {
      out.write(more);
    }
    Content.assertSame(cluster.fileSystem(), FILE, Content.concat(bytes, more));
    assertThat(Volumes.total("errors")).isZero();
  }

  @Test
  void replicasMadeByTheDataNodesReachTheDevicesToo() throws Exception {
    cluster = MeldCluster.builder().dataNodes(3).start();
    byte[] bytes = Content.write(cluster.fileSystem(), FILE, 5, FILE_BYTES);
    long once = Volumes.total("mapped_pages");
    cluster.fileSystem().setReplication(FILE, (short) 3);
    awaitReplicas(3);
    await().untilAsserted(() -> assertThat(Volumes.total("mapped_pages")).isEqualTo(3 * once));
    assertThat(Volumes.total("hinted_blocks")).isEqualTo(6);

    // Each replica alone gives the file back.
    for (int keep = 0; keep < 3; keep++) {
      DataNodeProperties first = cluster.hdfs().stopDataNode(0);
      DataNodeProperties second = cluster.hdfs().stopDataNode(0);
      assertThat(Arrays.mismatch(Content.read(cluster.fileSystem(), FILE), bytes)).isEqualTo(-1);
      cluster.hdfs().restartDataNode(first, true);
      cluster.hdfs().restartDataNode(second, true);
      cluster.hdfs().waitActive();
    }
    assertThat(Volumes.total("errors")).isZero();
  }

  @Test
  void aReplicaWhoseFilesAreMissingLeavesTheDevice() throws Exception {
    // The reader looks for other replicas three times, and need not rest for long in between.
    cluster = MeldCluster.builder().set("dfs.client.retry.window.base", "10").start();
    byte[] bytes = Content.write(cluster.fileSystem(), FILE, 6, FILE_BYTES);
    await().until(() -> Volumes.total("blocks_mapped") == 3);
    ExtendedBlock first = DFSTestUtil.getFirstBlock(cluster.fileSystem(), FILE);
    assertThat(cluster.hdfs().getBlockFile(0, first).delete()).isTrue();
    assertThat(cluster.hdfs().getBlockMetadataFile(0, first).delete()).isTrue();

    assertThatThrownBy(() -> Content.read(cluster.fileSystem(), FILE))
        .isInstanceOf(BlockMissingException.class);

    await().until(() -> Volumes.total("blocks_mapped") == 2);
    assertThat(Volumes.total("mapped_pages"))
        .isEqualTo((bytes.length - MeldCluster.BLOCK_BYTES + 4095) / 4096);
    assertThat(Volumes.total("errors")).isZero();
  }

  private void awaitReplicas(int count) {
    await()
        .atMost(Duration.ofMinutes(3))
        .untilAsserted(
            () ->
                assertThat(cluster.fileSystem().getFileBlockLocations(FILE, 0, Long.MAX_VALUE))
                    .extracting(BlockLocation::getHosts)
                    .allSatisfy(hosts -> assertThat(hosts).hasSize(count)));
  }
}
