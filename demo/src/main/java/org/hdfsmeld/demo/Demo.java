package org.hdfsmeld.demo;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix;
import org.hdfsmeld.demo.cluster.ProfileCheck;
import org.hdfsmeld.demo.layout.DemoResult;
import org.hdfsmeld.demo.layout.DemoRun;
import org.hdfsmeld.demo.layout.Settings;
import org.hdfsmeld.demo.process.Cleanup;
import org.hdfsmeld.demo.process.Terminal;
import org.hdfsmeld.demo.process.Workspace;
import org.hdfsmeld.demo.report.SummaryTable;
import org.hdfsmeld.spark.Report;
import org.hdfsmeld.spark.RunRecord;
import org.hdfsmeld.spark.cli.BadArguments;
import org.hdfsmeld.spark.cli.Json;
import org.hdfsmeld.spark.cli.ShellWords;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line of the demo. */
@Command(
    name = "./meld demo",
    description = {
      "Spark reads TPC-H from an embedded HDFS whose DataNodes stand on simulated SSDs: with the"
          + " plugin off (stock), with the normal layout, and with melded pages.",
      "Prints a table, writes an HTML page, removes everything else. About two minutes."
    },
    footer = {
      "",
      "Exit code: 0 the run completed and all variants read the same content; 1 it did not; 2 bad"
          + " arguments."
    })
public final class Demo extends DemoCommand {
  // Beyond it a wait for a full window comes near the plugin's wait-timeout.
  private static final int MAX_DILATION = 5000;
  private static final int MAX_ROUNDS = 99;

  @Option(
      names = "--scale",
      defaultValue = "1.25",
      description = "TPC-H scale factor; 1.25 is 1.09 GiB of text for each layout.")
  double scale;

  @Option(
      names = "--files",
      defaultValue = "9",
      description =
          "Files of lineitem, a multiple of 3; orders has a third as many. File N lies on device N"
              + " modulo 3, and a task reads one file: so two readers seldom meet on one device.")
  int files;

  @Option(
      names = "--block-size",
      defaultValue = "128m",
      paramLabel = "SIZE",
      description = "HDFS block size.")
  String blockSize;

  @Option(
      names = "--dilation",
      defaultValue = "auto",
      paramLabel = "auto|N",
      description =
          "Wall seconds that a simulated second takes while a scan is paced; auto: such that a"
              + " device is --slowdown times slower than a reader of stock HDFS was.")
  String dilation;

  @Option(
      names = "--slowdown",
      defaultValue = "10",
      paramLabel = "N",
      description = "See --dilation auto.")
  double slowdown;

  @Option(
      names = "--rounds",
      defaultValue = "1",
      paramLabel = "N",
      description =
          "How often both layouts are scanned slowed down; the result is the round with the median"
              + " gain, beside the least and the greatest. Odd.")
  int rounds;

  @Option(
      names = "--window",
      defaultValue = "16m",
      paramLabel = "SIZE",
      description = "Bytes that a reader keeps requested from its device.")
  String window;

  @Option(
      names = "--window-mode",
      defaultValue = "adaptive",
      paramLabel = "adaptive|fixed|linux",
      description =
          "adaptive: the window grows to --window as a reader goes on; fixed: it is always that"
              + " large; linux: what an unmodified kernel requests under a DataNode with Hadoop's"
              + " native library.")
  Settings.WindowMode windowMode;

  @Option(
      names = "--profile",
      defaultValue = "melded-tlc-8x8",
      paramLabel = "NAME|FILE",
      description = "The simulated device: a built-in profile or a TOML file.")
  String profile;

  @Option(
      names = "--directive",
      defaultValue = "on",
      paramLabel = "on|off",
      description = "off: write the second data set without the directive too, as a control.")
  Switch directive;

  @Option(
      names = "--report",
      defaultValue = "demo-report.html",
      paramLabel = "FILE",
      description = "The HTML page to write.")
  Path report;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write the result with its whole configuration there too.")
  Path json;

  @Option(
      names = "--timeline",
      paramLabel = "FILE",
      description =
          "Write what Spark's tasks, the DataNodes and the dies of the devices did during the scans"
              + " that are slowed down, for Perfetto (ui.perfetto.dev), compressed by gzip.")
  Path timeline;

  @Option(
      names = "--work-dir",
      defaultValue = "${sys:java.io.tmpdir}",
      paramLabel = "DIR",
      description = "Where the temporary directory is made.")
  Path workDirectory;

  @Option(names = "--keep", description = "Keep the temporary directory and the log.")
  boolean keep;

  enum Switch {
    ON,
    OFF
  }

  Demo(PrintStream out, PrintStream err) {
    super(out, err);
  }

  /** Entry point. */
  public static void main(String[] arguments) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    // Hadoop prints to them here and there.
    System.setOut(silent());
    System.setErr(silent());
    System.exit(execute(out, err, arguments));
  }

  /** Runs a command line: 0, 1 or 2, see --help. */
  static int execute(PrintStream out, PrintStream err, String... arguments) {
    return new CommandLine(new Demo(out, err))
        .addSubcommand(new PlacementDemo(out, err))
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(new BadArguments())
        .setOut(new java.io.PrintWriter(out, true, Charset.defaultCharset()))
        .setErr(new java.io.PrintWriter(err, true, Charset.defaultCharset()))
        .execute(arguments);
  }

  @Override
  public Integer call() throws IOException {
    Settings settings = settings();
    return inWorkspace(
        settings.workDirectory(),
        settings.neededBytes(),
        settings.keep(),
        (workspace, cleanup) -> {
          Optional<String> problem =
              ProfileCheck.problem(settings.profile(), settings.neededBytesPerDevice());
          if (problem.isPresent()) {
            throw bad(problem.get());
          }
          return run(settings, workspace, cleanup);
        });
  }

  private int run(Settings settings, Workspace workspace, Cleanup cleanup) throws Exception {
    Instant started = Instant.now();
    try (Terminal terminal = terminal(DemoRun.stages(settings))) {
      DemoRun run = new DemoRun(settings, workspace, cleanup, terminal);
      DemoResult result = run.run();
      RunRecord record =
          RunRecord.of(Demo.class.getName(), arguments(), started, run.spark(), result);
      Path json = settings.json() != null ? settings.json() : workspace.resolve("demo.json");
      Files.writeString(json, Json.pretty(record));
      String command = ShellWords.join("./meld demo", List.of(arguments()));
      Report.draw(List.of(json), settings.report(), null, List.of(), command);
      out.print(SummaryTable.of(result));
      out.println();
      if (settings.timeline() != null) {
        String joined = run.writeTimeline();
        out.println("timeline: " + settings.timeline().toAbsolutePath());
        out.println("  " + joined);
      }
      out.println("report: " + settings.report().toAbsolutePath());
      return result.checksumsAgree() ? 0 : 1;
    }
  }

  private Settings settings() {
    if (!(scale > 0) || scale > 1000) {
      throw bad("--scale: is " + scale + "; must be above 0 and at most 1000");
    }
    if (files < 3 || files % 3 != 0) {
      throw bad("--files: is " + files + "; must be a multiple of 3");
    }
    if (!(slowdown >= 1) || slowdown > 1000) {
      throw bad("--slowdown: is " + slowdown + "; must be from 1 to 1000");
    }
    if (rounds < 1 || rounds > MAX_ROUNDS || rounds % 2 == 0) {
      throw bad("--rounds: is " + rounds + "; must be odd, from 1 to " + MAX_ROUNDS);
    }
    for (Path file : Arrays.asList(report, json, timeline)) {
      if (file != null && Files.isDirectory(file)) {
        throw bad(file + ": is a directory; name a file");
      }
      Path parent = file == null ? null : file.toAbsolutePath().getParent();
      if (parent != null && !Files.isDirectory(parent)) {
        throw bad(file + ": there is no directory " + parent + "; make it first");
      }
    }
    return new Settings(
        scale,
        files,
        size("--block-size", blockSize, 1 << 20),
        dilation(),
        slowdown,
        rounds,
        size("--window", window, 64 << 10),
        windowMode,
        profile,
        directive == Switch.ON,
        report,
        json,
        timeline,
        workDirectory,
        keep);
  }

  private OptionalDouble dilation() {
    if (dilation.equals("auto")) {
      return OptionalDouble.empty();
    }
    try {
      double value = Double.parseDouble(dilation);
      if (value >= 1 && value <= MAX_DILATION) {
        return OptionalDouble.of(value);
      }
    } catch (NumberFormatException e) {
      // Falls through to the message.
    }
    throw bad(
        "--dilation: is '" + dilation + "'; must be auto, or a number from 1 to " + MAX_DILATION);
  }

  private long size(String option, String text, long least) {
    long value;
    try {
      value = TraditionalBinaryPrefix.string2long(text.toLowerCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      value = -1;
    }
    if (value < least || value > 1L << 40) {
      throw bad(
          option
              + ": is '"
              + text
              + "'; must be a size from "
              + (least >> 10)
              + "k up, such as 16m");
    }
    return value;
  }

  private String[] arguments() {
    return spec.commandLine().getParseResult().originalArgs().toArray(String[]::new);
  }

  private static PrintStream silent() {
    return new PrintStream(OutputStream.nullOutputStream(), false, Charset.defaultCharset());
  }
}
