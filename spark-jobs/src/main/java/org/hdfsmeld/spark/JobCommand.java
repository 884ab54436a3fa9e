package org.hdfsmeld.spark;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.cli.BadArguments;
import org.hdfsmeld.spark.cli.BuildInfo;
import org.hdfsmeld.spark.cli.Json;
import org.hdfsmeld.spark.cli.RootCause;
import org.hdfsmeld.spark.devices.SimulatorWatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The frame of a job: arguments, session, one JSON result, exit code. The master is never set. */
@Command(mixinStandardHelpOptions = true, versionProvider = BuildInfo.class, sortOptions = false)
abstract class JobCommand implements Callable<Integer> {
  private static final Logger LOG = LoggerFactory.getLogger(JobCommand.class);
  private static final Pattern ADDRESS = Pattern.compile("([\\w.-]+|\\[[\\da-fA-F:.]+]):\\d{1,5}");

  private static final long MAX_BUFFER_BYTES = 1 << 30;
  private static final long BLOCK_UNIT_BYTES = 4096;

  @Spec CommandSpec spec;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write the result there, on the driver's disk; default: standard output.")
  Path json;

  @Option(
      names = "--datanodes",
      split = ",",
      paramLabel = "HOST:PORT",
      description =
          "Web addresses of DataNodes, separated by commas: what their simulated devices did goes"
              + " into the result.")
  List<String> dataNodes = new ArrayList<>();

  @Option(
      names = "--label",
      paramLabel = "KEY=VALUE",
      description = "Goes into the result, as variant=melded; may be repeated.")
  Map<String, String> labels = new LinkedHashMap<>();

  /** Runs a command line: 0 done, 1 failed, 2 bad arguments. */
  static int execute(JobCommand job, String... arguments) {
    return new CommandLine(job)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(new BadArguments())
        .setExecutionExceptionHandler(
            (error, commandLine, parsed) -> {
              LOG.error("{} failed", commandLine.getCommandName(), error);
              commandLine
                  .getErr()
                  .println(commandLine.getCommandName() + ": " + RootCause.message(error));
              return commandLine.getCommandSpec().exitCodeOnExecutionException();
            })
        .execute(arguments);
  }

  /** What {@code main} does: a clean return on success, so that no cluster manager mistakes it. */
  static void main(JobCommand job, String[] arguments) {
    int code = execute(job, arguments);
    if (code != 0) {
      System.exit(code);
    }
  }

  /** Refuses arguments that parse but make no sense; before any session exists. */
  abstract void validate();

  abstract Object run(SparkSession session) throws Exception;

  /** Where the randomness of the run comes from. */
  String seed() {
    return "none but that of the data read";
  }

  /** Threads of a task that read at the same time. */
  int threadsPerTask() {
    return 1;
  }

  @Override
  public final Integer call() throws Exception {
    validate();
    validateDataNodes();
    Instant started = Instant.now();
    String[] arguments = spec.commandLine().getParseResult().originalArgs().toArray(String[]::new);
    SparkSession session = SparkSession.builder().appName(spec.qualifiedName()).getOrCreate();
    try {
      SimulatorWatch watch =
          dataNodes.isEmpty() ? null : SimulatorWatch.begin(session.sparkContext(), dataNodes);
      Object result = run(session);
      RunRecord.Context context =
          new RunRecord.Context(labels, watch == null ? null : watch.end(threadsPerTask()));
      String text =
          Json.pretty(
              RunRecord.of(
                  getClass().getName(), arguments, started, seed(), session, context, result));
      if (json == null) {
        PrintWriter out = spec.commandLine().getOut();
        out.print(text);
        out.flush();
      } else {
        Files.writeString(json, text);
      }
      return 0;
    } finally {
      session.stop();
    }
  }

  /** Refuses a number of bytes that no buffer can have. */
  final void requireBufferBytes(String option, long bytes) {
    if (bytes < 1 || bytes > MAX_BUFFER_BYTES) {
      throw bad(option + ": is " + bytes + " bytes; must be 1 to 1g");
    }
  }

  /** Refuses an HDFS block size that is no multiple of its checksums' chunks, by default 512. */
  final void requireBlockBytes(String option, long bytes) {
    if (bytes < BLOCK_UNIT_BYTES || bytes % BLOCK_UNIT_BYTES != 0) {
      throw bad(option + ": is " + bytes + " bytes; must be a multiple of 4k");
    }
  }

  final ParameterException bad(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private void validateDataNodes() {
    for (String address : dataNodes) {
      if (!ADDRESS.matcher(address).matches()) {
        throw bad("--datanodes: is " + address + "; must be HOST:PORT, as datanode-1:9864");
      }
    }
  }
}
