package org.apache.hadoop.hdfs.server.datanode.fsdataset.impl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.common.Storage;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.DataStorage;
import org.apache.hadoop.hdfs.server.datanode.StorageLocation;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.sim.FakeDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The dataset's part of volumes that come and go, at moments that a cluster seldom has. */
class ITMeldFsDataset {
  @TempDir Path dir;
  private MiniDFSCluster cluster;
  private Stale dataset;

  /** Makes the dataset of this test. */
  public static final class Factory extends FsDatasetSpi.Factory<FsDatasetSpi<?>> {
    @Override
    public FsDatasetSpi<?> newInstance(DataNode datanode, DataStorage storage, Configuration conf)
        throws IOException {
      MeldVolumes volumes = FakeDevice.volumes(MeldConfiguration.read(conf), FakeDevice::new);
      MeldFsDatasets.begin(storage, volumes);
      return new Stale(datanode, storage, conf, volumes);
    }
  }

  /** Its list of volumes may be as it was a moment before. */
  private static final class Stale extends MeldFsDataset {
    private volatile FsVolumeImpl before;

    Stale(DataNode datanode, DataStorage storage, Configuration conf, MeldVolumes simulated)
        throws IOException {
      super(datanode, storage, conf, simulated);
    }

    @Override
    public List<FsVolumeImpl> getVolumeList() {
      List<FsVolumeImpl> volumes = new ArrayList<>(super.getVolumeList());
      if (before != null) {
        volumes.add(before);
      }
      return volumes;
    }
  }

  @BeforeEach
  void start() throws IOException {
    Configuration conf = new HdfsConfiguration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, dir.toString());
    conf.set("dfs.datanode.fsdataset.factory", Factory.class.getName());
    conf.set("dfs.datanode.failed.volumes.tolerated", "1");
    cluster = new MiniDFSCluster.Builder(conf).numDataNodes(1).build();
    cluster.waitActive();
    dataset = (Stale) cluster.getDataNodes().get(0).getFSDataset();
  }

  @AfterEach
  void stop() {
    cluster.shutdown();
  }

  @Test
  void aVolumeThatFailsWhileAnotherIsAddedStaysOut() throws Exception {
    FsVolumeImpl failed = dataset.getVolumeList().get(1);
    Path added = Files.createDirectories(dir.resolve("added"));
    dataset.handleVolumeFailures(Set.of(failed));
    assertThat(dataset.simulated().of(failed)).isNull();
    // What the thread that adds a volume has read before the failure.
    dataset.before = failed;
    dataset.addVolume(
        StorageLocation.parse(added.toUri().toString()),
        List.of(cluster.getNameNodeRpc().versionRequest()));
    assertThat(dataset.simulated().of(failed)).isNull();
    assertThat(dataset.simulated().holding(added.resolve("current/BP-1/blk_1").toFile()))
        .isNotNull();
  }

  /** As a later Hadoop may do. */
  @Test
  void aVolumeCanBeMadeWhileTheSuperclassIs() throws Exception {
    Field simulated = MeldFsDataset.class.getDeclaredField("simulated");
    simulated.setAccessible(true);
    Object present = simulated.get(dataset);
    StorageLocation location = StorageLocation.parse(dir.resolve("early").toUri().toString());
    Storage.StorageDirectory folder = new Storage.StorageDirectory(location);
    Files.createDirectories(dir.resolve("early/current"));
    simulated.set(dataset, null);
    try {
      dataset.createFsVolume("DS-early", folder, location).shutdown();
    } finally {
      simulated.set(dataset, present);
    }
  }
}
