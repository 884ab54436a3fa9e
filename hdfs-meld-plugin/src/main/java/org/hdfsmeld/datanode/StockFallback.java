package org.hdfsmeld.datanode;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.FileIoProvider;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.util.VersionInfo;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.hadoop.FileIoProviderSwap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A stock DataNode where the one with the plugin cannot start because this Hadoop lacks a class or
 * a member that the plugin uses: many are not public interfaces, and vendors change them too.
 */
final class StockFallback {
  private static final Logger LOG = LoggerFactory.getLogger(StockFallback.class);

  /** What every dataset registers itself as, and none takes back. */
  private static final String METRICS_SOURCE = "FSDatasetState";

  /** What the plugin's dataset sets, with a class of its own. */
  private static final String TRACKER = DFSConfigKeys.DFS_DATANODE_RAM_DISK_REPLICA_TRACKER_KEY;

  /** Builds a dataset. The plugin's own: what this class needs of Hadoop must be there. */
  @FunctionalInterface
  interface Start {
    FsDatasetSpi<?> dataset() throws IOException;
  }

  private StockFallback() {}

  /**
   * The first dataset, or the second where the first does not link.
   *
   * @throws IOException as the datasets; also when the first does not link and the configuration
   *     asks for fail-fast
   */
  static FsDatasetSpi<?> start(DataNode datanode, Configuration conf, Start simulated, Start stock)
      throws IOException {
    FileIoProvider provider = datanode.getFileIoProvider();
    boolean tracked = conf.get(TRACKER) != null;
    try {
      return simulated.dataset();
    } catch (LinkageError e) {
      String message =
          ("Hadoop %s lacks what hdfs-meld needs: %s; use the plugin's jar with classifier \"all\" and"
                  + " a version of Hadoop that hdfs-meld supports, or remove"
                  + " dfs.datanode.fsdataset.factory.")
              .formatted(VersionInfo.getBuildVersion(), e);
      // Read here: the configuration's own class may be what does not link.
      if (conf.getBoolean(MeldKeys.FAIL_FAST, false)) {
        throw new IOException(message, e);
      }
      LOG.error("{} HDFS goes on without simulation.", message, e);
      FileIoProviderSwap.install(datanode, provider);
      if (!tracked) {
        conf.unset(TRACKER);
      }
      DefaultMetricsSystem.instance().unregisterSource(METRICS_SOURCE);
      return stock.dataset();
    }
  }
}
