package org.hdfsmeld.datanode.metrics;

import org.apache.hadoop.metrics2.MetricsException;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows a volume, or a device that volumes share, over JMX and to Hadoop's metrics system, until
 * closed.
 */
public final class Publisher implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);

  private final String what;
  private final Object shown;
  private final MetricsSource source;
  private final String beanName;

  /** Differs from the bean's: Hadoop registers a bean of its own under the source's name. */
  private final String sourceName;

  private PublishedBean bean;

  private Publisher(String what, Object shown, MetricsSource source, String kind, String id) {
    this.what = what;
    this.shown = shown;
    this.source = source;
    this.beanName = kind + "-" + id;
    this.sourceName = kind + "Metrics-" + id;
  }

  public static Publisher of(MeldVolumeMXBean volume, String storageId) {
    return new Publisher(
        "Volume " + volume.getVolume(),
        volume,
        SimMetricsSource.of(volume, storageId),
        "MeldVolume",
        storageId);
  }

  /**
   * A publisher of a shared device.
   *
   * @param storageId of its first volume: other DataNodes in this JVM may have a device of its name
   */
  public static Publisher of(MeldDeviceMXBean device, String storageId) {
    return new Publisher(
        "Device " + device.getDevice(),
        device,
        SimMetricsSource.of(device),
        "MeldDevice",
        device.getDevice() + "-" + storageId);
  }

  /** Registers both. A failure costs visibility, not service: it is logged. */
  public void open() {
    bean = PublishedBean.register(beanName, shown);
    try {
      // Left by a DataNode that did not shut down; its name would be refused.
      DefaultMetricsSystem.instance().unregisterSource(sourceName);
      DefaultMetricsSystem.instance()
          .register(sourceName, "Simulated device of a DataNode", source);
    } catch (MetricsException e) {
      LOG.warn("{} is not visible as metrics", what, e);
    }
  }

  @Override
  public void close() {
    DefaultMetricsSystem.instance().unregisterSource(sourceName);
    if (bean != null) {
      bean.close();
    }
  }
}
