package org.hdfsmeld.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Measures what the plugin costs a DataNode: throughput of writing and reading blocks of 128 MiB
 * with the plugin against stock HDFS. Exits with 1 when a bar is missed: when all of the median's
 * 95 % interval is below it. Exits with 2 when a second stock HDFS differs from the first, so that
 * the run says nothing.
 *
 * <p>Each variant has a JVM of its own. They live side by side and work in turn, in another order
 * each round, so that a round's ratios are of neighbours in time. JVMs are started anew several
 * times: two of the same kind can differ for as long as they live.
 */
public final class Overhead {
  private static final int WARM_UP_ROUNDS = 15;
  private static final int GENERATIONS = 3;
  private static final int BLOCKS = 4;

  /** A read is shorter than a write, and a difference between two drowns sooner in the machine. */
  private static final int READS_OF_A_WRITE = 2;

  private final Path folder;
  private final int roundsPerGeneration;

  /** By what they are of: the work's name for ratios to stock, with more behind it for others. */
  private final Map<Variant, Map<String, Samples>> samples = new EnumMap<>(Variant.class);

  private int rounds;

  private Overhead(Path folder, int pairs) {
    this.folder = folder;
    this.roundsPerGeneration = (pairs + GENERATIONS - 1) / GENERATIONS;
  }

  /** Runs; the only argument is how many pairs, rounded up to whole generations. */
  public static void main(String[] args) throws IOException {
    int pairs = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    Path folder = Scratch.folder("meld-overhead");
    System.out.printf(
        "Files of %d blocks of 128 MiB, one replica, in %s (%s); Java %s, processors: %d%n",
        BLOCKS,
        folder,
        Scratch.isMemory(folder) ? "memory: no disk hides a cost" : "disk",
        System.getProperty("java.version"),
        Runtime.getRuntime().availableProcessors());
    Overhead overhead = new Overhead(folder, pairs);
    int status;
    try {
      for (int i = 0; i < GENERATIONS; i++) {
        overhead.generation();
      }
      status = overhead.print();
    } finally {
      Scratch.delete(folder);
    }
    System.exit(status);
  }

  private void generation() throws IOException {
    Map<Variant, NodeProcess> nodes = new EnumMap<>(Variant.class);
    try {
      for (Variant variant : Variant.values()) {
        Path home = Files.createDirectories(folder.resolve(variant.name()));
        nodes.put(
            variant,
            new NodeProcess(HdfsNode.class, home, variant.name(), Integer.toString(BLOCKS)));
      }
      for (NodeProcess node : nodes.values()) {
        node.awaitReady();
      }
      for (int i = -WARM_UP_ROUNDS; i < roundsPerGeneration; i++) {
        round(nodes, i >= 0);
      }
      for (Variant variant : Variant.values()) {
        check(variant, Long.parseLong(nodes.get(variant).ask("forwarded")));
      }
    } finally {
      nodes.values().forEach(NodeProcess::close);
    }
  }

  /** A measurement of the plugin in a mode that it was not in would prove nothing. */
  private static void check(Variant variant, long forwarded) {
    boolean forwards = variant == Variant.ACCOUNT;
    if (forwards != forwarded > 0) {
      throw new IllegalStateException(variant.label() + ": forwarded " + forwarded + " calls");
    }
  }

  /**
   * Each variant in turn writes, reads and deletes: the next write finds the memory that was just
   * freed. A virtual machine's host takes back what is free for seconds, and the first of four that
   * wrote one after the other paid for all.
   *
   * <p>A write has a running start, a block that is not measured. The device's thread is behind by
   * what it gathers: it has as much to do of that block as it leaves of the write.
   */
  private void round(Map<Variant, NodeProcess> nodes, boolean counts) throws IOException {
    List<Variant> order = new ArrayList<>(List.of(Variant.values()));
    Collections.rotate(order, rounds / 2);
    if (rounds % 2 == 1) {
      Collections.reverse(order);
    }
    rounds++;
    Map<Variant, long[]> writes = new EnumMap<>(Variant.class);
    Map<Variant, long[]> reads = new EnumMap<>(Variant.class);
    for (Variant variant : order) {
      NodeProcess node = nodes.get(variant);
      node.ask("start");
      writes.put(variant, timed(node, "write"));
      long[] read = new long[2];
      for (int i = 0; i < READS_OF_A_WRITE; i++) {
        long[] took = timed(node, "read");
        read[0] += took[0] / READS_OF_A_WRITE;
        read[1] += took[1] / READS_OF_A_WRITE;
      }
      reads.put(variant, read);
      node.ask("delete");
    }
    if (counts) {
      add("write", writes);
      add("read", reads);
    }
    progress(writes, counts);
  }

  /** Wall and processor time in ns. */
  private static long[] timed(NodeProcess node, String work) throws IOException {
    return Stream.of(node.ask(work).split(" ")).mapToLong(Long::parseLong).toArray();
  }

  private void progress(Map<Variant, long[]> took, boolean counts) {
    StringBuilder line = new StringBuilder(counts ? "overhead:" : "overhead: warming up:");
    for (Variant variant : Variant.values()) {
      line.append(String.format(" %s %.0f ms,", variant.label(), took.get(variant)[0] / 1e6));
    }
    System.err.printf(
        "%s %d of %d writes counted%n",
        line, of(Variant.STOCK, "write").count(), roundsPerGeneration * GENERATIONS);
  }

  private void add(String work, Map<Variant, long[]> took) {
    long[] stock = took.get(Variant.STOCK);
    took.forEach(
        (variant, ns) -> {
          of(variant, work).add((double) stock[0] / ns[0]);
          of(variant, work + " cpu").add((double) ns[1] / stock[1]);
          of(variant, work + " ns").add(ns[0]);
        });
  }

  private double stockMibPerSecond(String work) {
    double mib = (double) BLOCKS * HdfsNode.BLOCK_BYTES / (1 << 20);
    return mib / (of(Variant.STOCK, work + " ns").median() / 1e9);
  }

  private Samples of(Variant variant, String work) {
    return samples
        .computeIfAbsent(variant, v -> new TreeMap<>())
        .computeIfAbsent(work, w -> new Samples());
  }

  /** Prints the table; returns the exit status. */
  private int print() {
    System.out.printf(
        "%nmeasured: ratios to stock of %d rounds of a write and %d reads; stock writes %.0f MiB/s"
            + " and reads %.0f MiB/s in the median%n%n",
        of(Variant.STOCK, "write").count(),
        READS_OF_A_WRITE,
        stockMibPerSecond("write"),
        stockMibPerSecond("read"));
    System.out.println(
        "| variant | work | throughput, median | 95 % interval | fastest tenth | processor time |"
            + " bar | verdict |");
    System.out.println("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |");
    boolean held = true;
    boolean counts = true;
    for (Variant variant : Variant.values()) {
      for (String work : List.of("write", "read")) {
        if (variant != Variant.STOCK) {
          held &= row(variant, work);
        }
        if (variant == Variant.STOCK_AGAIN) {
          Samples again = of(variant, work);
          counts &= again.lowMedian() <= 1 && again.highMedian() >= 1;
        }
      }
    }
    if (!counts) {
      System.out.printf(
          "%nThe run says nothing: the machine was too busy for two stock HDFS to come out alike.%n");
      return 2;
    }
    return held ? 0 : 1;
  }

  private boolean row(Variant variant, String work) {
    Samples ratio = of(variant, work);
    boolean barred = variant.bar() > 0;
    boolean held = !barred || ratio.highMedian() >= 1 - variant.bar();
    System.out.printf(
        "| %s | %s | %.3f | %.3f to %.3f | %.3f | %.3f | %s | %s |%n",
        variant.label(),
        work,
        ratio.median(),
        ratio.lowMedian(),
        ratio.highMedian(),
        of(Variant.STOCK, work + " ns").quantile(0.1) / of(variant, work + " ns").quantile(0.1),
        of(variant, work + " cpu").median(),
        barred ? String.format("%.2f", 1 - variant.bar()) : "",
        !barred ? "" : held ? "held" : "**missed**");
    return held;
  }
}
