package org.hdfsmeld.datanode.io;

import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.device.SharedDevice;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.CommandRing;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.NativeSimDevice;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.timeline.DatanodeTimeline;
import org.hdfsmeld.trace.BlockTrace;
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
import org.openjdk.jmh.infra.BenchmarkParams;

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
  private final CommandRing requests = new CommandRing();
  private NamespaceInfo namespace;
  private int requestLbas;
  private int lbas;

  /** A volume, and beside it a device that gets the window's requests in one call. */
  @Setup
  public void open() throws IOException {
    MeldConfiguration config = MeldConfiguration.read(new Configuration(false));
    MeldVolume.Shared shared =
        new MeldVolume.Shared(
            config,
            HintSource.NONE,
            new SimFailures(),
            new BlockTrace(config.trace(), "none"),
            new DatanodeTimeline(config.trace(), "none", List::of));
    File folder = new File("/benchmark/current");
    SharedDevice own =
        new SharedDevice(
            folder.getParent(),
            config.devices().of(folder.getParentFile()),
            config,
            () -> NativeSimDevice.open("", config.devices().profile()),
            shared.failures());
    volume = new MeldVolume("DS-benchmark", folder, own, shared);
    volume.change(config.mode(), config.timeDilation());

    device = NativeSimDevice.open("", config.devices().profile());
    device.attach(requests);
    namespace = device.createNamespace(1L << 40);
    lbas = (int) (BLOCK_BYTES / namespace.lbaBytes());
    device.preload(namespace.nsid(), 0, lbas, Directive.sequential(config.windowBytes()));
    requestLbas =
        (int)
            ((config.requestBytes() + namespace.wordlineBytes() - 1)
                / namespace.wordlineBytes()
                * namespace.wordlineBytes()
                / namespace.lbaBytes());
  }

  /** What is measured of the simulation itself finds a block's requests, and a wait for all. */
  @Setup(Level.Invocation)
  public void fill(BenchmarkParams of) {
    if (of.getBenchmark().endsWith(".readPathSimulationOnly")) {
      putRequests();
    }
  }

  private void putRequests() {
    long ticket = 0;
    for (int lba = 0; lba < lbas; lba += requestLbas) {
      int length = Math.min(requestLbas, lbas - lba);
      ticket = requests.claim() + 1;
      requests.publish(
          ticket - 1, Opcode.READ, namespace.nsid(), lba, length, Directive.NONE, false);
    }
    requests.publish(requests.claim(), CommandRing.WAIT, 0, ticket, 0, 0, true);
  }

  @TearDown
  public void close() {
    if (!volume.isHealthy() || volume.counters().get(VolumeCounter.ERRORS) > 0) {
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
    ReadStream reader = new ReadStream(volume, BLOCK, () -> BLOCK_BYTES, true, StreamUser.DATANODE);
    for (long offset = 0; offset < BLOCK_BYTES; offset += PACKET_BYTES) {
      reader.consume(offset, PACKET_BYTES);
    }
    reader.close();
    return volume.counters().get(VolumeCounter.FORWARDED_READS);
  }

  /** The device simulates what it was given. */
  @TearDown(Level.Invocation)
  public void catchUp() {
    // A call comes after all that was put in before.
    volume.device().layout(0, 1, new long[3]);
  }

  /** The same requests in one call: the simulation itself; per packet. */
  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long readPathSimulationOnly() {
    long result = device.runRing(0, Long.MAX_VALUE);
    if (result < 0 || requests.isReady() || requests.takePosted() > 0) {
      throw new IllegalStateException(device.lastError());
    }
    return result;
  }
}
