package org.hdfsmeld.datanode.metrics;

import org.apache.hadoop.metrics2.MetricsSource;

/**
 * Shows a volume, or a device that volumes share, over JMX and to Hadoop's metrics system, until
 * closed.
 */
public final class Publisher implements AutoCloseable {
  private final Object shown;
  private final MetricsSource source;
  private final String beanName;

  /** Differs from the bean's: Hadoop registers a bean of its own under the source's name. */
  private final String sourceName;

  private PublishedBean bean;
  private PublishedSource published;

  private Publisher(Object shown, MetricsSource source, String kind, String id) {
    this.shown = shown;
    this.source = source;
    this.beanName = kind + "-" + id;
    this.sourceName = kind + "Metrics-" + id;
  }

  public static Publisher of(MeldVolumeMXBean volume, String storageId) {
    return new Publisher(volume, SimMetricsSource.of(volume, storageId), "MeldVolume", storageId);
  }

  /**
   * A publisher of a shared device.
   *
   * @param storageId of its first volume: other DataNodes in this JVM may have a device of its name
   */
  public static Publisher of(MeldDeviceMXBean device, String storageId) {
    return new Publisher(
        device, SimMetricsSource.of(device), "MeldDevice", device.getDevice() + "-" + storageId);
  }

  /** Registers both. A failure costs visibility, not service: it is logged. */
  public void open() {
    bean = PublishedBean.register(beanName, shown);
    published = PublishedSource.register(sourceName, "Simulated device of a DataNode", source);
  }

  /** Over JMX no more. Waits for nothing. */
  public void hide() {
    bean.close();
  }

  /** May wait for Hadoop's metrics system. */
  @Override
  public void close() {
    hide();
    published.close();
  }
}
