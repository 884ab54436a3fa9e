package org.hdfsmeld.datanode.hint;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.hdfsmeld.datanode.config.HintConfiguration;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** How long a DataNode takes to find the hint of a block that it has asked for before. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HintLookup {
  private static final int BLOCKS = 4096;
  private static final long FIRST_BLOCK = 1L << 30;
  private static final BlockHint HINT =
      new BlockHint(ReadPattern.SEQUENTIAL, 128L << 20, 16_386, 16_385, 1);

  /** Of the length that pools have; each call of HDFS brings a string of its own. */
  private final String[] pools = new String[BLOCKS];

  private NameNodeHints hints;

  /** Hints of all blocks, asked for once. */
  @Setup
  public void ask() throws IOException {
    HintConfiguration config = new HintConfiguration(TimeUnit.SECONDS.toNanos(10), 1 << 16);
    hints = new NameNodeHints(blockIds -> blockIds.stream().map(id -> HINT).toList(), config, 1);
    for (int i = 0; i < BLOCKS; i++) {
      pools[i] = "BP-1096097945-127.0.0.1-" + 1_795_287_353_060L;
      if (hints.of(pools[i], FIRST_BLOCK + i) != HINT) {
        throw new IOException("block " + i + " got no hint");
      }
    }
  }

  @TearDown
  public void close() {
    hints.close();
  }

  /** One block after the other; per look-up. */
  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public int hintLookup() {
    int found = 0;
    for (int i = 0; i < BLOCKS; i++) {
      found += hints.known(new BlockKey(pools[i], FIRST_BLOCK + i)).level();
    }
    return found;
  }
}
