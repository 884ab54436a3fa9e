package org.hdfsmeld.tools;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.hdfsmeld.rpc.DatanodeReport;
import org.hdfsmeld.rpc.MeldDatanode;

/** Shows the simulated devices of the cluster. */
final class ReportCommand extends Command {
  ReportCommand() {
    super(
        "-report",
        "",
        "Show the volumes of each live DataNode: device, state, how their blocks were decided on"
            + " and laid out. Needs superuser privilege, as hdfs dfsadmin -report does.");
  }

  @Override
  int run(Context context, List<String> arguments) throws IOException {
    DistributedFileSystem hdfs = Cluster.of(FileSystem.get(context.conf()));
    int code = OK;
    for (DatanodeInfo dataNode : hdfs.getDataNodeStats(DatanodeReportType.LIVE)) {
      context.out().println("DataNode " + dataNode.getXferAddr());
      try {
        print(context, Cluster.ask(context.conf(), dataNode, MeldDatanode::report));
      } catch (IOException e) {
        context.out().println("  " + e.getMessage());
        code = FAILED;
      }
    }
    return code;
  }

  private static void print(Context context, DatanodeReport report) {
    if (report.hints().isEmpty()) {
      context.out().println("  Hints: no NameNode is asked");
    } else {
      context.out().println("  Hints: " + list(report.hints()));
    }
    for (DatanodeReport.Volume volume : report.volumes()) {
      Map<String, Long> counters = volume.counters();
      context
          .out()
          .printf(
              "  Volume %s: %s, %s, %s%n",
              volume.volume(),
              volume.profile(),
              volume.mode(),
              volume.healthy() ? "in service" : "out of service: " + volume.lastError());
      long mapped = counters.getOrDefault("mapped_pages", 0L);
      long melded = counters.getOrDefault("melded_mapped_pages", 0L);
      context
          .out()
          .printf(
              "    Blocks: %d; melded %d %% of %d pages%n",
              counters.getOrDefault("blocks_mapped", 0L),
              mapped == 0 ? 0 : Math.round(100.0 * melded / mapped),
              mapped);
      long fill = counters.getOrDefault("precondition_fill_percent", 0L);
      if (fill > 0) {
        context
            .out()
            .printf(
                "    Precondition: fill %d %%, random %d %%%n",
                fill, counters.getOrDefault("precondition_random_percent", 0L));
      }
      context.out().println("    Decided: " + list(select(counters, "hints_")));
      context
          .out()
          .printf(
              "    Bytes: read %d, written %d; fallbacks %d, errors %d, timeouts %d%n",
              counters.getOrDefault("host_read_bytes", 0L),
              counters.getOrDefault("host_written_bytes", 0L),
              counters.getOrDefault("fallbacks", 0L),
              counters.getOrDefault("errors", 0L),
              counters.getOrDefault("timeouts", 0L));
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
