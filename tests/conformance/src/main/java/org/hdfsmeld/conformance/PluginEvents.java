package org.hdfsmeld.conformance;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.TreeMap;
import javax.management.JMException;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.MBeanServerBuilder;
import javax.management.MBeanServerDelegate;
import javax.management.ObjectName;
import org.hdfsmeld.datanode.metrics.MeldVolumeMXBean;

/**
 * Adds up what the plugin counted on every volume of every DataNode that a test started: from its
 * JMX beans, which are asked when they are about to go.
 *
 * <p>Switched on by {@code -Djavax.management.builder.initial}.
 */
public final class PluginEvents extends MBeanServerBuilder {
  private static final String BEANS = "Hadoop:service=DataNode,name=MeldVolume-*";
  private static final Map<String, Long> TOTALS = new TreeMap<>();

  @Override
  public MBeanServer newMBeanServer(
      String domain, MBeanServer outer, MBeanServerDelegate delegate) {
    MBeanServer server = super.newMBeanServer(domain, outer, delegate);
    return (MBeanServer)
        Proxy.newProxyInstance(
            PluginEvents.class.getClassLoader(),
            new Class<?>[] {MBeanServer.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("unregisterMBean")) {
                addWhenOurs(server, (ObjectName) arguments[0]);
              }
              try {
                return method.invoke(server, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static void addWhenOurs(MBeanServer server, ObjectName bean) throws JMException {
    if (new ObjectName(BEANS).apply(bean) && server.isRegistered(bean)) {
      add(server, bean);
    }
  }

  private static synchronized void add(MBeanServer server, ObjectName bean) {
    JMX.newMXBeanProxy(server, bean, MeldVolumeMXBean.class)
        .getCounters()
        .forEach((counter, count) -> TOTALS.merge(counter, count, Long::sum));
    TOTALS.merge("volumes", 1L, Long::sum);
  }

  /** The sums of all counters, with the volumes that are still there. */
  static synchronized Map<String, Long> totals(MBeanServer server) throws JMException {
    for (ObjectName bean : server.queryNames(new ObjectName(BEANS), null)) {
      add(server, bean);
    }
    return new TreeMap<>(TOTALS);
  }
}
