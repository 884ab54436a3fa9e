package org.hdfsmeld.soak;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.datanode.volume.SimulatedDataset;
import org.hdfsmeld.model.BlockKey;

/** In what a device and its disk differ: for whoever reads why a soak has failed. */
final class Difference {
  /** HDFS numbers blocks upwards from here. */
  private static final long FIRST_BLOCK = 1L << 30;

  private Difference() {}

  /** A line for each block of which the device has other pages than the disk. */
  static List<String> of(MiniDFSCluster cluster) throws IOException {
    String pool = cluster.getNamesystem().getBlockPoolId();
    long last =
        cluster
            .getNamesystem()
            .getBlockManager()
            .getBlockIdManager()
            .getLastAllocatedContiguousBlockId();
    List<String> lines = new ArrayList<>();
    for (DataNode dataNode : cluster.getDataNodes()) {
      FsDatasetSpi<?> dataset = dataNode.getFSDataset();
      MeldVolumes simulated = ((SimulatedDataset) dataset).simulated();
      try (FsDatasetSpi.FsVolumeReferences volumes = dataset.getFsVolumeReferences()) {
        for (FsVolumeSpi volume : volumes) {
          Path root = Path.of(volume.getBaseURI());
          Map<Long, Long> disk = Replicas.on(root, Soak.PAGE_BYTES).pagesByBlock();
          for (long id = FIRST_BLOCK; id <= last; id++) {
            long device = simulated.layout(new BlockKey(pool, id)).mappedPages();
            long onDisk = disk.getOrDefault(id, 0L);
            if (device != onDisk) {
              lines.add(
                  root.getFileName()
                      + ": block "
                      + id
                      + ": device "
                      + device
                      + " pages, disk "
                      + onDisk
                      + "; HDFS has "
                      + dataset.getReplicaString(pool, id));
            }
          }
        }
      }
    }
    return lines;
  }
}
