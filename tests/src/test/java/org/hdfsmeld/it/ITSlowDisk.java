package org.hdfsmeld.it;

import static org.apache.hadoop.hdfs.server.protocol.SlowDiskReports.DiskOp.READ;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.util.Comparator;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HDFS's own detection of slow disks sees a slow simulated device. */
class ITSlowDisk {
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES;
  private static final int SLOW = 1;

  @TempDir Path directory;

  @Test
  void aSlowDeviceIsReported() throws Exception {
    String fast = Profiles.write(directory, 8, 2, 64, "");
    String slow = Profiles.write(directory, 1, 1, 64, "");
    try (MeldCluster cluster =
        MeldCluster.builder()
            .volumes(fast, slow, fast)
            .set("dfs.datanode.fileio.profiling.sampling.percentage", "100")
            .set("dfs.datanode.outliers.report.interval", "1s")
            .set("dfs.datanode.min.outlier.detection.disks", "2")
            .set("dfs.datanode.slowdisk.low.threshold.ms", "5")
            .set(
                "dfs.datanode.fsdataset.volume.choosing.policy",
                NumberedVolumeChoosingPolicy.class.getName())
            .meld("hint.full-block-sequential", "false")
            .meld("time-dilation", "30")
            .start()) {
      DataNode dataNode = cluster.hdfs().getDataNodes().get(0);
      for (int volume = 0; volume < 3; volume++) {
        NumberedVolumeChoosingPolicy.choose(volume);
        Content.write(cluster.fileSystem(), file(volume), volume, FILE_BYTES);
      }
      Volumes.setAll("Mode", "real-time");
      String folder = "data" + (SLOW + 1);
      // A disk of a busy machine may be slow itself; but not as slow.
      await()
          .until(
              () -> {
                for (int volume = 0; volume < 3; volume++) {
                  Content.read(cluster.fileSystem(), file(volume));
                }
                return dataNode.getDiskMetrics().getDiskOutliersStats().entrySet().stream()
                    .max(Comparator.comparing(disk -> disk.getValue().getOrDefault(READ, 0.0)))
                    .filter(disk -> disk.getValue().containsKey(READ))
                    .filter(disk -> disk.getKey().contains(folder))
                    .isPresent();
              });
    }
  }

  private static org.apache.hadoop.fs.Path file(int number) {
    return new org.apache.hadoop.fs.Path("/file-" + number);
  }
}
