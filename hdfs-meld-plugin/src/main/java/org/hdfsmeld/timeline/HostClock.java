package org.hdfsmeld.timeline;

import java.util.concurrent.TimeUnit;

/**
 * Times of {@link System#nanoTime} as nanoseconds since the epoch. The wall's clock is read once,
 * so that it does not jump.
 *
 * @param epochNs since the epoch, at {@code ns}
 * @param ns of {@link System#nanoTime}
 */
record HostClock(long epochNs, long ns) {
  static HostClock now() {
    return new HostClock(
        TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()), System.nanoTime());
  }

  long epoch(long at) {
    return epochNs + (at - ns);
  }
}
