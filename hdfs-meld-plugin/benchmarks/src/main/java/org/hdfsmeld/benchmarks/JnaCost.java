package org.hdfsmeld.benchmarks;

import java.util.HashMap;
import java.util.Map;
import org.hdfsmeld.datanode.device.HandOffs;
import org.hdfsmeld.datanode.hint.HintLookup;
import org.hdfsmeld.datanode.io.BlockForwarding;
import org.hdfsmeld.sim.PacketForwarding;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.openjdk.jmh.util.Statistics;

/**
 * Measures what forwarding a 64 KiB packet costs on top of the simulation itself, and what finding
 * a block's hint and a real-time request's hand-offs cost, and prints tables. Exits with 1 when one
 * costs more than its bar.
 *
 * <p>Differences are between the best iterations: other work on the machine only ever adds time.
 */
public final class JnaCost {
  private static final double PACKET_BAR_NS = 300;
  private static final double HAND_OFFS_BAR_NS = 8_000;
  private static final double HINT_BAR_NS = 100;

  private final Map<String, Statistics> measured = new HashMap<>();

  private JnaCost() {}

  /** Runs; takes about a minute. */
  public static void main(String[] args) throws RunnerException {
    System.out.println("Measuring, about a minute ...");
    JnaCost cost = new JnaCost();
    for (RunResult result : new Runner(options()).run()) {
      String name = result.getParams().getBenchmark();
      cost.measured.put(
          name.substring(name.lastIndexOf('.') + 1), result.getPrimaryResult().getStatistics());
    }
    System.exit(cost.print() ? 0 : 1);
  }

  private static Options options() {
    return new OptionsBuilder()
        .include(PacketForwarding.class.getName())
        .include(BlockForwarding.class.getName())
        .include(HintLookup.class.getName())
        .include(HandOffs.class.getName())
        .forks(1)
        .jvmArgsAppend("-Dslf4j.internal.verbosity=ERROR")
        .warmupIterations(3)
        .warmupTime(TimeValue.seconds(1))
        .measurementIterations(10)
        .measurementTime(TimeValue.milliseconds(500))
        .verbosity(VerboseMode.SILENT)
        .build();
  }

  private boolean print() {
    System.out.printf(
        "Java %s, %s %s, %d processors%n%n",
        System.getProperty("java.version"),
        System.getProperty("os.name"),
        System.getProperty("os.arch"),
        Runtime.getRuntime().availableProcessors());
    System.out.println(
        "| measured per 64 KiB packet, account mode | best ns | mean ns | cost ns |");
    System.out.println("| --- | ---: | ---: | ---: |");
    row("an empty JNA call", "emptyCall", null);
    row("simulation itself: packets in batches of 1024", "batch", null);
    row("a submit for each packet, then a wait for each", "submitAllThenWait", "batch");
    row("a submit and a wait for each packet in turn", "submitAndWait", "batch");
    row("simulation itself: the window's requests in a batch", "readPathSimulationOnly", null);
    row("the DataNode's read path: 16 MiB window", "readPath", "readPathSimulationOnly");
    row("what it takes of HDFS's thread", "readPathOfHdfs", null);
    double worst =
        Math.max(cost("submitAllThenWait", "batch"), cost("readPath", "readPathSimulationOnly"));
    boolean packets = worst <= PACKET_BAR_NS;
    System.out.printf(
        "%nBar: a packet costs at most %.0f ns on top of the simulation. Worst: %.0f ns, %s.%n",
        PACKET_BAR_NS, worst, packets ? "held" : "missed");
    Statistics lookup = measured.get("hintLookup");
    boolean hints = lookup.getMin() <= HINT_BAR_NS;
    System.out.printf(
        "Bar: a hint that is known is found in at most %.0f ns. Best %.0f ns, mean %.0f ns, %s.%n",
        HINT_BAR_NS, lookup.getMin(), lookup.getMean(), hints ? "held" : "missed");
    double handOffs = measured.get("handOffs").getPercentile(50);
    boolean real = handOffs <= HAND_OFFS_BAR_NS;
    System.out.printf(
        "Bar: the hand-offs of a request in real-time mode take at most %.0f ns at the median."
            + " Median %.0f ns, of which two bare wake-ups take %.0f ns, %s.%n",
        HAND_OFFS_BAR_NS,
        handOffs,
        measured.get("wakeUps").getPercentile(50),
        real ? "held" : "missed");
    return packets && hints && real;
  }

  private void row(String what, String name, String base) {
    String cost = base == null ? "" : String.format("%.0f", cost(name, base));
    Statistics ns = measured.get(name);
    System.out.printf("| %s | %.0f | %.0f | %s |%n", what, ns.getMin(), ns.getMean(), cost);
  }

  private double cost(String name, String base) {
    return measured.get(name).getMin() - measured.get(base).getMin();
  }
}
