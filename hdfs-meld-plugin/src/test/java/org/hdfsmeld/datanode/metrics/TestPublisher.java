package org.hdfsmeld.datanode.metrics;

import static org.apache.hadoop.test.MetricsAsserts.assertGauge;
import static org.apache.hadoop.test.MetricsAsserts.getLongCounter;
import static org.apache.hadoop.test.MetricsAsserts.getMetrics;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.Map;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.SimStats;
import org.junit.jupiter.api.Test;

class TestPublisher {
  private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

  @Test
  void aVolumeIsVisibleWhileItIsThere() throws Exception {
    ObjectName name = new ObjectName("Hadoop:service=DataNode,name=MeldVolume-DS-77");
    for (int round = 0; round < 2; round++) {
      try (MeldVolumes volumes =
          FakeDevice.volumes(MeldConfiguration.read(new Configuration()), FakeDevice::new)) {
        volumes.add("DS-77", new File("/data/77/current"));

        MeldVolumeMXBean bean = JMX.newMXBeanProxy(server, name, MeldVolumeMXBean.class);
        assertThat(bean.getVolume()).isEqualTo("/data/77");
        assertThat(bean.getProfile()).isEqualTo("melded-tlc-8x8");
        assertThat(bean.getMode()).isEqualTo("account");
        assertThat(bean.isHealthy()).isTrue();
        assertThat(bean.isHintFullBlockSequential()).isTrue();
        Map<String, Long> counters = bean.getCounters();
        assertThat(counters.keySet()).containsAll(SimStats.NAMES).contains("blocks_mapped");

        MetricsRecordBuilder record = getMetrics("MeldVolumeMetrics-DS-77");
        assertGauge("healthy", 1, record);
        assertThat(getLongCounter("forwarded_reads", record)).isZero();
      }
      assertThat(server.isRegistered(name)).isFalse();
      assertThat(DefaultMetricsSystem.instance().getSource("MeldVolumeMetrics-DS-77")).isNull();
    }
  }

  @Test
  void aSecondVolumeOfThatNameTakesItOver() throws Exception {
    DefaultMetricsSystem.initialize("DataNode");
    MeldConfiguration config = MeldConfiguration.read(new Configuration());
    try (MeldVolumes left = FakeDevice.volumes(config, FakeDevice::new);
        MeldVolumes restarted = FakeDevice.volumes(config, FakeDevice::new)) {
      left.add("DS-78", new File("/data/78/current"));
      restarted.add("DS-78", new File("/data/78/current"));
      assertGauge("healthy", 1, getMetrics("MeldVolumeMetrics-DS-78"));
      // The one that has left is closed late.
      left.close();
      ObjectName name = new ObjectName("Hadoop:service=DataNode,name=MeldVolume-DS-78");
      assertThat(server.isRegistered(name)).isTrue();
      assertGauge("healthy", 1, getMetrics("MeldVolumeMetrics-DS-78"));
    } finally {
      DefaultMetricsSystem.shutdown();
    }
  }
}
