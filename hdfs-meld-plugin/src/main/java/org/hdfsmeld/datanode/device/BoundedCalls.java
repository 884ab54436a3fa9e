package org.hdfsmeld.datanode.device;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.hdfsmeld.sim.SimException;

/**
 * Calls into one simulated device, made by threads that may be lost.
 *
 * <p>A call into a native library cannot be stopped. So a thread of HDFS never makes one: it waits
 * for one of the threads here to make it, and goes on without when that does not come back. From
 * then on the device counts as hanging, and no further call is made.
 */
final class BoundedCalls {
  /** A call. */
  interface Call<T, E extends Exception> {
    T make() throws E;
  }

  private static final int LOOKS = 100;

  /** A device of a large snapshot may take seconds to open: so many times as long as a call. */
  private static final int OPENING = 6;

  /** Time between two looks. */
  static final long LOOK_MS = 100;

  private static final AtomicLong NUMBERS = new AtomicLong();

  /** As many threads as there are calls at a time; idle ones end after a minute. */
  private static final ExecutorService THREADS =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          60,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> {
            Thread thread = new Thread(task, "meld-call-" + NUMBERS.incrementAndGet());
            thread.setDaemon(true);
            return thread;
          });

  private final int looks;
  private volatile boolean hanging;

  /** Calls that are given up after 10 s. */
  BoundedCalls() {
    this(LOOKS);
  }

  /**
   * Calls that are given up when they have not returned at so many looks. They are counted, and no
   * time measured: a process that was stopped for a minute must not find its devices hanging.
   */
  BoundedCalls(int looks) {
    this.looks = looks;
  }

  /** See {@link #BoundedCalls(int)}. */
  int looks() {
    return looks;
  }

  /** Whether a call has not come back. */
  boolean isHanging() {
    return hanging;
  }

  /**
   * A call has not come back: all who wait go on without the device.
   *
   * @return what they are to throw
   */
  IllegalStateException giveUp() {
    hanging = true;
    return new IllegalStateException(
        "the simulator hangs: a call has not returned for "
            + Duration.ofMillis(looks * LOOK_MS).toSeconds()
            + " s");
  }

  /**
   * Makes a call. An interrupt does not end the wait, and stays set.
   *
   * @throws E what the call throws
   * @throws IllegalStateException when this call, or another, does not come back
   */
  <T, E extends Exception> T make(Call<T, E> call) throws E {
    FutureTask<T> task = new FutureTask<>(call::make);
    if (!hanging) {
      THREADS.execute(task);
    }
    boolean interrupted = false;
    int looked = 0;
    try {
      while (looked < looks && !hanging) {
        try {
          return task.get(LOOK_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
          looked++;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw BoundedCalls.<E>thrown(e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    throw giveUp();
  }

  /** A call declares no other exceptions than {@code E}, and those that need no declaration. */
  @SuppressWarnings("unchecked")
  private static <E extends Exception> E thrown(Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    if (cause instanceof RuntimeException exception) {
      throw exception;
    }
    return (E) cause;
  }

  /** An opener that opens its devices here; it may take a minute. */
  SimDeviceOpener around(SimDeviceOpener opener) {
    BoundedCalls opening = new BoundedCalls(OPENING * looks);
    return new SimDeviceOpener() {
      @Override
      public SimDevice open() throws SimException {
        return opening.make(opener::open);
      }

      @Override
      public SimDevice restore(ByteBuffer snapshot) throws SimException {
        return opening.make(() -> opener.restore(snapshot));
      }
    };
  }
}
