package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The wall clock of a DataNode's host jumps, while it works and between two starts. */
class ITClock {
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES + 99_991;
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Map<String, String> SETTINGS =
      Map.of(
          "dfs.datanode.fsdataset.factory", "org.hdfsmeld.datanode.MeldFsDatasetFactory",
          "dfs.datanode.meld.state.snapshot-interval", "1s",
          "dfs.datanode.meld.hint.automatic", "history",
          "dfs.blocksize", Integer.toString(MeldCluster.BLOCK_BYTES),
          "dfs.heartbeat.interval", "1");

  @TempDir Path directory;

  private final List<byte[]> written = new ArrayList<>();

  private static org.apache.hadoop.fs.Path file(int number) {
    return new org.apache.hadoop.fs.Path("/file-" + number);
  }

  /** Another one than the one before, which the NameNode need not have missed yet. */
  private DataNodeProcess start(MeldCluster cluster, HostFaults faults) throws Exception {
    Path volume = directory.resolve("volume");
    String before = address(cluster.fileSystem());
    DataNodeProcess process =
        DataNodeProcess.start(cluster, volume, SETTINGS, faults.environment());
    await()
        .atMost(PATIENCE)
        .until(() -> address(cluster.fileSystem()), now -> !now.isEmpty() && !now.equals(before));
    return process;
  }

  /** A mini cluster writes no more replicas than it has DataNodes of its own. */
  private static DistributedFileSystem oneReplica(MeldCluster cluster) throws IOException {
    Configuration conf = new Configuration(cluster.hdfs().getConfiguration(0));
    conf.setInt("dfs.replication", 1);
    return (DistributedFileSystem) FileSystem.newInstance(cluster.hdfs().getURI(), conf);
  }

  /** Of the DataNode, or "" where there is none. */
  private static String address(DistributedFileSystem hdfs) throws IOException {
    return Stream.of(hdfs.getDataNodeStats(DatanodeReportType.LIVE))
        .map(DatanodeInfo::getXferAddr)
        .findFirst()
        .orElse("");
  }

  /** Writes, appends and reads: everything there is, on the process. */
  private void work(DistributedFileSystem hdfs) throws Exception {
    int number = written.size();
    byte[] content = Content.write(hdfs, file(number), number, FILE_BYTES);
    byte[] more = Content.random(1000 + number, 70_001);
    try (FSDataOutputStream out = hdfs.append(file(number))) {
      out.write(more);
    }
    written.add(Content.concat(content, more));
    for (int i = 0; i < written.size(); i++) {
      Content.assertSame(hdfs, file(i), written.get(i));
    }
  }

  private static void assertUndisturbed(Map<String, Long> counters, int days) {
    long ahead = counters.get(DataNodeProcess.WALL_CLOCK) - System.currentTimeMillis();
    assertThat(Duration.ofMillis(ahead)).isCloseTo(Duration.ofDays(days), Duration.ofHours(1));
    assertThat(counters)
        .containsEntry("errors", 0L)
        .containsEntry("fallbacks", 0L)
        .containsEntry("timeouts", 0L)
        .containsEntry("state_errors", 0L)
        .containsEntry("state_rejected", 0L)
        .containsEntry("unmapped_page_reads", 0L);
  }

  @Test
  void jumpsDisturbNothing() throws Exception {
    HostFaults faults = HostFaults.in(directory);
    try (MeldCluster cluster = MeldCluster.builder().dataNodes(0).start();
        DistributedFileSystem hdfs = oneReplica(cluster)) {
      Map<String, Long> before = new HashMap<>();
      try (DataNodeProcess process = start(cluster, faults)) {
        for (int days : List.of(0, 400, -400, 1, -1)) {
          faults.setClock(Duration.ofDays(days));
          long commands = before.getOrDefault("write_commands", 0L);
          long snapshots = before.getOrDefault("state_snapshots", 0L);
          work(hdfs);
          await()
              .atMost(PATIENCE)
              .until(() -> process.counters().get("state_snapshots") > snapshots);
          before = process.counters();
          assertUndisturbed(before, days);
          assertThat(before.get("write_commands")).as("%d days off", days).isGreaterThan(commands);
        }
      }
      for (int days : List.of(400, -400)) {
        faults.setClock(Duration.ofDays(days));
        try (DataNodeProcess again = start(cluster, faults)) {
          awaitBlocks(hdfs);
          work(hdfs);
          Map<String, Long> counters = again.counters();
          assertUndisturbed(counters, days);
          assertThat(counters.get("state_restored_blocks")).as("%d days off", days).isPositive();
        }
      }
    }
  }

  private void awaitBlocks(DistributedFileSystem hdfs) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              for (int i = 0; i < written.size(); i++) {
                assertThat(hdfs.getFileBlockLocations(file(i), 0, Long.MAX_VALUE))
                    .extracting(BlockLocation::getNames)
                    .allSatisfy(names -> assertThat(names).hasSize(1));
              }
            });
  }
}
