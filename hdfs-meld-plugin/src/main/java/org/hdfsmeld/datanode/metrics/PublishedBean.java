package org.hdfsmeld.datanode.metrics;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A JMX bean {@code Hadoop:service=DataNode,name=...} until closed.
 *
 * <p>The name is exact, not made unique as Hadoop's own are where several DataNodes live in one
 * JVM: the names given here differ already, and a DataNode restarted in place takes its name over.
 */
public final class PublishedBean implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PublishedBean.class);

  /** Who has a name; under its own monitor. */
  private static final Map<ObjectName, PublishedBean> OWNERS = new HashMap<>();

  private final ObjectName name;

  private PublishedBean(ObjectName name) {
    this.name = name;
  }

  /** Registers a bean. A failure costs visibility, not service: it is logged. */
  public static PublishedBean register(String name, Object bean) {
    synchronized (OWNERS) {
      try {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName objectName = new ObjectName("Hadoop:service=DataNode,name=" + name);
        if (server.isRegistered(objectName)) {
          server.unregisterMBean(objectName);
        }
        server.registerMBean(bean, objectName);
        PublishedBean published = new PublishedBean(objectName);
        OWNERS.put(objectName, published);
        return published;
      } catch (JMException e) {
        LOG.warn("{} is not visible over JMX", name, e);
        return new PublishedBean(null);
      }
    }
  }

  /** Takes the bean away, but not one that has taken its name over. */
  @Override
  public void close() {
    synchronized (OWNERS) {
      if (name == null || !OWNERS.remove(name, this)) {
        return;
      }
      try {
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
      } catch (JMException e) {
        LOG.debug("Bean {} was gone already", name, e);
      }
    }
  }
}
