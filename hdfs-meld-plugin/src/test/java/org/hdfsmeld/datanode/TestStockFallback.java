package org.hdfsmeld.datanode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.FileIoProvider;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.util.VersionInfo;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.hadoop.FileIoProviderSwap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TestStockFallback {
  private final DataNode datanode = mock(DataNode.class);
  private final FileIoProvider provider = new FileIoProvider(null, null);
  private final FsDatasetSpi<?> simulated = mock(FsDatasetSpi.class);
  private final FsDatasetSpi<?> stock = mock(FsDatasetSpi.class);
  private final Configuration conf = new Configuration(false);

  @BeforeEach
  void start() {
    when(datanode.getFileIoProvider()).thenCallRealMethod();
    assertThat(FileIoProviderSwap.install(datanode, provider)).isNull();
  }

  /** A start that gets as far as another provider of file I/O. */
  private FsDatasetSpi<?> unlinked() {
    FileIoProviderSwap.install(datanode, new FileIoProvider(null, null));
    conf.set("dfs.datanode.ram.disk.replica.tracker", "of.the.plugin");
    throw new NoSuchMethodError("'void of.a.later.Hadoop()'");
  }

  @Test
  void whatLinksStarts() throws IOException {
    assertThat(StockFallback.start(datanode, conf, () -> simulated, () -> stock))
        .isSameAs(simulated);
  }

  @Test
  void whatDoesNotLinkLeavesAStockDataNode() throws IOException {
    assertThat(StockFallback.start(datanode, conf, this::unlinked, () -> stock)).isSameAs(stock);
    assertThat(datanode.getFileIoProvider()).isSameAs(provider);
    assertThat(conf.get("dfs.datanode.ram.disk.replica.tracker")).isNull();
  }

  /** The metrics of a process take a name once. */
  @Test
  void theNameInTheMetricsOfADatasetThatWasBegunIsFree() throws IOException {
    boolean miniCluster = DefaultMetricsSystem.inMiniClusterMode();
    DefaultMetricsSystem.setMiniClusterMode(false);
    MetricsSystem metrics = DefaultMetricsSystem.initialize("test");
    MetricsSource state = (collector, all) -> {};
    try {
      FsDatasetSpi<?> started =
          StockFallback.start(
              datanode,
              conf,
              () -> {
                metrics.register("FSDatasetState", "of the first", state);
                return unlinked();
              },
              () -> {
                metrics.register("FSDatasetState", "of the second", state);
                return stock;
              });
      assertThat(started).isSameAs(stock);
    } finally {
      metrics.shutdown();
      DefaultMetricsSystem.setMiniClusterMode(miniCluster);
    }
  }

  @Test
  void failFastNamesTheMissingMemberAndTheHadoop() {
    conf.set(MeldKeys.FAIL_FAST, "true");
    assertThatThrownBy(() -> StockFallback.start(datanode, conf, this::unlinked, () -> stock))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("'void of.a.later.Hadoop()'")
        .hasMessageContaining(VersionInfo.getBuildVersion())
        .hasMessageContaining("dfs.datanode.fsdataset.factory");
  }

  @Test
  void otherFailuresAreTheirOwn() {
    IOException refused = new IOException("refused");
    assertThatThrownBy(
            () ->
                StockFallback.start(
                    datanode,
                    conf,
                    () -> {
                      throw refused;
                    },
                    () -> stock))
        .isSameAs(refused);
  }
}
