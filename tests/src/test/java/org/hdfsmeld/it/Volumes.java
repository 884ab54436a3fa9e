package org.hdfsmeld.it;

import com.sun.jna.NativeLibrary;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;

/** The plugin's volumes in this JVM as an operator sees them: through JMX. */
final class Volumes {
  private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

  /** Path of the library that fails on demand; empty in the JVM of tests that need no faults. */
  static final String FAULTY_LIBRARY = System.getProperty("meld.testing.library", "");

  private static final long SETTLES_NS = TimeUnit.SECONDS.toNanos(1);

  private Volumes() {}

  static Set<ObjectName> all() {
    return named("MeldVolume-*");
  }

  /** The devices that volumes share. */
  static Set<ObjectName> devices() {
    return named("MeldDevice-*");
  }

  private static Set<ObjectName> named(String pattern) {
    try {
      return SERVER.queryNames(new ObjectName("Hadoop:service=DataNode,name=" + pattern), null);
    } catch (MalformedObjectNameException e) {
      throw new AssertionError(e);
    }
  }

  /** What a volume counts, when all that was done shows in it; but for a device that hangs. */
  static Map<String, Long> counters(ObjectName volume) {
    long deadline = System.nanoTime() + SETTLES_NS;
    Map<String, Long> counters = read(volume);
    while (counters.getOrDefault("counters_pending", 0L) > 0 && System.nanoTime() < deadline) {
      LockSupport.parkNanos(1_000_000);
      counters = read(volume);
    }
    return counters;
  }

  private static Map<String, Long> read(ObjectName volume) {
    Map<String, Long> counters = new HashMap<>();
    for (Object row : ((TabularData) get(volume, "Counters")).values()) {
      CompositeData entry = (CompositeData) row;
      counters.put((String) entry.get("key"), (Long) entry.get("value"));
    }
    return counters;
  }

  /** A counter summed over all volumes. */
  static long total(String counter) {
    return sum(all(), counter);
  }

  /** What all volumes have counted since it was made: of one test, where tests share a cluster. */
  static final class Since {
    private final Map<String, Long> before = new HashMap<>();

    Since() {
      for (ObjectName volume : all()) {
        counters(volume).forEach((counter, value) -> before.merge(counter, value, Long::sum));
      }
    }

    long total(String counter) {
      return Volumes.total(counter) - before.getOrDefault(counter, 0L);
    }
  }

  /** A counter summed over the devices that volumes share. */
  static long ofDevices(String counter) {
    return sum(devices(), counter);
  }

  private static long sum(Set<ObjectName> beans, String counter) {
    long sum = 0;
    for (ObjectName volume : beans) {
      Long value = counters(volume).get(counter);
      if (value == null) {
        throw new AssertionError("no counter " + counter + " in " + counters(volume).keySet());
      }
      sum += value;
    }
    return sum;
  }

  static Object get(ObjectName volume, String attribute) {
    try {
      return SERVER.getAttribute(volume, attribute);
    } catch (JMException e) {
      throw new AssertionError(volume + " " + attribute, e);
    }
  }

  static void setAll(String attribute, Object value) {
    for (ObjectName volume : all()) {
      try {
        SERVER.setAttribute(volume, new Attribute(attribute, value));
      } catch (JMException e) {
        throw new AssertionError(volume + " " + attribute, e);
      }
    }
  }

  /**
   * Makes the simulator of every volume fail. For tests with the tag {@code faults}: the library
   * they load is {@link #FAULTY_LIBRARY}.
   *
   * @param kind {@code panic}, {@code error} or {@code hang}
   * @param afterCalls simulator calls of each device that still succeed
   */
  static void injectFault(String kind, long afterCalls) {
    int number = 1 + List.of("panic", "error", "hang").indexOf(kind);
    Object[] arguments = {0L, number, afterCalls};
    int status =
        NativeLibrary.getInstance(FAULTY_LIBRARY)
            .getFunction("meldsim_testing_inject_fault")
            .invokeInt(arguments);
    if (number == 0 || status != 0) {
      throw new AssertionError(kind + " is not injected: status " + status);
    }
  }
}
