package org.hdfsmeld.datanode.io;

import java.io.File;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.CommandBatch;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.NativeSimDevice;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimDevice;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * A whole block read in 64 KiB packets through everything the plugin adds to a DataNode's read: the
 * read-ahead window, the block's extent, the health check, counters and the binding. Account mode.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class BlockForwarding {
  private static final int PACKET_BYTES = 64 << 10;
  private static final int BLOCK_BYTES = 128 << 20;
  private static final int PACKETS = BLOCK_BYTES / PACKET_BYTES;
  private static final BlockKey BLOCK = new BlockKey("BP-1", 1);

  private MeldVolume volume;
  private SimDevice device;
  private CommandBatch requests;

  /** A volume, and beside it a device that gets the window's requests in one batch. */
  @Setup
  public void open() throws IOException {
    MeldConfiguration config = MeldConfiguration.read(new Configuration(false));
    volume =
        new MeldVolume(
            "DS-benchmark",
            new File("/benchmark/current"),
            config,
            () -> NativeSimDevice.open("", config.devices().profile()),
            new SimFailures(),
            HintSource.NONE);
    volume.change(config.mode(), config.timeDilation());

    device = NativeSimDevice.open("", config.devices().profile());
    NamespaceInfo namespace = device.createNamespace(1L << 40);
    int lbas = (int) (BLOCK_BYTES / namespace.lbaBytes());
    device.preload(namespace.nsid(), 0, lbas, Directive.sequential(config.windowBytes()));
    int requestLbas =
        (int)
            ((config.requestBytes() + namespace.wordlineBytes() - 1)
                / namespace.wordlineBytes()
                * namespace.wordlineBytes()
                / namespace.lbaBytes());
    requests = new CommandBatch(CommandBatch.MAX_COMMANDS);
    for (int lba = 0; lba < lbas; lba += requestLbas) {
      int length = Math.min(requestLbas, lbas - lba);
      requests.add(Opcode.READ, namespace.nsid(), lba, length, Directive.NONE);
    }
  }

  @TearDown
  public void close() {
    if (!volume.isHealthy() || volume.counters().errors.sum() > 0) {
      throw new IllegalStateException(volume.getLastError());
    }
    volume.close();
    device.close();
  }

  /** The plugin's read path, until the device has simulated it all; per packet. */
  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long readPath() {
    long reads = readPathOfHdfs();
    catchUp();
    return reads;
  }

  /** What the plugin's read path takes of HDFS's thread; per packet. */
  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long readPathOfHdfs() {
    ReadStream reader = new ReadStream(volume, BLOCK, () -> BLOCK_BYTES, true);
    for (long offset = 0; offset < BLOCK_BYTES; offset += PACKET_BYTES) {
      reader.consume(offset, PACKET_BYTES);
    }
    reader.close();
    return volume.counters().forwardedReads.sum();
  }

  /** The device simulates what it was given. */
  @TearDown(Level.Invocation)
  public void catchUp() {
    // A call comes after all that was put in before.
    volume.device().device().stats();
  }

  /** The same requests in one batch: the simulation itself; per packet. */
  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long readPathSimulationOnly() {
    long result = device.await(device.submitBatch(requests, false), Long.MAX_VALUE);
    if (result < 0) {
      throw new IllegalStateException(device.lastError());
    }
    return result;
  }
}
