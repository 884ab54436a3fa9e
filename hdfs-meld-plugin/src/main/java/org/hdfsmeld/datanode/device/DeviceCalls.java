package org.hdfsmeld.datanode.device;

import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.hadoop.thirdparty.com.google.common.base.Throwables;
import org.apache.hadoop.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.hdfsmeld.sim.SimDevice;

/** Calls on a device by other threads: its own thread makes them, in their order. */
final class DeviceCalls {
  interface Call<T, E extends Exception> {
    T make(SimDevice device) throws E;
  }

  /** A device of a large snapshot may take seconds to open: so many times as long as a call. */
  static final int PATIENCE = 6;

  /** A skewed past of a large device takes minutes. */
  static final int PATIENCE_OF_PAST = 60 * PATIENCE;

  private final Queue<FutureTask<?>> waiting = new ConcurrentLinkedQueue<>();
  private final Watchdog watchdog;
  private final Supplier<SimDevice> device;
  private volatile boolean closed;

  DeviceCalls(Watchdog watchdog, Supplier<SimDevice> device) {
    this.watchdog = watchdog;
    this.device = device;
  }

  /**
   * Has a call made, and waits for it. An interrupt does not end the wait, and stays set.
   *
   * @param longer how many times longer than others it may take
   * @param wake wakes the device's thread
   * @throws E what the call throws
   * @throws IllegalStateException when this call, or another, does not come back
   */
  <T, E extends Exception> T make(int longer, Call<T, E> call, Runnable wake) throws E {
    FutureTask<T> task =
        new FutureTask<>(
            () -> {
              watchdog.bePatient(longer);
              try {
                return call.make(device.get());
              } finally {
                watchdog.bePatient(1);
              }
            });
    waiting.add(task);
    wake.run();
    while (true) {
      if (closed) {
        watchdog.check();
        task.cancel(false);
      }
      try {
        return Uninterruptibles.getUninterruptibly(task, Watchdog.LOOK_MS, TimeUnit.MILLISECONDS);
      } catch (CancellationException e) {
        throw new IllegalStateException("the simulated device has been closed", e);
      } catch (TimeoutException e) {
        watchdog.check();
      } catch (ExecutionException e) {
        throw DeviceCalls.<E>thrown(e.getCause());
      }
    }
  }

  /** A call declares no other exceptions than {@code E}, and those that need no declaration. */
  @SuppressWarnings("unchecked")
  private static <E extends Exception> E thrown(Throwable cause) {
    Throwables.throwIfUnchecked(cause);
    return (E) cause;
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** The next one, null when there is none. By the device's thread. */
  FutureTask<?> next() {
    return waiting.poll();
  }

  /** None is made any more. */
  void close() {
    closed = true;
    waiting.forEach(call -> call.cancel(false));
  }
}
