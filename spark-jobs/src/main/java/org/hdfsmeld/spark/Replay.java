package org.hdfsmeld.spark;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.sweep.CellRequest;
import org.hdfsmeld.spark.sweep.Grid;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Replays recorded block traces on every device of a grid. */
@Command(
    name = "replay",
    description = {
      "Replay block traces (hdfs-meld's own, MQSim's, MSR's) on a grid of device profiles, spread"
          + " over the executors; print a row a cell.",
      "Each cell is what one meldsim run gives, and its row has the command that repeats it."
          + " A device that cannot be, or refuses a trace, is a row with its error.",
      "Run by: spark-submit --class org.hdfsmeld.spark.Replay spark-jobs-VERSION-all.jar …"
    })
public final class Replay extends JobCommand {
  private static final int MAX_IODEPTH = 65_536;

  @Mixin Grid grid;

  @Option(
      names = "--trace",
      arity = "1..*",
      required = true,
      paramLabel = "FILE",
      description =
          "Traces, plain or compressed by gzip: paths on the driver's disk or any Hadoop paths;"
              + " Spark brings them to every executor.")
  List<String> traces;

  @Option(
      names = "--trace-format",
      paramLabel = "mqsim|msr|meld",
      description = "Default: detected from the first line.")
  String format;

  @Option(
      names = "--replay",
      paramLabel = "open|closed",
      description =
          "open, the default: requests arrive when they did in the trace; closed: when one before"
              + " them has completed.")
  String mode;

  @Option(names = "--iodepth", paramLabel = "N", description = "Requests outstanding at most.")
  Integer iodepth;

  @Option(
      names = "--speedup",
      paramLabel = "FACTOR",
      description = "Requests arrive this many times faster.")
  String speedup;

  @Option(
      names = "--beyond",
      paramLabel = "wrap|refuse",
      description =
          "Requests beyond the end of the device: wrap, the default, moves them; refuse ends the"
              + " run.")
  String beyond;

  @Option(
      names = "--read-pattern",
      paramLabel = "sequential|random|none",
      description = "How the data is said to be read, where the trace does not say.")
  String readPattern;

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Replay(), arguments);
  }

  @Override
  void validate() {
    oneOf("--trace-format", format, List.of("mqsim", "msr", "meld"));
    oneOf("--replay", mode, List.of("open", "closed"));
    oneOf("--beyond", beyond, List.of("wrap", "refuse"));
    oneOf("--read-pattern", readPattern, List.of("sequential", "random", "none"));
    if (iodepth != null && (iodepth < 1 || iodepth > MAX_IODEPTH)) {
      throw bad("--iodepth: is " + iodepth + "; must be 1 to " + MAX_IODEPTH);
    }
    Set<String> names = new HashSet<>();
    for (CellRequest.Workload trace : workloads()) {
      if (!names.add(trace.fileName())) {
        throw bad("--trace: two files are named " + trace.fileName() + "; rename one");
      }
    }
    grid.validate(traces);
  }

  private void oneOf(String option, String value, List<String> known) {
    if (value != null && !known.contains(value)) {
      throw bad(option + ": is " + value + "; must be one of " + String.join(", ", known));
    }
  }

  @Override
  String seed() {
    return "none: a trace holds every request";
  }

  @Override
  Object run(SparkSession session) throws Exception {
    for (String trace : traces) {
      session.sparkContext().addFile(trace);
    }
    return grid.simulate(session, "replay", workloads());
  }

  private List<CellRequest.Workload> workloads() {
    LinkedHashMap<String, String> options = new LinkedHashMap<>();
    put(options, "trace-format", format);
    put(options, "replay", mode);
    put(options, "iodepth", iodepth);
    put(options, "speedup", speedup);
    put(options, "beyond", beyond);
    put(options, "read-pattern", readPattern);
    return traces.stream()
        .map(trace -> new CellRequest.Workload("trace", trace, null, options))
        .toList();
  }

  private static void put(LinkedHashMap<String, String> options, String flag, Object value) {
    if (value != null) {
      options.put(flag, value.toString());
    }
  }
}
