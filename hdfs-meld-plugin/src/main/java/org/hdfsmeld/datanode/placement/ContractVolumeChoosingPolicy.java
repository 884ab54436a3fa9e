package org.hdfsmeld.datanode.placement;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.RoundRobinVolumeChoosingPolicy;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.VolumeChoosingPolicy;
import org.apache.hadoop.util.ReflectionUtils;
import org.hdfsmeld.datanode.config.PlacementConfiguration;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.datanode.volume.SimulatedDataset;

/**
 * Divides new blocks between the Optane and the NAND volumes of a DataNode by how they will be
 * read, after the contract of Wu et al. (HotStorage'19): {@code
 * dfs.datanode.fsdataset.volume.choosing.policy = this}.
 *
 * <ul>
 *   <li>Blocks read at random, and small ones, go to Optane, which serves small requests fastest
 *       (rules 1 and 2), while it has little outstanding; past that NAND is as fast (rule 4).
 *   <li>All others go to NAND, where they are melded.
 *   <li>What has no room where it belongs goes where there is room. A part of Optane is kept for
 *       what belongs there, until nothing else is left.
 * </ul>
 *
 * <p>Among volumes of one kind, and where there is only one kind, Hadoop's round-robin policy
 * chooses. It has the last word too, over all volumes: no write fails that a volume could take.
 *
 * @param <V> a volume
 */
public final class ContractVolumeChoosingPolicy<V extends FsVolumeSpi>
    implements VolumeChoosingPolicy<V>, Configurable {
  // One for each list of volumes: their turns are by place in the list.
  private final RoundRobinVolumeChoosingPolicy<V> amongAll = new RoundRobinVolumeChoosingPolicy<>();
  private final RoundRobinVolumeChoosingPolicy<V> amongOptane =
      new RoundRobinVolumeChoosingPolicy<>();
  private final RoundRobinVolumeChoosingPolicy<V> amongNand =
      new RoundRobinVolumeChoosingPolicy<>();
  private Configuration conf;

  @Override
  public void setConf(Configuration conf) {
    this.conf = conf;
    // That of 3.3 is not Configurable.
    ReflectionUtils.setConf(amongAll, conf);
    ReflectionUtils.setConf(amongOptane, conf);
    ReflectionUtils.setConf(amongNand, conf);
  }

  @Override
  public Configuration getConf() {
    return conf;
  }

  @Override
  public V chooseVolume(List<V> volumes, long replicaSize, String storageId) throws IOException {
    MeldVolumes simulated = simulated(volumes);
    List<V> optane = new ArrayList<>();
    List<V> nand = new ArrayList<>();
    for (V volume : volumes) {
      (simulated != null && simulated.isOptane(volume) ? optane : nand).add(volume);
    }
    if (optane.isEmpty() || nand.isEmpty()) {
      return amongAll.chooseVolume(volumes, replicaSize, storageId);
    }
    PlacementConfiguration rules = simulated.config().placement();
    VolumeCounter wish = wish(simulated, replicaSize, rules);
    VolumeCounter reason = wish;
    V chosen;
    if (wish == VolumeCounter.PLACED_SEQUENTIAL) {
      chosen = choose(amongNand, nand, replicaSize, storageId);
      if (chosen == null) {
        reason = VolumeCounter.PLACED_SPACE_OVERFLOW;
        List<V> unreserved = withRoom(optane, replicaSize, rules.reservedBytes());
        chosen = choose(amongOptane, unreserved, replicaSize, storageId);
      }
    } else {
      List<V> roomy = withRoom(optane, replicaSize, 0);
      long most = rules.maxOutstandingBytes();
      List<V> idle =
          roomy.stream().filter(volume -> simulated.outstandingBytes(volume) <= most).toList();
      chosen = choose(amongOptane, idle, replicaSize, storageId);
      if (chosen == null) {
        boolean busy = idle.size() < roomy.size();
        reason = busy ? VolumeCounter.PLACED_LOAD_OVERFLOW : VolumeCounter.PLACED_SPACE_OVERFLOW;
        chosen = choose(amongNand, nand, replicaSize, storageId);
      }
    }
    if (chosen == null) {
      reason = VolumeCounter.PLACED_SPACE_OVERFLOW;
      chosen = amongAll.chooseVolume(volumes, replicaSize, storageId);
    }
    simulated.placed(chosen, reason);
    return chosen;
  }

  private static VolumeCounter wish(
      MeldVolumes simulated, long replicaSize, PlacementConfiguration rules) {
    return switch (simulated.newBlockPattern()) {
      case RANDOM -> VolumeCounter.PLACED_RANDOM;
      case SEQUENTIAL -> VolumeCounter.PLACED_SEQUENTIAL;
      case NONE, AUTO, UNKNOWN -> {
        long known = simulated.newBlockBytes();
        long expected = known > 0 ? known : replicaSize;
        yield expected <= rules.smallBytes()
            ? VolumeCounter.PLACED_SMALL
            : VolumeCounter.PLACED_SEQUENTIAL;
      }
    };
  }

  /** One of the volumes, or null when none has room. */
  private V choose(
      VolumeChoosingPolicy<V> policy, List<V> volumes, long replicaSize, String storageId) {
    List<V> roomy = withRoom(volumes, replicaSize, 0);
    if (roomy.isEmpty()) {
      return null;
    }
    try {
      return policy.chooseVolume(roomy, replicaSize, storageId);
    } catch (IOException e) {
      // The room was taken in between, or a volume fails: the choice over all volumes says so.
      return null;
    }
  }

  private List<V> withRoom(List<V> volumes, long replicaSize, long reserved) {
    return volumes.stream()
        .filter(volume -> available(volume) - reserved >= Math.max(1, replicaSize))
        .toList();
  }

  /** Bytes that new blocks can take, less those promised to blocks being written. */
  private long available(V volume) {
    try {
      return volume.getAvailable();
    } catch (IOException e) {
      // Not a candidate; Hadoop's own checks look after volumes that fail.
      return Long.MIN_VALUE / 2;
    }
  }

  private MeldVolumes simulated(List<V> volumes) {
    return !volumes.isEmpty() && volumes.get(0).getDataset() instanceof SimulatedDataset dataset
        ? dataset.simulated()
        : null;
  }
}
