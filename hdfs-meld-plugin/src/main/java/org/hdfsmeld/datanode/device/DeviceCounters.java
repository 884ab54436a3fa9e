package org.hdfsmeld.datanode.device;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hdfsmeld.datanode.metrics.LatencyMetric;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimStats;

/**
 * What a device counts: its thread publishes an array, and all others read that.
 *
 * <p>The array has the device's counters, then the percentiles of its latencies, then the counters
 * of each namespace by its number.
 */
final class DeviceCounters {
  private final DeviceLoad load = new DeviceLoad(System::nanoTime);
  private volatile List<String> names = SimStats.NAMES;
  private volatile List<String> namespaceNames = List.of();

  /** The highest number of a namespace. */
  private volatile int namespaces;

  private volatile long[] published = new long[names.size() + LatencyMetric.ALL.size()];

  /** Counters of a device that has been opened. By its thread. */
  void opened(SimDevice device) {
    names = device.statNames();
    namespaceNames = device.namespaceStatNames();
    published = new long[names.size() + LatencyMetric.ALL.size()];
  }

  /** There is a namespace of this number. By one thread at a time. */
  void known(int nsid) {
    namespaces = Math.max(namespaces, nsid);
  }

  List<String> names() {
    return names;
  }

  /** Publishes what the device counts now; what it does not say stays as it was. By its thread. */
  void publish(SimDevice device) {
    int count = namespaces;
    int own = names.size() + LatencyMetric.ALL.size();
    long[] next = Arrays.copyOf(published, own + count * namespaceNames.size());
    long[] values = new long[names.size()];
    if (device.stats(values) >= 0) {
      System.arraycopy(values, 0, next, 0, values.length);
      load.sample(
          value(next, "now_ps"),
          value(next, "read_commands") + value(next, "write_commands"),
          value(next, "host_read_bytes") + value(next, "host_written_bytes"),
          value(next, "read_latency_ps") + value(next, "write_latency_ps"));
    }
    for (int i = 0; i < LatencyMetric.ALL.size(); i++) {
      LatencyMetric metric = LatencyMetric.ALL.get(i);
      long ps = device.latencyPs(metric.opcode(), metric.quantile());
      next[names.size() + i] = ps < 0 ? next[names.size() + i] : ps;
    }
    long[] ofNamespace = new long[namespaceNames.size()];
    for (int nsid = 1; nsid <= count; nsid++) {
      if (device.namespaceStats(nsid, ofNamespace) >= 0) {
        System.arraycopy(ofNamespace, 0, next, at(nsid), ofNamespace.length);
      }
    }
    published = next;
  }

  private int at(int nsid) {
    return names.size() + LatencyMetric.ALL.size() + (nsid - 1) * namespaceNames.size();
  }

  private long value(long[] values, String name) {
    int at = names.indexOf(name);
    return at < 0 ? 0 : values[at];
  }

  long outstandingBytes() {
    return load.outstandingBytes();
  }

  /** The device's counters; zeros before it is open. */
  Map<String, Long> device() {
    return byName(names, 0);
  }

  Map<String, Long> latencies() {
    return byName(LatencyMetric.ALL.stream().map(LatencyMetric::name).toList(), names.size());
  }

  Map<String, Long> namespace(int nsid) {
    return byName(namespaceNames, at(nsid));
  }

  private Map<String, Long> byName(List<String> keys, int from) {
    long[] values = published;
    Map<String, Long> byName = new LinkedHashMap<>();
    for (int i = 0; i < keys.size(); i++) {
      byName.put(keys.get(i), from + i < values.length ? values[from + i] : 0);
    }
    return byName;
  }
}
