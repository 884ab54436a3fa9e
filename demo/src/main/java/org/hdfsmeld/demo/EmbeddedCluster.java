package org.hdfsmeld.demo;

import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** One NameNode and some DataNodes in this JVM, one simulated volume each. */
final class EmbeddedCluster implements AutoCloseable {
  static final int DATA_NODES = 3;
  private static final long LARGEST_REQUEST = 1 << 20;
  private static final String SLOW_IO_CLIENT_KEY = "dfs.client.slow.io.warning.threshold.ms";
  private static final String FACTORY = "org.hdfsmeld.datanode.MeldFsDatasetFactory";

  private final MiniDFSCluster cluster;

  private EmbeddedCluster(MiniDFSCluster cluster) {
    this.cluster = cluster;
  }

  static EmbeddedCluster start(Settings settings, Workspace workspace) throws IOException {
    Configuration conf = configuration(settings, workspace);
    MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(conf, workspace.resolve("hdfs").toFile())
            .numDataNodes(DATA_NODES)
            .storagesPerDatanode(1)
            .checkExitOnShutdown(false)
            .build();
    cluster.waitActive();
    return new EmbeddedCluster(cluster);
  }

  /**
   * Returns when each device has programmed all it was given: an hsync of a file on each volume
   * becomes a flush of its device. Else a scan would compete with writes that HDFS has long
   * acknowledged, and read what is still in the devices' write buffers.
   */
  void flushDevices() throws IOException {
    FileSystem fs = cluster.getFileSystem();
    for (int node = 0; node < DATA_NODES; node++) {
      Path file = new Path("/flush/part-" + node);
      try (FSDataOutputStream out = fs.create(file, true)) {
        out.write(0);
        out.hsync();
      }
    }
    fs.delete(new Path("/flush"), true);
  }

  /** What a client of this cluster must set. */
  Map<String, String> clientConfiguration() {
    Configuration conf = cluster.getConfiguration(0);
    return Map.of(
        "fs.defaultFS",
        cluster.getURI().toString(),
        DFSConfigKeys.DFS_REPLICATION_KEY,
        conf.get(DFSConfigKeys.DFS_REPLICATION_KEY),
        DFSConfigKeys.DFS_BLOCK_SIZE_KEY,
        conf.get(DFSConfigKeys.DFS_BLOCK_SIZE_KEY),
        SLOW_IO_CLIENT_KEY,
        conf.get(SLOW_IO_CLIENT_KEY));
  }

  @Override
  public void close() {
    cluster.shutdown();
  }

  private static Configuration configuration(Settings settings, Workspace workspace) {
    Configuration conf = configuration(workspace, settings.blockSize(), settings.window());
    conf.set("dfs.datanode.meld.profile", settings.profile());
    conf.set("dfs.datanode.meld.readahead.mode", settings.windowMode().name());
    // This JVM has no native library; the DataNodes that the demo stands for do.
    conf.setBoolean("dfs.datanode.meld.readahead.linux.fadvise", true);
    conf.setClass(
        DFSConfigKeys.DFS_BLOCK_REPLICATOR_CLASSNAME_KEY,
        PartFilePlacementPolicy.class,
        PartFilePlacementPolicy.class.getSuperclass().getSuperclass());
    // Else a busy DataNode is passed over, whatever the policy says.
    conf.setBoolean(DFSConfigKeys.DFS_NAMENODE_REDUNDANCY_CONSIDERLOAD_KEY, false);
    return conf;
  }

  /** What every embedded cluster has in common: the plugin, in account mode, and no replicas. */
  static Configuration configuration(Workspace workspace, long blockSize, long window) {
    Configuration conf = new Configuration();
    conf.set("hadoop.tmp.dir", workspace.temporary().toString());
    conf.setInt(DFSConfigKeys.DFS_REPLICATION_KEY, 1);
    conf.setLong(DFSConfigKeys.DFS_BLOCK_SIZE_KEY, blockSize);
    conf.setLong(DFSConfigKeys.DFS_NAMENODE_MIN_BLOCK_SIZE_KEY, 0);

    conf.set(DFSConfigKeys.DFS_DATANODE_FSDATASET_FACTORY_KEY, FACTORY);
    conf.set("dfs.datanode.meld.mode", "account");
    conf.setLong("dfs.datanode.meld.readahead.window", window);
    conf.setLong("dfs.datanode.meld.readahead.request", Math.min(window, LARGEST_REQUEST));

    // The block scanner would read what nobody asked for; a slowed device is slow on purpose.
    conf.setLong(DFSConfigKeys.DFS_BLOCK_SCANNER_VOLUME_BYTES_PER_SECOND, 0);
    conf.setLong(DFSConfigKeys.DFS_DATANODE_SLOW_IO_WARNING_THRESHOLD_KEY, 60_000);
    conf.setLong(SLOW_IO_CLIENT_KEY, 60_000);
    return conf;
  }
}
