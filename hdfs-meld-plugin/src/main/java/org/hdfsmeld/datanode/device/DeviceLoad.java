package org.hdfsmeld.datanode.device;

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
  private long lastPs;
  private long lastCommands;
  private long lastBytes;
  private long lastLatencyPs;
  private volatile long bytes;
  private volatile long sampledNs;

  /** A load of nothing; the clock is wall time in nanoseconds. */
  DeviceLoad(LongSupplier clock) {
    this.clock = clock;
  }

  /** Takes a sample of what the device counts, reads and writes together. By one thread. */
  void sample(long nowPs, long commands, long commandBytes, long latencyPs) {
    double completed = commands - lastCommands;
    double elapsedPs = nowPs - lastPs;
    if (sampledNs != 0) {
      bytes =
          completed > 0 && elapsedPs > 0
              ? Math.round(
                  (latencyPs - lastLatencyPs)
                      / elapsedPs
                      * ((commandBytes - lastBytes) / completed))
              : 0;
    }
    lastPs = nowPs;
    lastCommands = commands;
    lastBytes = commandBytes;
    lastLatencyPs = latencyPs;
    sampledNs = clock.getAsLong();
  }

  /** Mean bytes outstanding; 0 when the device has done nothing for a while. */
  long outstandingBytes() {
    return clock.getAsLong() - sampledNs < 2 * PERIOD_NS ? bytes : 0;
  }
}
