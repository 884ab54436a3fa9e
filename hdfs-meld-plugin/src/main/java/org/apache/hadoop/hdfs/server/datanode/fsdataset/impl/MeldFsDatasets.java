package org.apache.hadoop.hdfs.server.datanode.fsdataset.impl;

import java.io.File;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.common.Storage;
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

  /** Begins to open the devices of the dataset's volumes: who adds a block pool waits for them. */
  public static void begin(DataStorage storage, MeldVolumes volumes) {
    Map<String, File> folders = new LinkedHashMap<>();
    for (Storage.StorageDirectory folder : storage.getStorageDirs()) {
      if (MeldFsDataset.hasDevice(folder.getStorageLocation().getStorageType())) {
        folders.put(folder.getStorageUuid(), folder.getCurrentDir());
      }
    }
    volumes.beginAll(folders);
  }

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
