package org.hdfsmeld.soak;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Memory of this process over time: resident, and the Java heap after a collection. */
final class MemorySamples {
  private static final double MIB = 1 << 20;

  /** Growth, of the last quarter of a run over its second, that still counts as flat. */
  static final double RESIDENT_GROWTH_MAX = 0.10;

  /** The heap holds the NameNode and the block maps too, which breathe. */
  static final double HEAP_GROWTH_MAX = 0.20;

  private final List<Double> residentMib = new ArrayList<>();
  private final List<Double> heapMib = new ArrayList<>();

  void take() throws IOException {
    // What is not reachable is no leak.
    System.gc();
    heapMib.add(ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / MIB);
    residentMib.add(residentMib());
  }

  private static double residentMib() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) / 1024.0;
      }
    }
    throw new IOException("/proc/self/status has no VmRSS");
  }

  /** Samples taken. */
  int count() {
    return heapMib.size();
  }

  double residentGrowth() {
    return growth(residentMib);
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
    StringBuilder table = new StringBuilder("  resident MiB / heap MiB after collection:");
    int step = Math.max(1, count() / 12);
    for (int i = 0; i < count(); i += step) {
      table.append(String.format(Locale.ROOT, " %.0f/%.0f", residentMib.get(i), heapMib.get(i)));
    }
    return table.toString();
  }
}
