package org.hdfsmeld.datanode;

import org.apache.hadoop.metrics2.MetricsException;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Shows a volume over JMX and to Hadoop's metrics system, until closed. */
final class VolumePublisher implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(VolumePublisher.class);

  private final MeldVolume volume;

  /** Differs from the bean's: Hadoop registers a bean of its own under the source's name. */
  private final String sourceName;

  private PublishedBean bean;

  VolumePublisher(MeldVolume volume) {
    this.volume = volume;
    this.sourceName = "MeldVolumeMetrics-" + volume.storageId();
  }

  /** Registers both. A failure costs visibility, not service: it is logged. */
  void open() {
    bean = PublishedBean.register("MeldVolume-" + volume.storageId(), volume);
    try {
      // Left by a DataNode that did not shut down; its name would be refused.
      DefaultMetricsSystem.instance().unregisterSource(sourceName);
      DefaultMetricsSystem.instance()
          .register(sourceName, "Simulated device of a volume", new VolumeMetricsSource(volume));
    } catch (MetricsException e) {
      LOG.warn("Volume {} is not visible as metrics", volume.getVolume(), e);
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
