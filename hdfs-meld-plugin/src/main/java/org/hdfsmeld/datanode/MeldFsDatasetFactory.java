package org.hdfsmeld.datanode;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.DataStorage;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.impl.FsDatasetFactory;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.impl.MeldFsDatasets;
import org.hdfsmeld.datanode.config.HistoryConfiguration.Automatic;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldConfigurationException;
import org.hdfsmeld.datanode.hadoop.FileIoProviderSwap;
import org.hdfsmeld.datanode.hadoop.MeldFileIoProvider;
import org.hdfsmeld.datanode.hint.NameNodeAsker;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.trace.BlockTrace;

/**
 * The entry point: {@code dfs.datanode.fsdataset.factory =
 * org.hdfsmeld.datanode.MeldFsDatasetFactory} puts a DataNode's volumes on simulated devices.
 *
 * <p>The dataset is Hadoop's own; blocks are stored as in stock HDFS.
 */
public final class MeldFsDatasetFactory extends FsDatasetSpi.Factory<FsDatasetSpi<?>> {
  /**
   * Makes the dataset; that of stock HDFS where the plugin does not link with this Hadoop.
   *
   * @throws MeldConfigurationException as of {@link MeldConfiguration#read}
   * @throws IOException as stock HDFS; also when the simulator cannot be used, or the plugin does
   *     not link, and the configuration asks for fail-fast
   */
  @Override
  public FsDatasetSpi<?> newInstance(DataNode datanode, DataStorage storage, Configuration conf)
      throws IOException {
    FsDatasetSpi.Factory<?> stock = new FsDatasetFactory();
    return StockFallback.start(
        datanode,
        conf,
        () -> simulated(datanode, storage, conf),
        () -> stock.newInstance(datanode, storage, conf));
  }

  private static FsDatasetSpi<?> simulated(
      DataNode datanode, DataStorage storage, Configuration conf) throws IOException {
    MeldConfiguration config = MeldConfiguration.read(conf);
    String uuid = String.valueOf(storage.getDatanodeUuid());
    MeldVolumes volumes =
        new MeldVolumes(
            config,
            NameNodeAsker.of(
                datanode::getConf,
                config.hints(),
                config.history().automatic() == Automatic.HISTORY,
                uuid),
            new BlockTrace(config.trace(), uuid));
    try {
      MeldFsDatasets.begin(storage, volumes);
      String problem =
          FileIoProviderSwap.install(datanode, new MeldFileIoProvider(conf, datanode, volumes));
      if (problem != null) {
        String message = "Block I/O cannot be forwarded to simulated devices: " + problem + ".";
        if (config.failFast()) {
          throw new IOException(message);
        }
        volumes.notForwarded(message);
      }
      MeldAdminService.install(datanode, conf, volumes);
      return MeldFsDatasets.newDataset(datanode, storage, conf, volumes);
    } catch (IOException | RuntimeException | LinkageError e) {
      volumes.close();
      throw e;
    }
  }
}
