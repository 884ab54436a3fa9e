package org.hdfsmeld.benchmarks;

import java.util.HashMap;
import java.util.Map;
import org.hdfsmeld.datanode.device.HandOffs;
import org.hdfsmeld.datanode.hint.HintLookup;
import org.hdfsmeld.datanode.io.BlockForwarding;
import org.hdfsmeld.sim.PacketForwarding;
import org.hdfsmeld.sim.SimException;
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
  private static final double PACKET_BAR_NS = 200;
  private static final double HAND_OFFS_BAR_NS = 8_000;
  private static final double WAKE_UPS_BAR = 1.1;
  private static final double LATE_BAR_NS = 10_000;
  private static final int ROUNDS = 2000;
  private static final double HINT_BAR_NS = 100;

  private final Map<String, Statistics> measured = new HashMap<>();

  private JnaCost() {}

  /** Runs; takes about a minute. */
  public static void main(String[] args) throws RunnerException, SimException {
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
        .forks(1)
        .jvmArgsAppend("-Dslf4j.internal.verbosity=ERROR")
        .warmupIterations(3)
        .warmupTime(TimeValue.seconds(1))
        .measurementIterations(10)
        .measurementTime(TimeValue.milliseconds(500))
        .verbosity(VerboseMode.SILENT)
        .build();
  }

  private boolean print() throws SimException {
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
    row("simulation itself: 1024 packets in a ring, one call", "runRing", null);
    row("the same with putting them in", "putAndRunRing", "runRing");
    row("a submit and a wait for each packet in turn", "submitAndWait", "runRing");
    row("simulation itself: the window's requests, one call", "readPathSimulationOnly", null);
    row("the DataNode's read path: 16 MiB window", "readPath", "readPathSimulationOnly");
    row("what it takes of HDFS's thread", "readPathOfHdfs", null);
    double worst =
        Math.max(cost("putAndRunRing", "runRing"), cost("readPath", "readPathSimulationOnly"));
    boolean packets = worst <= PACKET_BAR_NS;
    System.out.printf(
        "%nBar: a packet costs at most %.0f ns on top of the simulation. Worst: %.0f ns, %s.%n",
        PACKET_BAR_NS, worst, packets ? "held" : "missed");
    Statistics lookup = measured.get("hintLookup");
    boolean hints = lookup.getMin() <= HINT_BAR_NS;
    System.out.printf(
        "Bar: a hint that is known is found in at most %.0f ns. Best %.0f ns, mean %.0f ns, %s.%n",
        HINT_BAR_NS, lookup.getMin(), lookup.getMean(), hints ? "held" : "missed");
    return handOffs() && packets && hints;
  }

  /** The hand-offs of real-time mode. With a spin they need two processors that are free. */
  private static boolean handOffs() throws SimException {
    HandOffs.Measured measured = HandOffs.measure(ROUNDS);
    double[] ratio = measured.ratio();
    System.out.printf(
        "%n| real-time mode, device idle for 300 us, in turn | median ns | p99 ns |%n"
            + "| --- | ---: | ---: |%n");
    row("two bare wake-ups", measured.wakeUps());
    row("hand-offs of a request, spin off", measured.handOffs());
    row("hand-offs of a request, spin 1 ms", measured.spunHandOffs());
    row("a read's simulated latency, dilation 1", measured.latency());
    row("how late it returns, spin 1 ms", measured.late());
    boolean real = held(measured.spunHandOffs(), HAND_OFFS_BAR_NS);
    boolean late = held(measured.late(), LATE_BAR_NS);
    boolean bare = ratio[0] <= WAKE_UPS_BAR;
    System.out.printf(
        "%nBar: with a spin, hand-offs take at most %.0f ns at the median: %s.%n"
            + "Bar: with a spin, a read returns within %.0f ns of due at the median: %s.%n"
            + "Bar: without, hand-offs take at most %.1f times two wake-ups: %.2f, 95 %% %.2f to"
            + " %.2f, %s.%n",
        HAND_OFFS_BAR_NS,
        real ? "held" : "missed",
        LATE_BAR_NS,
        late ? "held" : "missed",
        WAKE_UPS_BAR,
        ratio[1],
        ratio[0],
        ratio[2],
        bare ? "held" : "missed");
    return real && late && bare;
  }

  private static boolean held(long[] sorted, double bar) {
    return HandOffs.Measured.quantile(sorted, 0.5) <= bar;
  }

  private static void row(String what, long[] sorted) {
    System.out.printf(
        "| %s | %d | %d |%n",
        what, HandOffs.Measured.quantile(sorted, 0.5), HandOffs.Measured.quantile(sorted, 0.99));
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
