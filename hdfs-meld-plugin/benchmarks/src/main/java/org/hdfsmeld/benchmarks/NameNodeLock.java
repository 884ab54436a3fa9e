package org.hdfsmeld.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures what the plugin's service costs a NameNode: the time that its lock is held while blocks
 * are created, by the lock's own metric, with the service and without. With it the hints of each
 * block are asked for as often as it has replicas. Exits with 1 when the median is above the bar.
 *
 * <p>Two NameNodes live side by side and work in turn, in another order each round. Then it is seen
 * that an answer takes time in proportion to the length of a path.
 */
public final class NameNodeLock {
  private static final double BAR = 1.02;
  private static final int WARM_UP_ROUNDS = 2;
  private static final int LONGEST = 8000;

  /** Twice as long a path takes twice as long, and this much more at most. */
  private static final double LINEAR = 1.25;

  private NameNodeLock() {}

  /** Runs; the arguments are how many pairs, and how many blocks each creates. */
  public static void main(String[] args) throws IOException {
    int pairs = args.length > 0 ? Integer.parseInt(args[0]) : 15;
    int blocks = args.length > 1 ? Integer.parseInt(args[1]) : 100_000;
    Path folder = Scratch.folder("meld-namenode");
    boolean held;
    try {
      Map<String, NodeProcess> nodes = new LinkedHashMap<>();
      try {
        for (String kind : List.of("stock", "service")) {
          Path home = Files.createDirectories(folder.resolve(kind));
          nodes.put(kind, new NodeProcess(LockedNameNode.class, home, kind));
        }
        for (NodeProcess node : nodes.values()) {
          node.awaitReady();
        }
        held = creations(nodes, pairs, blocks) & paths(nodes.get("service"));
      } finally {
        nodes.values().forEach(NodeProcess::close);
      }
    } finally {
      Scratch.delete(folder);
    }
    System.exit(held ? 0 : 1);
  }

  private static boolean creations(Map<String, NodeProcess> nodes, int pairs, int blocks)
      throws IOException {
    Samples ratios = new Samples();
    Samples stockNs = new Samples();
    Samples serviceNs = new Samples();
    for (int i = -WARM_UP_ROUNDS; i < pairs; i++) {
      boolean stockFirst = Math.floorMod(i, 2) == 0;
      Map<String, Double> took = new LinkedHashMap<>();
      for (String kind : stockFirst ? List.of("stock", "service") : List.of("service", "stock")) {
        took.put(kind, Double.parseDouble(nodes.get(kind).ask("create " + blocks)) / blocks);
      }
      System.err.printf("namenode: in the lock, ns a block: %s%n", took);
      if (i >= 0) {
        ratios.add(took.get("service") / took.get("stock"));
        stockNs.add(took.get("stock"));
        serviceNs.add(took.get("service"));
      }
    }
    boolean held = ratios.median() <= BAR;
    System.out.printf(
        "%d blocks, %d pairs: the lock is held %.0f ns a block without the service, %.0f with it;"
            + " ratio %.4f, 95 %% interval %.4f to %.4f; bar %.2f: %s%n",
        blocks,
        ratios.count(),
        stockNs.median(),
        serviceNs.median(),
        ratios.median(),
        ratios.lowMedian(),
        ratios.highMedian(),
        BAR,
        held ? "held" : "**missed**");
    return held;
  }

  private static boolean paths(NodeProcess node) throws IOException {
    StringBuilder line = new StringBuilder("An answer for a path of so many characters takes:");
    double before = 0;
    boolean held = true;
    for (int length = LONGEST / 8; length <= LONGEST; length *= 2) {
      double ns = Double.parseDouble(node.ask("path " + length));
      line.append(String.format(" %d: %.0f ns;", length, ns));
      held &= before == 0 || ns <= 2 * LINEAR * before;
      before = ns;
    }
    System.out.printf("%s linear: %s%n", line, held ? "held" : "**missed**");
    return held;
  }
}
