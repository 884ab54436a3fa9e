package org.hdfsmeld.trace;

import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.TimeUnit;
import org.hdfsmeld.datanode.config.TraceConfiguration;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What one record of the block trace costs the thread that does the I/O. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TraceRecording {
  private static final int RING_RECORDS = 1 << 16;
  private static final long FILE_BYTES = 64 << 20;

  /** Whether a trace is being recorded. */
  @Param({"false", "true"})
  public boolean recording;

  private BlockTrace trace;
  private static final BlockKey BLOCK = new BlockKey("BP-1", 1073741825L);

  private BlockTrace.VolumeTrace volume;
  private long offset;

  /** A trace in a folder that is left to the system to remove. */
  @Setup
  public void open() throws IOException {
    String folder = Files.createTempDirectory("meld-trace-benchmark").toString();
    trace =
        new BlockTrace(
            new TraceConfiguration(folder, 2, FILE_BYTES, RING_RECORDS, false), "datanode");
    volume = trace.volume("DS-benchmark", () -> "mode account, time dilation 1.0");
    if (recording) {
      trace.start();
    }
  }

  /** Ends the trace. */
  @TearDown
  public void close() {
    trace.close();
  }

  /** One I/O of 1 MiB. */
  @Benchmark
  public void record() {
    offset += 1 << 20;
    volume.record(
        TraceOp.READ, BLOCK, 16386, offset, 1 << 20, ReadPattern.SEQUENTIAL, ClientKind.CLIENT);
  }
}
