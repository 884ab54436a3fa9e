package org.hdfsmeld.demo.placement;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.VolumeChoosingPolicy;
import org.apache.hadoop.util.DiskChecker.DiskOutOfSpaceException;

/**
 * The naive hierarchy: every block goes to the first volume of {@code dfs.datanode.data.dir} that
 * has room, whatever it will be used for.
 *
 * @param <V> a volume
 */
public final class FirstVolumeChoosingPolicy<V extends FsVolumeSpi>
    implements VolumeChoosingPolicy<V> {
  @Override
  public V chooseVolume(List<V> volumes, long replicaSize, String storageId) throws IOException {
    // Hadoop's list is in no order; volumes are numbered in their paths.
    List<V> ordered =
        volumes.stream().sorted((a, b) -> a.getBaseURI().compareTo(b.getBaseURI())).toList();
    for (V volume : ordered) {
      if (volume.getAvailable() > replicaSize) {
        return volume;
      }
    }
    throw new DiskOutOfSpaceException("no volume has room for " + replicaSize + " bytes");
  }
}
