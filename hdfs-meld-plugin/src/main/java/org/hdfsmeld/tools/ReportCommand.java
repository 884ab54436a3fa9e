package org.hdfsmeld.tools;

import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.hdfsmeld.rpc.DatanodeReport;

/** Shows the simulated devices of the cluster. */
final class ReportCommand {
  static final Command REPORT =
      new Command(
          "-report",
          "",
          "Show the volumes of each live DataNode: device, state, how their blocks were decided on"
              + " and laid out. Needs superuser privilege, as hdfs dfsadmin -report does.",
          (context, none) ->
              Cluster.forEachDataNode(
                  context, (dataNode, asked) -> print(context.out(), asked.report())));

  private ReportCommand() {}

  private static void print(PrintStream out, DatanodeReport report) {
    Map<String, Long> hints = report.hints();
    out.println("  Hints: " + (hints.isEmpty() ? "no NameNode is asked" : list(hints)));
    for (DatanodeReport.Volume volume : report.volumes()) {
      Map<String, Long> counters = volume.counters();
      ToLongFunction<String> count = name -> counters.getOrDefault(name, 0L);
      out.printf(
          "  Volume %s: %s, %s, %s%n",
          volume.volume(),
          volume.profile(),
          volume.mode(),
          volume.healthy() ? "in service" : "out of service: " + volume.lastError());
      long mapped = count.applyAsLong("mapped_pages");
      long melded = count.applyAsLong("melded_mapped_pages");
      out.printf(
          "    Blocks: %d; melded %d %% of %d pages%n",
          count.applyAsLong("blocks_mapped"),
          mapped == 0 ? 0 : Math.round(100.0 * melded / mapped),
          mapped);
      out.println("    Decided: " + list(select(counters, "hints_")));
      out.printf(
          "    Bytes: read %d, written %d; fallbacks %d, errors %d, timeouts %d%n",
          count.applyAsLong("host_read_bytes"),
          count.applyAsLong("host_written_bytes"),
          count.applyAsLong("fallbacks"),
          count.applyAsLong("errors"),
          count.applyAsLong("timeouts"));
    }
  }

  private static Map<String, Long> select(Map<String, Long> counters, String prefix) {
    Map<String, Long> selected = new LinkedHashMap<>();
    counters.forEach(
        (name, value) -> {
          if (name.startsWith(prefix)) {
            selected.put(name.substring(prefix.length()), value);
          }
        });
    return selected;
  }

  private static String list(Map<String, Long> counters) {
    return counters.entrySet().stream()
        .map(entry -> entry.getKey() + " " + entry.getValue())
        .collect(Collectors.joining(", "));
  }
}
