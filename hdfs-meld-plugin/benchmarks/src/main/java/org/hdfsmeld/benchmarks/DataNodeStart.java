package org.hdfsmeld.benchmarks;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Measures how much longer a DataNode with many blocks takes to start with the plugin: from the
 * start of its process until the NameNode has heard of all its blocks. Exits with 1 when the median
 * of the ratios is above the bar.
 */
public final class DataNodeStart {
  private static final double BAR = 1.1;

  private DataNodeStart() {}

  /** Runs; the arguments are how many pairs, and how many blocks of 4 KiB there are. */
  public static void main(String[] args) throws IOException {
    int pairs = args.length > 0 ? Integer.parseInt(args[0]) : 7;
    int blocks = args.length > 1 ? Integer.parseInt(args[1]) : 50_000;
    Path folder = Scratch.folder("meld-start");
    Samples ratios = new Samples();
    Samples stock = new Samples();
    Samples account = new Samples();
    try {
      // The device has the blocks: it finds them in its state.
      took(folder, Variant.ACCOUNT, "create " + blocks);
      for (int i = 0; i < pairs; i++) {
        boolean stockFirst = i % 2 == 0;
        double first =
            took(folder, stockFirst ? Variant.STOCK : Variant.ACCOUNT, "start " + blocks);
        double next = took(folder, stockFirst ? Variant.ACCOUNT : Variant.STOCK, "start " + blocks);
        stock.add(stockFirst ? first : next);
        account.add(stockFirst ? next : first);
        ratios.add(stockFirst ? next / first : first / next);
        System.err.printf("start: %d of %d pairs: ratio %.3f%n", i + 1, pairs, ratios.median());
      }
    } finally {
      Scratch.delete(folder);
    }
    boolean held = ratios.median() <= BAR;
    System.out.printf(
        "A DataNode with %d blocks, %d pairs: stock starts in %.2f s, with the plugin in %.2f s;"
            + " ratio %.3f, 95 %% interval %.3f to %.3f; bar %.1f: %s%n",
        blocks,
        ratios.count(),
        stock.median() / 1e9,
        account.median() / 1e9,
        ratios.median(),
        ratios.lowMedian(),
        ratios.highMedian(),
        BAR,
        held ? "held" : "**missed**");
    System.exit(held ? 0 : 1);
  }

  private static double took(Path folder, Variant variant, String command) throws IOException {
    try (NodeProcess node = new NodeProcess(StartedDataNode.class, folder, variant.name())) {
      node.awaitReady();
      return Double.parseDouble(node.ask(command));
    }
  }
}
