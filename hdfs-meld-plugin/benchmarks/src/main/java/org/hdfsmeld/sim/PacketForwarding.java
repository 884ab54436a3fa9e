package org.hdfsmeld.sim;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Reads of 64 KiB through the binding, in account mode. All variants give the device the same
 * commands; {@link #batch} crosses JNA twice for all of them, so its time is the simulation's.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PacketForwarding {
  /** Packets per invocation; as many as a device keeps outstanding. */
  static final int PACKETS = CommandBatch.MAX_COMMANDS;

  private static final int PACKET_LBAS = 16;
  private static final long TIMEOUT_NS = 30_000_000_000L;

  private SimDevice device;
  private NamespaceInfo namespace;
  private CommandBatch batch;
  private final long[] tickets = new long[PACKETS];

  /** A device with a melded block. */
  @Setup
  public void open() throws SimException {
    device = NativeSimDevice.open("", "melded-tlc-8x8");
    namespace = device.createNamespace(1L << 40);
    int status =
        device.preload(
            namespace.nsid(), 0, (long) PACKETS * PACKET_LBAS, Directive.sequential(16 << 20));
    require(status);
    batch = new CommandBatch(PACKETS);
    for (int i = 0; i < PACKETS; i++) {
      batch.add(Opcode.READ, namespace.nsid(), lba(i), PACKET_LBAS, Directive.NONE);
    }
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

  /** All packets in one call, and one wait: the simulation itself. */
  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long batch() {
    long ticket = require(device.submitBatch(batch, false));
    return require(device.await(ticket, TIMEOUT_NS));
  }

  /** A submit and a wait for each packet, all outstanding at once: as the batch, but for JNA. */
  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long submitAllThenWait() {
    for (int i = 0; i < PACKETS; i++) {
      tickets[i] = submit(i);
    }
    long last = 0;
    for (int i = 0; i < PACKETS; i++) {
      last = require(device.await(tickets[i], TIMEOUT_NS));
    }
    return last;
  }

  /** A submit and a wait for each packet before the next: an HDFS read without window. */
  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public long submitAndWait() {
    long last = 0;
    for (int i = 0; i < PACKETS; i++) {
      last = require(device.await(submit(i), TIMEOUT_NS));
    }
    return last;
  }

  private long submit(int packet) {
    return require(
        device.submit(
            Opcode.READ, namespace.nsid(), lba(packet), PACKET_LBAS, Directive.NONE, false));
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
