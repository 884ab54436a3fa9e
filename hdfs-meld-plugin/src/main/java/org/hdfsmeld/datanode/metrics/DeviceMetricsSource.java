package org.hdfsmeld.datanode.metrics;

import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsInfo;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.lib.Interns;

/** A shared device's counters as a metrics2 record {@code MeldDevice} in context {@code dfs}. */
final class DeviceMetricsSource implements MetricsSource {
  private static final MetricsInfo DEVICE = Interns.info("Device", "Name of the shared device");
  private static final MetricsInfo PROFILE = Interns.info("Profile", "Simulated device");
  private static final MetricsInfo MODE = Interns.info("Mode", "How the device takes part");
  private static final MetricsInfo HEALTHY = Interns.info("healthy", "1 while the device serves");

  private final MeldDeviceMXBean device;

  DeviceMetricsSource(MeldDeviceMXBean device) {
    this.device = device;
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    VolumeMetricsSource.addCounters(
        collector
            .addRecord("MeldDevice")
            .setContext("dfs")
            .tag(DEVICE, device.getDevice())
            .tag(PROFILE, device.getProfile())
            .tag(MODE, device.getMode())
            .addGauge(HEALTHY, device.isHealthy() ? 1 : 0),
        device.getCounters());
  }
}
