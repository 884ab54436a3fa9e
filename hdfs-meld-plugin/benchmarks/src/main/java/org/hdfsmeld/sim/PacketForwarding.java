package org.hdfsmeld.sim;

import java.util.concurrent.TimeUnit;
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
 * Reads of 64 KiB through the binding, in account mode, of which 1024 are given to the device at
 * once, and the last is waited for. What fills the ring is measured apart from what empties it.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PacketForwarding {
  /** Packets per invocation; as many as a device keeps outstanding. */
  static final int PACKETS = 1024;

  private static final int PACKET_LBAS = 16;
  private static final long TIMEOUT_NS = 30_000_000_000L;

  private final CommandRing ring = new CommandRing();
  private SimDevice device;
  private NamespaceInfo namespace;

  /** A device with a melded block. */
  @Setup
  public void open() throws SimException {
    device = NativeSimDevice.open("", "melded-tlc-8x8");
    device.attach(ring);
    namespace = device.createNamespace(1L << 40);
    int status =
        device.preload(
            namespace.nsid(), 0, (long) PACKETS * PACKET_LBAS, Directive.sequential(16 << 20));
    require(status);
  }

  @TearDown
  public void close() {
    device.close();
  }

  /** A call that does nothing: what JNA takes at least. */
  @Benchmark
  public int emptyCall() {
    return LibMeldsim.meldsim_abi_version();
  }

  /** What is measured of the simulation itself finds a ring that is full. */
  @Setup(Level.Invocation)
  public void fill(BenchmarkParams of) {
    if (of.getBenchmark().endsWith(".runRing")) {
      fillRing();
    }
  }

  /** A ring that is full already: the simulation itself. */
  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long runRing() {
    return run();
  }

  /** Fills a ring, and has it emptied. */
  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long putAndRunRing() {
    fillRing();
    return run();
  }

  /** A submit and a wait for each packet before the next: an HDFS read without window. */
  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long submitAndWait() {
    long last = 0;
    for (int i = 0; i < PACKETS; i++) {
      long ticket =
          device.submit(Opcode.READ, namespace.nsid(), lba(i), PACKET_LBAS, Directive.NONE, false);
      last = require(device.await(require(ticket), TIMEOUT_NS));
    }
    return last;
  }

  private void fillRing() {
    long ticket = 0;
    for (int i = 0; i < PACKETS; i++) {
      ticket = ring.claim() + 1;
      ring.publish(ticket - 1, Opcode.READ, namespace.nsid(), lba(i), PACKET_LBAS, 0, false);
    }
    ring.publish(ring.claim(), CommandRing.WAIT, 0, ticket, 0, 0, true);
  }

  private long run() {
    long due = require(device.runRing(0, TIMEOUT_NS));
    if (ring.isReady() || ring.takePosted() > 0) {
      throw new IllegalStateException(device.lastError());
    }
    return due;
  }

  private static long lba(int packet) {
    return (long) packet * PACKET_LBAS;
  }

  private long require(long result) {
    if (result < 0) {
      throw new IllegalStateException(SimStatus.name(result) + ": " + device.lastError());
    }
    return result;
  }
}
