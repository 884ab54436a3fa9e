package org.hdfsmeld.demo.cluster;

import java.io.File;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.hdfsmeld.demo.process.Workspace;

/** One NameNode and some DataNodes in this JVM, simulated volumes under each. */
public final class EmbeddedCluster implements AutoCloseable {
  private static final long LARGEST_REQUEST = 1 << 20;
  private static final String SLOW_IO_CLIENT_KEY = "dfs.client.slow.io.warning.threshold.ms";
  private static final String FACTORY = "org.hdfsmeld.datanode.MeldFsDatasetFactory";

  private final MiniDFSCluster cluster;

  private EmbeddedCluster(MiniDFSCluster cluster) {
    this.cluster = cluster;
  }

  /**
   * Starts one and waits until its DataNodes are there.
   *
   * @param directory for all its data
   * @param volumes of each DataNode
   */
  public static EmbeddedCluster start(
      Configuration conf, File directory, int dataNodes, int volumes) throws IOException {
    MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(conf, directory)
            .numDataNodes(dataNodes)
            .storagesPerDatanode(volumes)
            .checkExitOnShutdown(false)
            .build();
    cluster.waitActive();
    return new EmbeddedCluster(cluster);
  }

  /** A client of it. */
  public FileSystem fileSystem() throws IOException {
    return cluster.getFileSystem();
  }

  /** What a client of this cluster must set. */
  public Map<String, String> clientConfiguration() {
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

  /** Stops it and deletes its data. */
  public void delete() {
    cluster.shutdown(true);
  }

  /** What every embedded cluster has in common: the plugin, in account mode, and no replicas. */
  public static Configuration configuration(Workspace workspace, long blockSize, long window) {
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
