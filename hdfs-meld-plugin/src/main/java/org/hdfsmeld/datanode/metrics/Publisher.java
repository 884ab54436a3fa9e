package org.hdfsmeld.datanode.metrics;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.metrics2.MetricsException;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows a bean over JMX, by a name {@code Hadoop:service=DataNode,name=...}, a source to Hadoop's
 * metrics system, or both, until closed. A failure costs visibility, not service: it is logged. A
 * name is exact, not made unique as Hadoop's own are where several DataNodes live in one JVM: the
 * names given here differ already, and a DataNode restarted in place takes its names over.
 */
public record Publisher(ObjectName name, Object bean, String record, MetricsSource source)
    implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);

  /** Whose bean has a name; under its own monitor. */
  private static final Map<ObjectName, Object> OWNERS = new HashMap<>();

  public static Publisher of(MeldVolumeMXBean volume, String storageId) {
    return of(volume, SimMetricsSource.of(volume, storageId), "MeldVolume", storageId);
  }

  /** Of a shared device; its name has its first volume's, for other DataNodes in this JVM. */
  public static Publisher of(MeldDeviceMXBean device, String storageId) {
    return of(
        device, SimMetricsSource.of(device), "MeldDevice", device.getDevice() + "-" + storageId);
  }

  private static Publisher of(Object bean, MetricsSource source, String kind, String id) {
    ObjectName name = register(kind + "-" + id, bean);
    String record = kind + "Metrics-" + id;
    register(record, "Simulated device of a DataNode", source);
    return new Publisher(name, bean, record, source);
  }

  public static Publisher ofBean(String name, Object bean) {
    return new Publisher(register(name, bean), bean, null, null);
  }

  public static Publisher ofSource(String record, String description, MetricsSource source) {
    register(record, description, source);
    return new Publisher(null, null, record, source);
  }

  private static ObjectName register(String name, Object bean) {
    synchronized (OWNERS) {
      try {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName objectName = new ObjectName("Hadoop:service=DataNode,name=" + name);
        if (server.isRegistered(objectName)) {
          server.unregisterMBean(objectName);
        }
        server.registerMBean(bean, objectName);
        OWNERS.put(objectName, bean);
        return objectName;
      } catch (JMException e) {
        LOG.warn("{} is not visible over JMX", name, e);
        return null;
      }
    }
  }

  private static synchronized void register(
      String record, String description, MetricsSource source) {
    MetricsSystem metrics = DefaultMetricsSystem.instance();
    try {
      // Left by a DataNode that did not shut down; its name would be refused.
      metrics.unregisterSource(record);
      metrics.register(record, description, source);
    } catch (MetricsException e) {
      LOG.warn("{} is not visible as metrics", record, e);
    }
  }

  /** Over JMX no more, unless another has taken the name over. Waits for nothing. */
  public void hide() {
    synchronized (OWNERS) {
      if (name == null || !OWNERS.remove(name, bean)) {
        return;
      }
      try {
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
      } catch (JMException e) {
        LOG.debug("Bean {} was gone already", name, e);
      }
    }
  }

  /** Shows nothing more. May wait for Hadoop's metrics system. */
  @Override
  public void close() {
    hide();
    if (source == null) {
      return;
    }
    synchronized (Publisher.class) {
      MetricsSystem metrics = DefaultMetricsSystem.instance();
      if (metrics.getSource(record) == source) {
        metrics.unregisterSource(record);
      }
    }
  }
}
