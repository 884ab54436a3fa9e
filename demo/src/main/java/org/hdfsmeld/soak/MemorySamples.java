package org.hdfsmeld.soak;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Memory of this process over time: native, and the Java heap after a collection.
 *
 * <p>How much of its heap a JVM keeps resident is for its collector to say, and changes by half
 * from minute to minute. {@code ./meld soak} has all of it resident from the start, and what else
 * is resident is native.
 */
final class MemorySamples {
  private static final double MIB = 1 << 20;

  /** Growth, of the last quarter of a run over its second, that still counts as flat. */
  static final double NATIVE_GROWTH_MAX = 0.10;

  /** The heap holds the NameNode and the block maps too, which breathe. */
  static final double HEAP_GROWTH_MAX = 0.20;

  private final List<Double> nativeMib = new ArrayList<>();
  private final List<Double> heapMib = new ArrayList<>();

  void take() throws IOException {
    // What is not reachable is no leak.
    System.gc();
    heapMib.add(ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / MIB);
    nativeMib.add(residentMib() - residentHeapMib());
  }

  private static double residentMib() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) / 1024.0;
      }
    }
    throw new IOException("/proc/self/status has no VmRSS");
  }

  /** Of the heap, what is resident for good: all of it, or nothing that could be relied on. */
  private static double residentHeapMib() {
    HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    String most = vm.getVMOption("MaxHeapSize").getValue();
    boolean all =
        Boolean.parseBoolean(vm.getVMOption("AlwaysPreTouch").getValue())
            && vm.getVMOption("InitialHeapSize").getValue().equals(most);
    return all ? Long.parseLong(most) / MIB : 0;
  }

  /** Samples taken. */
  int count() {
    return heapMib.size();
  }

  double nativeGrowth() {
    return growth(nativeMib);
  }

  double heapGrowth() {
    return growth(heapMib);
  }

  /** Mean of the last quarter over that of the second, less 1: the first is warm-up. */
  private static double growth(List<Double> samples) {
    int quarter = samples.size() / 4;
    return mean(samples.subList(3 * quarter, samples.size()))
            / mean(samples.subList(quarter, 2 * quarter))
        - 1;
  }

  private static double mean(List<Double> samples) {
    return samples.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
  }

  /** The samples, at most a dozen of them. */
  String table() {
    StringBuilder table = new StringBuilder("  native MiB / heap MiB after collection:");
    int step = Math.max(1, count() / 12);
    for (int i = 0; i < count(); i += step) {
      table.append(String.format(Locale.ROOT, " %.0f/%.0f", nativeMib.get(i), heapMib.get(i)));
    }
    return table.toString();
  }
}
