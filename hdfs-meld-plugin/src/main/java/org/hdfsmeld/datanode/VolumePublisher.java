package org.hdfsmeld.datanode;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.metrics2.MetricsException;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows a volume over JMX and to Hadoop's metrics system, until closed.
 *
 * <p>The bean's name is exact, not made unique as Hadoop's own are where several DataNodes live in
 * one JVM: storage uuids already differ, and a DataNode restarted in place takes its name over.
 */
final class VolumePublisher implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(VolumePublisher.class);

  private final MeldVolume volume;
  private final String beanName;

  /** Differs from the bean's: Hadoop registers a bean of its own under the source's name. */
  private final String sourceName;

  private ObjectName registered;

  VolumePublisher(MeldVolume volume) {
    this.volume = volume;
    this.beanName = "Hadoop:service=DataNode,name=MeldVolume-" + volume.storageId();
    this.sourceName = "MeldVolumeMetrics-" + volume.storageId();
  }

  /** Registers both. A failure costs visibility, not service: it is logged. */
  void open() {
    try {
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
      ObjectName objectName = new ObjectName(beanName);
      if (server.isRegistered(objectName)) {
        server.unregisterMBean(objectName);
      }
      server.registerMBean(volume, objectName);
      registered = objectName;
    } catch (JMException e) {
      LOG.warn("Volume {} is not visible over JMX", volume.getVolume(), e);
    }
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
    if (registered == null) {
      return;
    }
    try {
      ManagementFactory.getPlatformMBeanServer().unregisterMBean(registered);
    } catch (JMException e) {
      LOG.debug("Bean {} was gone already", registered, e);
    }
    registered = null;
  }
}
