package org.hdfsmeld.datanode.device;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** What it takes to have a call made by a thread that may be lost: real-time mode, and set-up. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CallByAnotherThread {
  private final BoundedCalls calls = new BoundedCalls();

  /** A call that does nothing. */
  @Benchmark
  public long boundedCall() {
    return calls.<Long, RuntimeException>make(() -> 1L);
  }
}
