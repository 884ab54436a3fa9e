package org.hdfsmeld.spark.timeline;

import java.util.concurrent.TimeUnit;

/** Nanoseconds since the Unix epoch by a clock that does not jump: the wall clock is read once. */
final class EpochClock {
  private static final long OFFSET_NS =
      TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - System.nanoTime();

  private EpochClock() {}

  /** The time at which {@link System#nanoTime} had that value. */
  static long at(long nanoTime) {
    return OFFSET_NS + nanoTime;
  }
}
