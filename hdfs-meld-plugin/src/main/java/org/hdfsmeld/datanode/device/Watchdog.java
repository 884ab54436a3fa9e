package org.hdfsmeld.datanode.device;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Finds that a call into the simulator does not return, or that the device's thread has nothing to
 * make one of. It says when it begins and ends one; whoever waits for it, or gives it something to
 * do, looks.
 *
 * <p>Looks are counted, and no time measured: a process that was stopped for a minute must not find
 * its devices hanging.
 */
final class Watchdog {
  /** Time between two looks. */
  static final long LOOK_MS = 100;

  private final int looks;
  private final LongSupplier clock;

  /** Odd while the device's thread is in a call. */
  private volatile long beat;

  /** How many times longer than others the present call may take. */
  private volatile int patience = 1;

  /** Why nothing is served any more; null while it is. */
  private volatile String problem;

  /** Counts calls that end without a beat. */
  private LongSupplier done = () -> 0;

  /** Whether something was begun for the thread, and is not there. */
  private BooleanSupplier stuck = () -> false;

  private volatile long lookedAtNs;

  // What a look has seen; under this object's monitor.
  private long seenBeat;
  private int looksInVain;

  /** A call is given up after so many looks, by a clock as {@link System#nanoTime}. */
  Watchdog(int looks, LongSupplier clock) {
    this.looks = looks;
    this.clock = clock;
    this.lookedAtNs = clock.getAsLong();
  }

  /** Counts calls that end without a beat; says whether something begun is missing. */
  void progress(LongSupplier counter, BooleanSupplier missing) {
    done = counter;
    stuck = missing;
  }

  /** The device's thread has ended by this, and serves nobody. */
  void ended(Throwable e) {
    problem = "the device's thread has ended: " + e;
  }

  /** A number that changes while the device's thread gets on. */
  long present() {
    return 2 * done.getAsLong() + beat;
  }

  /** A call begins or ends. By the device's thread. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // by one thread alone
  void beat() {
    beat++;
  }

  /** The present call may take so many times longer than others. By the device's thread. */
  void bePatient(int times) {
    patience = times;
  }

  /**
   * Looks whether the present call goes on for too long.
   *
   * @throws IllegalStateException when it does, now or ever
   */
  void check() {
    if (problem != null) {
      throw new IllegalStateException(problem);
    }
    long now = clock.getAsLong();
    if (now - lookedAtNs >= TimeUnit.MILLISECONDS.toNanos(LOOK_MS)) {
      check(now);
    }
  }

  private synchronized void check(long now) {
    if (now - lookedAtNs < TimeUnit.MILLISECONDS.toNanos(LOOK_MS)) {
      return;
    }
    lookedAtNs = now;
    long present = present();
    boolean inCall = (present & 1) != 0 || stuck.getAsBoolean();
    looksInVain = inCall && present == seenBeat ? looksInVain + 1 : 0;
    seenBeat = present;
    if (looksInVain >= looks * patience) {
      problem =
          "the simulator hangs: a call has not returned for "
              + Duration.ofMillis(looks * LOOK_MS).toSeconds()
              + " s";
      throw new IllegalStateException(problem);
    }
  }
}
