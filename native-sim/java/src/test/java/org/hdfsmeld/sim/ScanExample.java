package org.hdfsmeld.sim;

import java.io.PrintStream;

/**
 * The simulator from Java: scans data with a window of reads outstanding, once laid out normally,
 * once melded.
 *
 * <pre>
 *            window of 16 tickets
 *   submit --&gt; [ 1 MiB | 1 MiB | ... | 1 MiB ] --&gt; await the oldest --&gt; next
 * </pre>
 *
 * <p>Needs the jar {@code native-sim}, which has this package and the native library, and JNA:
 *
 * <pre>java -cp native-sim.jar:jna.jar ScanExample.java [PROFILE]</pre>
 */
public final class ScanExample {
  private static final int WINDOW = 16;
  private static final long REQUEST_BYTES = 1 << 20;
  private static final long FILE_BYTES = 256 << 20;

  private ScanExample() {}

  /** Scans on a device of the profile named, or of {@code melded-tlc-8x8}. */
  public static void main(String[] args) throws SimException {
    String profile = args.length > 0 ? args[0] : "melded-tlc-8x8";
    scan(profile, "normal", Directive.NONE, System.out);
    scan(profile, "melded", Directive.sequential(REQUEST_BYTES), System.out);
  }

  /** Scans data written with a directive and returns the rate in MiB per simulated second. */
  static double scan(String profile, String layout, int directive, PrintStream out)
      throws SimException {
    try (SimDevice device = NativeSimDevice.open("", profile)) {
      NamespaceInfo namespace = device.createNamespace(FILE_BYTES);
      int blocks = (int) (REQUEST_BYTES / namespace.lbaBytes());
      // The file has been on the device for long.
      device.checked(device.preload(namespace.nsid(), 0, namespace.sizeLbas(), directive));

      long[] window = new long[WINDOW];
      long slowestPs = 0;
      int requests = (int) (FILE_BYTES / REQUEST_BYTES);
      for (int at = 0; at < requests + WINDOW; at++) {
        int slot = at % WINDOW;
        if (window[slot] != 0) {
          slowestPs =
              Math.max(slowestPs, device.checked(device.await(window[slot], Long.MAX_VALUE)));
          window[slot] = 0;
        }
        if (at < requests) {
          long slba = (long) at * blocks;
          long ticket =
              device.submit(Opcode.READ, namespace.nsid(), slba, blocks, Directive.NONE, false);
          window[slot] = device.checked(ticket);
        }
      }

      double seconds = stat(device, "now_ps") * 1e-12;
      double rate = FILE_BYTES / seconds / (1 << 20);
      out.printf(
          "%s: %.0f MiB/s, slowest request %.0f us, %d melded reads (simulated)%n",
          layout, rate, slowestPs * 1e-6, stat(device, "melded_reads"));
      return rate;
    }
  }

  /** A counter by its name: which there are, and in which order, is the library's business. */
  private static long stat(SimDevice device, String name) throws SimException {
    long[] values = new long[device.statNames().size()];
    device.checked(device.stats(values));
    return values[device.statNames().indexOf(name)];
  }
}
