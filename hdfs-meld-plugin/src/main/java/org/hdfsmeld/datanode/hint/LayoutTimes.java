package org.hdfsmeld.datanode.hint;

import java.util.ArrayDeque;
import java.util.function.LongSupplier;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimException;

/**
 * How fast a device reads data that was written without a directive, and with the sequential one,
 * by the bytes outstanding. Both are asked of the simulator itself, so they hold for any profile.
 */
public record LayoutTimes(Layout normal, Layout melded) {
  private static final int PACKET_BYTES = 64 << 10;

  /** Windows that a sequential reader is observed for, after the first. */
  private static final int WINDOWS = 4;

  /**
   * The times of one layout, by the classes of {@link ReadMix}.
   *
   * @param burst picoseconds from requesting that many bytes at once to the last one
   * @param perByte picoseconds a byte for a reader that keeps that many bytes requested
   */
  public record Layout(double[] burst, double[] perByte) {
    /** Time that the device would take for these reads if all were of this layout. */
    double timePs(ReadMix mix) {
      double time = 0;
      for (int k = 0; k < ReadMix.CLASSES; k++) {
        double runs = mix.runs[k];
        double first = runs * ReadMix.classBytes(k);
        time += runs * burst[k] + Math.max(0, mix.bytes[k] - first) * perByte[k];
      }
      return time;
    }
  }

  /** Measures a device in account mode that nobody else uses. Takes some tens of milliseconds. */
  static LayoutTimes measure(SimDevice device) throws SimException {
    long largest = ReadMix.classBytes(ReadMix.CLASSES - 1);
    long region = (WINDOWS + 1) * largest;
    NamespaceInfo namespace = device.createNamespace(2 * region);
    Layout normal = new Probe(device, namespace, 0, region, Directive.NONE).measure();
    Layout melded =
        new Probe(device, namespace, region, region, Directive.sequential(largest)).measure();
    return new LayoutTimes(normal, melded);
  }

  /**
   * Bytes outstanding from which on melded data is read faster; {@link Long#MAX_VALUE} if never.
   */
  public long crossoverBytes() {
    long crossover = Long.MAX_VALUE;
    for (int k = ReadMix.CLASSES - 1; k >= 0 && melded.perByte[k] < normal.perByte[k]; k--) {
      crossover = ReadMix.classBytes(k);
    }
    return crossover;
  }

  /** One region of the device, all of one layout. */
  private static final class Probe {
    private final SimDevice device;
    private final NamespaceInfo namespace;
    private final long base;
    private final LongSupplier nowPs;

    Probe(SimDevice device, NamespaceInfo namespace, long base, long length, int directive)
        throws SimException {
      this.device = device;
      this.namespace = namespace;
      this.base = base;
      long[] stats = new long[device.statNames().size()];
      int now = device.statNames().indexOf("now_ps");
      this.nowPs =
          () -> {
            device.stats(stats);
            return stats[now];
          };
      device.checked(device.preload(namespace.nsid(), lbas(base), lbas(length), directive));
    }

    Layout measure() throws SimException {
      double[] burst = new double[ReadMix.CLASSES];
      double[] perByte = new double[ReadMix.CLASSES];
      for (int k = 0; k < ReadMix.CLASSES; k++) {
        int bytes = (int) ReadMix.classBytes(k);
        burst[k] = device.checked(device.await(request(0, bytes), Long.MAX_VALUE));
        perByte[k] = perByte(bytes);
      }
      return new Layout(burst, perByte);
    }

    /** Reads on, a packet whenever one has come; what the first window takes is left out. */
    private double perByte(int window) throws SimException {
      int packet = Math.min(PACKET_BYTES, window);
      ArrayDeque<Long> outstanding = new ArrayDeque<>();
      long at = 0;
      for (; at < window; at += packet) {
        outstanding.add(request(at, packet));
      }
      long begin = nowPs.getAsLong();
      for (; at < (WINDOWS + 1L) * window; at += packet) {
        device.checked(device.await(outstanding.remove(), Long.MAX_VALUE));
        outstanding.add(request(at, packet));
      }
      long end = nowPs.getAsLong();
      for (long ticket : outstanding) {
        device.checked(device.await(ticket, Long.MAX_VALUE));
      }
      return (end - begin) / (double) ((long) WINDOWS * window);
    }

    private long request(long offset, int length) throws SimException {
      return device.checked(
          device.submit(
              Opcode.READ,
              namespace.nsid(),
              lbas(base + offset),
              (int) lbas(length),
              Directive.NONE,
              false));
    }

    private long lbas(long bytes) {
      return bytes / namespace.lbaBytes();
    }
  }
}
