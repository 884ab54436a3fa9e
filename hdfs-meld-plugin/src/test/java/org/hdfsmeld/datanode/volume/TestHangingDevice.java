package org.hdfsmeld.datanode.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import org.apache.commons.configuration2.SubsetConfiguration;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.metrics2.MetricsRecord;
import org.apache.hadoop.metrics2.MetricsSink;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.impl.MetricsCollectorImpl;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.metrics.SimMetricsSource;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.Opcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A device whose call does not return: nobody who looks at it, or removes it, waits for that. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TestHangingDevice {
  private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(1);

  private static final long READS = 42;

  @TempDir Path dir;

  private final CountDownLatch hang = new CountDownLatch(1);
  private final CountDownLatch hangs = new CountDownLatch(1);
  private volatile boolean hanging;
  private MeldVolumes volumes;
  private MeldVolume volume;

  private final FakeDevice device =
      new FakeDevice() {
        @Override
        public int stats(long[] out) {
          if (hanging) {
            hangs.countDown();
            FakeDevice.hang(hang).run();
          }
          return super.stats(out);
        }
      };

  @BeforeEach
  void open() throws Exception {
    volumes = FakeDevice.volumes(MeldConfiguration.read(new Configuration()), () -> device);
    device.statValues.put("read_commands", READS);
    File current = Files.createDirectories(dir.resolve("1/current")).toFile();
    volumes.add("DS-hanging", current);
    volume = volumes.holding(new File(current, "BP-1/blk_1"));
    assertThat(FakeDevice.counters(volume)).containsEntry("read_commands", READS);
    hanging = true;
    volume.device().submit(null, Opcode.READ, 0, 1, Directive.NONE, true);
    hangs.await();
  }

  @AfterEach
  void close() {
    hang.countDown();
    volumes.close();
    DefaultMetricsSystem.shutdown();
  }

  /** An action that a test may wait for so long. */
  private interface Action {
    void run() throws Exception;
  }

  private static void withinBound(Action action) throws Exception {
    long begin = System.nanoTime();
    action.run();
    assertThat(System.nanoTime() - begin).isLessThan(BOUND_NS);
  }

  @Test
  void countersAreTheLastOnes() throws Exception {
    withinBound(
        () -> {
          for (int i = 0; i < 20; i++) {
            assertThat(volume.getCounters()).containsEntry("read_commands", READS);
          }
        });
  }

  @Test
  void jmxAndMetricsAndTheReportDoNotWait() throws Exception {
    withinBound(
        () -> {
          ManagementFactory.getPlatformMBeanServer()
              .getAttribute(
                  new ObjectName("Hadoop:service=DataNode,name=MeldVolume-DS-hanging"), "Counters");
          MetricsCollectorImpl collector = new MetricsCollectorImpl();
          SimMetricsSource.of(volume, "DS-hanging").getMetrics(collector, true);
          assertThat(collector.getRecords()).hasSize(1);
          assertThat(volumes.report().volumes()).hasSize(1);
        });
  }

  /** Hadoop's metrics system holds its lock while it samples. */
  @Test
  void whoRemovesAVolumeDoesNotWaitForMetrics() throws Exception {
    MetricsSystem metrics = DefaultMetricsSystem.initialize("test");
    metrics.register("sink", "takes all", new Nowhere());
    Thread sampling = new Thread(metrics::publishMetricsNow);
    sampling.start();
    withinBound(() -> volumes.lifecycle().retain(Set::of));
    sampling.join();
  }

  /** A sink is what makes the metrics system sample. */
  private static final class Nowhere implements MetricsSink {
    @Override
    public void init(SubsetConfiguration conf) {}

    @Override
    public void putMetrics(MetricsRecord record) {}

    @Override
    public void flush() {}
  }
}
