package org.apache.hadoop.hdfs.server.datanode.fsdataset.impl;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.LogEvents;
import org.junit.jupiter.api.Test;

/** Who tracks replicas in memory, and how long the end of a DataNode may take. */
class TestMeldFsDataset {
  private static final String KEY = "dfs.datanode.ram.disk.replica.tracker";
  private final Configuration conf = new Configuration(false);

  /** A copy would miss what the DataNode is told by -reconfig. */
  @Test
  void itIsSetInTheDataNodesOwnConfiguration() {
    conf.set(KEY, " ");
    try (LogEvents log = new LogEvents(FsDatasetImpl.class)) {
      assertThat(MeldFsDataset.tracked(MeldFsDataset.tracked(conf))).isSameAs(conf);
      assertThat(log.list()).isEmpty();
    }
    assertThat(conf.getClass(KEY, null)).isEqualTo(MeldRamDiskReplicaTracker.class);
  }

  @Test
  void theEndComesBeforeHadoopKills() {
    assertThat(MeldFsDataset.stopNs(null)).isEqualTo(4_000_000_000L);
    assertThat(MeldFsDataset.stopNs("60")).isEqualTo(59_000_000_000L);
    assertThat(MeldFsDataset.stopNs("1")).isEqualTo(1_000_000_000L);
    assertThat(MeldFsDataset.stopNs("soon")).isEqualTo(4_000_000_000L);
  }

  @Test
  void anotherThatIsChosenIsSaid() {
    conf.set(KEY, "org.acme.Tracker");
    try (LogEvents log = new LogEvents(FsDatasetImpl.class)) {
      MeldFsDataset.tracked(conf);
      assertThat(log.list())
          .singleElement()
          .satisfies(
              event ->
                  assertThat(event.getMessage().getFormattedMessage())
                      .contains(KEY, "org.acme.Tracker", "Remove the key"));
    }
    assertThat(conf.get(KEY)).isEqualTo("org.acme.Tracker");
  }
}
