package org.hdfsmeld.datanode.hint;

import java.util.function.LongSupplier;

/**
 * Keeps callers from waiting for a service that fails or is late.
 *
 * <p>Closed: it answers in time. Open: it does not; nobody waits for it, and after a pause it may
 * be tried (half-open). Untried: not known yet.
 */
final class CircuitBreaker {
  enum State {
    UNTRIED,
    CLOSED,
    OPEN
  }

  private final LongSupplier nanoTime;
  private State state = State.UNTRIED;
  private long openUntilNs;

  CircuitBreaker(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  synchronized State state() {
    return state;
  }

  /** Nanoseconds until the service may be tried; 0 when it may now. */
  synchronized long pauseNs() {
    return state == State.OPEN ? Math.max(0, openUntilNs - nanoTime.getAsLong()) : 0;
  }

  /** It answered in time. */
  synchronized void close() {
    state = State.CLOSED;
  }

  /** It did not. */
  synchronized void open(long pauseNs) {
    state = State.OPEN;
    openUntilNs = nanoTime.getAsLong() + pauseNs;
  }
}
