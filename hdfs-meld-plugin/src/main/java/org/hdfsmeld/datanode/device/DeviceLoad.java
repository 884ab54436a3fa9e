package org.hdfsmeld.datanode.device;

import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * How much is outstanding on a device, reads and writes together: the mean since the last look.
 *
 * <p>By Little's law: the latencies of all commands that completed in an interval, divided by the
 * interval, are the mean number of commands outstanding. All of it is simulated time, so a time
 * dilation changes nothing.
 */
public final class DeviceLoad {
  /** Looks that follow each other sooner get the same answer. */
  static final long PERIOD_NS = 20_000_000;

  private final Supplier<Map<String, Long>> counters;
  private final LongSupplier clock;
  private Map<String, Long> before;
  private long beforeNs;
  private long bytes;

  /**
   * A load of nothing.
   *
   * @param counters the device's
   * @param clock wall time in nanoseconds
   */
  public DeviceLoad(Supplier<Map<String, Long>> counters, LongSupplier clock) {
    this.counters = counters;
    this.clock = clock;
  }

  /** Mean bytes outstanding. */
  public synchronized long outstandingBytes() {
    long now = clock.getAsLong();
    if (before != null && now - beforeNs < PERIOD_NS) {
      return bytes;
    }
    Map<String, Long> after = counters.get();
    if (before != null) {
      bytes = meanBytes(after);
    }
    before = after;
    beforeNs = now;
    return bytes;
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
