package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.util.Time;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code hdfs --daemon stop datanode} is SIGTERM: what the plugin knows outlives it. */
class ITSigterm {
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES + 99_991;
  private static final Map<String, String> SETTINGS =
      Map.of(
          "dfs.datanode.fsdataset.factory", "org.hdfsmeld.datanode.MeldFsDatasetFactory",
          "dfs.datanode.meld.state.snapshot-interval", "1h",
          "dfs.blocksize", Integer.toString(MeldCluster.BLOCK_BYTES),
          "dfs.heartbeat.interval", "1");

  /** Exit code of a process that ended by SIGTERM. */
  private static final int TERMINATED = 128 + 15;

  @TempDir Path directory;

  private DataNodeProcess start(MeldCluster cluster) throws Exception {
    return start(cluster, Map.of());
  }

  private DataNodeProcess start(MeldCluster cluster, Map<String, String> more) throws Exception {
    Map<String, String> settings = new HashMap<>(SETTINGS);
    settings.putAll(more);
    long begin = Time.monotonicNow();
    DataNodeProcess process =
        DataNodeProcess.start(cluster, directory.resolve("volume"), settings, Map.of());
    // Until its first heartbeat the NameNode knows no storage to write to. The one before may be
    // known still.
    await()
        .until(
            () ->
                Arrays.stream(cluster.fileSystem().getDataNodeStats())
                    .anyMatch(
                        node -> node.getLastUpdateMonotonic() > begin && node.getRemaining() > 0));
    return process;
  }

  /** A mini cluster without DataNodes of its own would write no replica. */
  private static FileSystem client(MeldCluster cluster) throws IOException {
    Configuration conf = new Configuration(cluster.hdfs().getConfiguration(0));
    conf.setInt("dfs.replication", 1);
    return FileSystem.newInstance(cluster.hdfs().getURI(), conf);
  }

  private static org.apache.hadoop.fs.Path file(int number) {
    return new org.apache.hadoop.fs.Path("/file-" + number);
  }

  @Test
  void theStateIsExactAndTheHistoryKept() throws Exception {
    try (MeldCluster cluster =
            MeldCluster.builder()
                .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
                .dataNodes(0)
                .start();
        FileSystem files = client(cluster)) {
      Map<Integer, byte[]> contents = new HashMap<>();
      Map<String, Long> before;
      try (DataNodeProcess process = start(cluster)) {
        for (int i = 0; i < 4; i++) {
          contents.put(i, Content.write(files, file(i), i, FILE_BYTES));
          Content.assertSame(files, file(i), contents.get(i));
        }
        await().until(() -> process.counters().get("history_runs") >= 12);
        // Runs are held until the NameNode has said of which kind they are.
        await().until(() -> process.counters().get("history_entries") > 0);
        before = process.counters();
        process.terminate();
        assertThat(process.awaitEnd()).isEqualTo(TERMINATED);
      }
      try (DataNodeProcess again = start(cluster)) {
        await().until(() -> again.counters().getOrDefault("blocks_mapped", 0L) == 12);
        assertThat(again.counters())
            .containsEntry("state_restored_blocks", 12L)
            .containsEntry("state_relaid_blocks", 0L)
            .containsEntry("blocks_mapped", 12L)
            .containsEntry("mapped_pages", before.get("mapped_pages"))
            .containsEntry("melded_mapped_pages", before.get("melded_mapped_pages"))
            .containsEntry("history_entries", before.get("history_entries"))
            .containsEntry("errors", 0L);
        assertThat(before.get("history_entries")).isPositive();
        for (Map.Entry<Integer, byte[]> content : contents.entrySet()) {
          Content.assertSame(files, file(content.getKey()), content.getValue());
        }
      }
    }
  }

  /** As under load: the device has not acknowledged what was written when the DataNode ends. */
  @Test
  void aBlockThatIsOpenIsWholeAfterwards() throws Exception {
    byte[] content = Content.random(1, MeldCluster.BLOCK_BYTES - 99_991);
    Map<String, String> slow =
        Map.of("dfs.datanode.meld.mode", "real-time", "dfs.datanode.meld.time-dilation", "1000000");
    try (MeldCluster cluster = MeldCluster.builder().dataNodes(0).start();
        FileSystem files = client(cluster)) {
      DistributedFileSystem hdfs = (DistributedFileSystem) files;
      FSDataOutputStream open;
      try (DataNodeProcess process = start(cluster, slow)) {
        open = files.create(file(0));
        open.write(content);
        open.hflush();
        await().until(() -> process.counters().get("blocks_mapped") == 1);
        process.terminate();
        assertThat(process.awaitEnd()).isEqualTo(TERMINATED);
      }
      try (DataNodeProcess again = start(cluster)) {
        await().until(() -> hdfs.recoverLease(file(0)));
        Content.assertSame(files, file(0), content);
        assertThat(again.counters())
            .containsEntry("state_relaid_blocks", 1L)
            .containsEntry("unmapped_page_reads", 0L)
            .containsEntry("errors", 0L);
      }
      assertThatThrownBy(open::close).isInstanceOf(IOException.class);
    }
  }
}
