package org.hdfsmeld.spark.mixed;

import java.io.Serializable;
import java.util.concurrent.TimeUnit;

/**
 * A span of time in which tasks work together; on several machines, as exactly as their clocks
 * agree.
 *
 * @param startMs since the epoch
 */
record Window(long startMs, long lengthMs) implements Serializable {

  /** A window that opens when tasks submitted now may be expected to run. */
  static Window after(long leadMs, long lengthMs) {
    return new Window(System.currentTimeMillis() + leadMs, lengthMs);
  }

  /** Waits for the start, and returns it as {@link System#nanoTime}: now, or earlier if late. */
  long await() throws InterruptedException {
    for (long left = left(); left > 0; left = left()) {
      TimeUnit.MILLISECONDS.sleep(left);
    }
    return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(left());
  }

  /** How much later than the start it is now, in milliseconds. */
  long lateMs() {
    return Math.max(0, -left());
  }

  long lengthNanos() {
    return TimeUnit.MILLISECONDS.toNanos(lengthMs);
  }

  private long left() {
    return startMs - System.currentTimeMillis();
  }
}
