package org.hdfsmeld.datanode.device;

import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How much is outstanding on a device, reads and writes together: the mean between the last two
 * samples.
 *
 * <p>By Little's law: the latencies of all commands that completed in an interval, divided by the
 * interval, are the mean number of commands outstanding. All of it is simulated time, so a time
 * dilation changes nothing.
 *
 * <p>The device's thread takes the samples while it works, so who asks waits for nothing.
 */
final class DeviceLoad {
  /** Time between two samples. */
  static final long PERIOD_NS = 20_000_000;

  private final LongSupplier clock;
  private Map<String, Long> before;
  private volatile long bytes;
  private volatile long sampledNs;

  /**
   * A load of nothing.
   *
   * @param clock wall time in nanoseconds
   */
  DeviceLoad(LongSupplier clock) {
    this.clock = clock;
  }

  /** Takes a sample of the device's counters. By one thread. */
  void sample(Map<String, Long> counters) {
    if (before != null) {
      bytes = meanBytes(counters);
    }
    before = counters;
    sampledNs = clock.getAsLong();
  }

  /** Mean bytes outstanding; 0 when the device has done nothing for a while. */
  long outstandingBytes() {
    return clock.getAsLong() - sampledNs < 2 * PERIOD_NS ? bytes : 0;
  }

  private long meanBytes(Map<String, Long> after) {
    double commands = grown(after, "read_commands") + grown(after, "write_commands");
    double commandBytes = grown(after, "host_read_bytes") + grown(after, "host_written_bytes");
    double latency = grown(after, "read_latency_ps") + grown(after, "write_latency_ps");
    double elapsed = grown(after, "now_ps");
    return commands > 0 && elapsed > 0
        ? Math.round(latency / elapsed * (commandBytes / commands))
        : 0;
  }

  private double grown(Map<String, Long> after, String counter) {
    return after.getOrDefault(counter, 0L) - before.getOrDefault(counter, 0L);
  }
}
