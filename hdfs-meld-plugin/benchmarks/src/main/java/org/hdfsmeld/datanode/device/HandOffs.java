package org.hdfsmeld.datanode.device;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.NativeSimDevice;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What it takes in real-time mode to hand a request to the device's thread and its completion back.
 *
 * <p>The request is a flush of nothing, and simulated time runs a thousand times faster than the
 * wall clock: it is done when it has been submitted. The device's thread has slept before, for
 * {@value #IDLE_US} µs.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HandOffs implements CommandQueue.Origin {
  private static final long IDLE_US = 300;
  private static final double DILATION = 0.001;

  private final Thread echo = new Thread(this::echo);
  private Thread asking;
  private volatile boolean asked;
  private volatile boolean closed;
  private CommandQueue queue;
  private int nsid;
  private String failure;

  /** A device in real-time mode that holds nothing. */
  @Setup
  public void open() throws SimException {
    queue = new CommandQueue("benchmark", device -> {}, Long.MAX_VALUE);
    queue.open(() -> NativeSimDevice.open("", "melded-tlc-8x8"));
    nsid = queue.call(device -> device.createNamespace(1 << 30)).nsid();
    queue.setMode(true, DILATION);
    asking = Thread.currentThread();
    echo.setDaemon(true);
    echo.start();
  }

  private void echo() {
    while (!closed) {
      LockSupport.park();
      asked = false;
      LockSupport.unpark(asking);
    }
  }

  /** Ends it. */
  @TearDown
  public void close() {
    closed = true;
    LockSupport.unpark(echo);
    queue.close();
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
  }

  /** The device's thread has nothing to do for a while. */
  @Setup(Level.Invocation)
  public void idle() {
    long until = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(IDLE_US);
    while (System.nanoTime() < until) {
      Thread.onSpinWait();
    }
  }

  /** Two threads that wake each other, and nothing else: what the processor makes of it. */
  @Benchmark
  public void wakeUps() {
    asked = true;
    LockSupport.unpark(echo);
    while (asked) {
      LockSupport.park();
    }
  }

  /** A request, submitted and awaited. */
  @Benchmark
  public boolean handOffs() {
    long ticket = queue.submit(this, null, Opcode.FLUSH, nsid, 0, 0, Directive.NONE, false);
    return queue.await(this, ticket, Long.MAX_VALUE);
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
