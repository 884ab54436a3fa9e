package org.hdfsmeld.datanode.device;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.NativeSimDevice;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimException;

/**
 * What a real-time request costs beside the device's own time: from HDFS's thread to the device's,
 * and back. Before each, the device's thread has had nothing to do for {@value #IDLE_US} µs.
 *
 * <p>A hand-off is a flush of nothing at dilation {@value #FAST}, which is done when it has been
 * submitted. It is measured in turn with two threads that wake each other, so that both see the
 * same machine. A read is one page at dilation 1: what counts is how much later than its simulated
 * latency it returns.
 */
public final class HandOffs implements DeviceThread.Origin, AutoCloseable {
  private static final long IDLE_US = 300;
  private static final double FAST = 0.001;
  private static final long SPIN_NS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final int RESAMPLES = 1000;

  /** As many make the compiler do its best. */
  private static final int WARM_UP = 30_000;

  /**
   * Wall nanoseconds, each sorted.
   *
   * @param wakeUps two bare wake-ups
   * @param handOffs with the spin off
   * @param spunHandOffs with the spin on
   * @param late of reads with the spin on, past due
   * @param latency of the same reads, simulated
   */
  public record Measured(
      long[] wakeUps, long[] handOffs, long[] spunHandOffs, long[] late, long[] latency) {
    /** The share {@code quantile} of values is at most this. */
    public static long quantile(long[] sorted, double quantile) {
      return sorted[(int) Math.min(sorted.length - 1L, (long) (quantile * sorted.length))];
    }

    /** The ratio of the medians of hand-offs and wake-ups: low end, ratio, high end, of 95 %. */
    public double[] ratio() {
      Random random = new Random(1);
      double[] ratios = new double[RESAMPLES];
      for (int i = 0; i < RESAMPLES; i++) {
        ratios[i] = (double) median(handOffs, random) / median(wakeUps, random);
      }
      Arrays.sort(ratios);
      double ratio = (double) quantile(handOffs, 0.5) / quantile(wakeUps, 0.5);
      return new double[] {ratios[RESAMPLES / 40], ratio, ratios[RESAMPLES - 1 - RESAMPLES / 40]};
    }

    private static long median(long[] values, Random random) {
      long[] drawn = new long[values.length];
      Arrays.setAll(drawn, i -> values[random.nextInt(values.length)]);
      Arrays.sort(drawn);
      return quantile(drawn, 0.5);
    }
  }

  private final Thread echo = new Thread(this::echo);
  private final Thread asking = Thread.currentThread();
  private volatile boolean asked;
  private volatile boolean closed;
  private volatile String failure;

  private HandOffs() {
    echo.setDaemon(true);
    echo.start();
  }

  /** Measures; takes some seconds. */
  public static Measured measure(int rounds) throws SimException {
    try (HandOffs handOffs = new HandOffs()) {
      return handOffs.rounds(rounds);
    }
  }

  private Measured rounds(int rounds) throws SimException {
    long[] wakeUps = new long[rounds];
    long[] handOffs = new long[rounds];
    sleeping(wakeUps, handOffs);
    DeviceThread spinning =
        new DeviceThread(
            "spinning",
            SPIN_NS,
            device -> {},
            Long.MAX_VALUE,
            new Watchdog(DeviceThread.LOOKS, System::nanoTime));
    DeviceThread reading =
        new DeviceThread(
            "reading",
            SPIN_NS,
            device -> {},
            Long.MAX_VALUE,
            new Watchdog(DeviceThread.LOOKS, System::nanoTime));
    int nsid = open(spinning, FAST);
    open(reading, 1);
    long[] spun = new long[rounds];
    long[] late = new long[rounds];
    long[] latency = new long[rounds];
    for (int i = -rounds / 4; i < rounds; i++) {
      int at = Math.max(i, 0);
      // So that its thread still looks.
      handOff(spinning, nsid);
      idle();
      spun[at] = handOff(spinning, nsid);
      command(reading, nsid, Opcode.READ, 1);
      idle();
      long begin = System.nanoTime();
      long ticket = command(reading, nsid, Opcode.READ, 1);
      long took = System.nanoTime() - begin;
      latency[at] = reading.ring.latencyPs(ticket) / 1000;
      late[at] = took - latency[at];
    }
    for (DeviceThread queue : new DeviceThread[] {spinning, reading}) {
      queue.close();
    }
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
    for (long[] values : new long[][] {wakeUps, handOffs, spun, late, latency}) {
      Arrays.sort(values);
    }
    return new Measured(wakeUps, handOffs, spun, late, latency);
  }

  /** While no thread spins, which would take a processor from both. */
  private void sleeping(long[] wakeUps, long[] handOffs) throws SimException {
    DeviceThread sleeping =
        new DeviceThread(
            "sleeping",
            0,
            device -> {},
            Long.MAX_VALUE,
            new Watchdog(DeviceThread.LOOKS, System::nanoTime));
    int nsid = open(sleeping, FAST);
    for (int i = 0; i < WARM_UP; i++) {
      wakeUp();
      handOff(sleeping, nsid);
    }
    for (int i = 0; i < wakeUps.length; i++) {
      idle();
      wakeUps[i] = wakeUp();
      idle();
      handOffs[i] = handOff(sleeping, nsid);
    }
    sleeping.close();
  }

  private static int open(DeviceThread queue, double dilation) throws SimException {
    queue.open(() -> NativeSimDevice.open("", "melded-tlc-8x8"));
    int nsid = queue.call(device -> device.createNamespace(1 << 30)).nsid();
    queue.call(device -> device.preload(nsid, 0, 1 << 10, Directive.NONE));
    queue.setMode(true, dilation);
    return nsid;
  }

  private void echo() {
    while (!closed) {
      LockSupport.park();
      asked = false;
      LockSupport.unpark(asking);
    }
  }

  private static void idle() {
    long until = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(IDLE_US);
    while (System.nanoTime() < until) {
      Thread.onSpinWait();
    }
  }

  /** Two threads that wake each other, and nothing else: what the processor makes of it. */
  private long wakeUp() {
    long begin = System.nanoTime();
    asked = true;
    LockSupport.unpark(echo);
    while (asked) {
      LockSupport.park();
    }
    return System.nanoTime() - begin;
  }

  private long handOff(DeviceThread queue, int nsid) {
    long begin = System.nanoTime();
    command(queue, nsid, Opcode.FLUSH, 0);
    return System.nanoTime() - begin;
  }

  private long command(DeviceThread queue, int nsid, int opcode, int nlb) {
    long ticket = queue.submit(this, null, opcode, nsid, 0, nlb, Directive.NONE, false);
    queue.await(this, ticket, Long.MAX_VALUE);
    return ticket;
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(echo);
  }

  @Override
  public void failed(WrittenExtent extent, int opcode, long slba, long status, String error) {
    failure = error;
  }

  @Override
  public void broken(Throwable e) {
    failure = e.toString();
  }
}
