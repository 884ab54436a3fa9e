package org.hdfsmeld.spark.mixed;

import java.util.concurrent.TimeUnit;
import org.hdfsmeld.spark.measure.StageThroughput;

/** Keeps one thread to a rate, from its creation on; a thread that is late catches up. */
final class Pace {
  private final double nanosPerByte;
  private final long start = System.nanoTime();

  /** A pace in MiB a second; zero: as fast as can be. */
  Pace(double mibPerSecond) {
    nanosPerByte = mibPerSecond > 0 ? 1e9 / (mibPerSecond * StageThroughput.MIB) : 0;
  }

  /** Waits until so many bytes, counted from the start, are due. */
  void await(long bytes) throws InterruptedException {
    long left = start + (long) (bytes * nanosPerByte) - System.nanoTime();
    if (left > 0) {
      TimeUnit.NANOSECONDS.sleep(left);
    }
  }
}
