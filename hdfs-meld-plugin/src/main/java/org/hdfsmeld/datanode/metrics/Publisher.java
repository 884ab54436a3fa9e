package org.hdfsmeld.datanode.metrics;

import org.apache.hadoop.metrics2.MetricsSource;

/**
 * Shows a volume, or a device that volumes share, over JMX and to Hadoop's metrics system, until
 * closed.
 */
public record Publisher(PublishedBean bean, PublishedSource source) {
  public static Publisher of(MeldVolumeMXBean volume, String storageId) {
    return of(volume, SimMetricsSource.of(volume, storageId), "MeldVolume", storageId);
  }

  /**
   * A publisher of a shared device.
   *
   * @param storageId of its first volume: other DataNodes in this JVM may have a device of its name
   */
  public static Publisher of(MeldDeviceMXBean device, String storageId) {
    return of(
        device, SimMetricsSource.of(device), "MeldDevice", device.getDevice() + "-" + storageId);
  }

  /** Registers both. A failure costs visibility, not service: it is logged. */
  private static Publisher of(Object shown, MetricsSource source, String kind, String id) {
    return new Publisher(
        PublishedBean.register(kind + "-" + id, shown),
        // Hadoop registers a bean of its own under the source's name.
        PublishedSource.register(kind + "Metrics-" + id, "Simulated device of a DataNode", source));
  }

  /** Over JMX no more. Waits for nothing. */
  public void hide() {
    bean.close();
  }

  /** May wait for Hadoop's metrics system. */
  public void close() {
    hide();
    source.close();
  }
}
