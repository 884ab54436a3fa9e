package org.hdfsmeld.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimRun;
import org.hdfsmeld.spark.cli.BadArguments;
import org.hdfsmeld.spark.cli.BuildInfo;
import org.hdfsmeld.spark.cli.Json;
import org.hdfsmeld.spark.cli.ShellWords;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Median and spread of many runs, as a table, JSON and a page; whether expectations hold. */
@Command(
    name = "report",
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class,
    sortOptions = false,
    description = {
      "Compare results of jobs (their --json) by job and the labels variant and window.",
      "Exit codes: 0 done, 1 failed or an expectation does not hold, 2 bad arguments."
    },
    footer = {
      "",
      "EXPR is JOB:VARIANT[/VARIANT][:FIGURE] RELATION NUMBER, of medians over the rounds:",
      "  scan:melded/normal>=1.30        MiB/s of melded by those of normal",
      "  query:auto/normal>=0.97         queries an hour of auto by those of normal",
      "  mixed:sets-vertical:ratio<=1.10 p99 beside a writer by p99 alone",
      "  scan:normal:wait>=0.9           share of their time that readers wait",
      "RELATION is >=, <=, > or <. A run with a label window=16m is the variant melded@16m.",
      "Without FIGURE it is what the job is known by: throughput (scan, sort), queries-per-hour,",
      "reads (lookup), ratio (mixed), amplification (churn). Others: seconds, q1, q6, p50, p99,",
      "p50-writer, p99-writer, ingest, host, flash, placed, wait, utilisation, device. Shares are 0",
      "to 1."
    })
public final class Report implements Callable<Integer> {
  @Spec CommandSpec spec;

  @Parameters(
      arity = "1..*",
      paramLabel = "RESULT|DIR",
      description = "Results of jobs, or directories that have some.")
  List<Path> results;

  @Option(names = "--html", paramLabel = "FILE", description = "Write a page there.")
  Path html;

  @Option(names = "--json", paramLabel = "FILE", description = "Write medians and spread there.")
  Path json;

  @Option(
      names = "--made-by",
      paramLabel = "COMMAND",
      description = "The command that the page shows; if not given, this one.")
  String madeBy;

  @Option(
      names = "--expect",
      paramLabel = "EXPR",
      description = "What must hold, see below; may be repeated.")
  List<String> expect = new ArrayList<>();

  /** Entry point. */
  public static void main(String[] arguments) {
    System.exit(
        execute(
            new Report(),
            new PrintWriter(System.out, true),
            new PrintWriter(System.err, true),
            arguments));
  }

  static int execute(Report report, PrintWriter out, PrintWriter err, String... arguments) {
    return new CommandLine(report)
        .setOut(out)
        .setErr(err)
        .setParameterExceptionHandler(new BadArguments())
        .setExecutionExceptionHandler(
            (error, commandLine, parsed) -> {
              commandLine.getErr().println("report: " + error.getMessage());
              return commandLine.getCommandSpec().exitCodeOnExecutionException();
            })
        .execute(arguments);
  }

  @Override
  public Integer call() throws SimException {
    JsonNode report;
    try {
      report = draw(results, html, json, expect, command());
    } catch (SimException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print(report.path("text").asText());
    if (html != null) {
      out.printf("%nreport: %s%n", html.toAbsolutePath());
    }
    out.flush();
    return report.path("holds").asBoolean() ? 0 : 1;
  }

  /**
   * Compares records and writes what is asked for: the simulator's library draws.
   *
   * @param html where to write the page; null for none
   * @param json where to write medians and spread; null for nowhere
   * @param command that the page shows
   * @return {@code text} for a terminal, and whether all that was expected {@code holds}
   */
  public static JsonNode draw(
      List<Path> records, Path html, Path json, List<String> expect, String command)
      throws SimException {
    Map<String, Object> request = new HashMap<>();
    request.put("inputs", records.stream().map(Path::toString).toList());
    request.put("html", html == null ? null : html.toString());
    request.put("json", json == null ? null : json.toString());
    request.put("expect", expect);
    request.put("command", command);
    try {
      return Json.parse(SimRun.report("", Json.pretty(request)));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private String command() {
    return madeBy != null
        ? madeBy
        : ShellWords.join("report", spec.commandLine().getParseResult().originalArgs());
  }
}
