package org.hdfsmeld.it;

import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.VolumeChoosingPolicy;

/**
 * New blocks go to the volume that the test names, counted in the order of the volumes' paths.
 *
 * @param <V> a volume
 */
public final class NumberedVolumeChoosingPolicy<V extends FsVolumeSpi>
    implements VolumeChoosingPolicy<V> {
  private static volatile int number;

  static void choose(int volume) {
    number = volume;
  }

  @Override
  public V chooseVolume(List<V> volumes, long replicaSize, String storageId) {
    return volumes.stream()
        .sorted(Comparator.comparing(FsVolumeSpi::getBaseURI))
        .toList()
        .get(number % volumes.size());
  }
}
