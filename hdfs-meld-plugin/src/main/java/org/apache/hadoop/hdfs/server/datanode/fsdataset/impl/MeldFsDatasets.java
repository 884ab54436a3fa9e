package org.apache.hadoop.hdfs.server.datanode.fsdataset.impl;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.DataStorage;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes datasets, whose class is visible only here. */
public final class MeldFsDatasets {
  private static final Logger LOG = LoggerFactory.getLogger(MeldFsDatasets.class);

  private MeldFsDatasets() {}

  /** Builds a dataset that keeps the simulated volumes in step; throws as {@code FsDatasetImpl}. */
  public static FsDatasetSpi<?> newDataset(
      DataNode datanode, DataStorage storage, Configuration conf, MeldVolumes volumes)
      throws IOException {
    // Metrics2 asks for them while the dataset is half built: what is missing shows here, before.
    int methods = MeldFsDataset.class.getDeclaredMethods().length;
    LOG.debug("{} methods of the dataset link", methods);
    return new MeldFsDataset(datanode, storage, conf, volumes);
  }
}
