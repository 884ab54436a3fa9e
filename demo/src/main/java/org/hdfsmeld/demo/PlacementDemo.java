package org.hdfsmeld.demo;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.hdfsmeld.demo.placement.PlacementResult;
import org.hdfsmeld.demo.placement.PlacementRun;
import org.hdfsmeld.demo.process.Cleanup;
import org.hdfsmeld.demo.process.Terminal;
import org.hdfsmeld.demo.process.Workspace;
import org.hdfsmeld.spark.cli.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./meld demo placement}: which device new blocks go to, and what their readers get. */
@Command(
    name = "placement",
    description = {
      "Paced scans and random lookups together, on an embedded DataNode with two simulated devices"
          + " of the same price: all-NAND, all-Optane, Optane first, and the split after the"
          + " contract of Optane.",
      "Prints a table, removes everything else. About two and a half minutes."
    })
final class PlacementDemo extends DemoCommand {
  private static final long MIB = 1L << 20;

  @Option(
      names = "--dilation",
      defaultValue = "500",
      paramLabel = "N",
      description = "Wall seconds that a simulated second takes while readers are measured.")
  double dilation;

  @Option(
      names = "--seconds",
      defaultValue = "20",
      paramLabel = "N",
      description = "How long each placement is measured, after 3 s that are not.")
  double seconds;

  @Option(
      names = "--file-size",
      defaultValue = "32",
      paramLabel = "MIB",
      description = "MiB of each of the two scanned and the two looked-up files.")
  int fileMib;

  @Option(
      names = "--scan-rate",
      defaultValue = "1000",
      paramLabel = "MIB/S",
      description = "The pace of both scans together, in MiB per simulated second.")
  double scanRate;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the result there too.")
  Path json;

  @Option(
      names = "--work-dir",
      defaultValue = "${sys:java.io.tmpdir}",
      paramLabel = "DIR",
      description = "Where the temporary directory is made.")
  Path workDirectory;

  /** What is written as JSON. */
  record Report(
      String started,
      double dilation,
      double scanMibPerSecond,
      boolean scansEquallyFast,
      boolean contractWins,
      double gain,
      List<PlacementResult.Figures> placements) {}

  PlacementDemo(PrintStream out, PrintStream err) {
    super(out, err);
  }

  @Override
  public Integer call() throws IOException {
    PlacementRun.PlacementSettings settings = settings();
    return inWorkspace(
        workDirectory,
        settings.neededBytes(),
        false,
        (workspace, cleanup) -> run(settings, workspace, cleanup));
  }

  private int run(PlacementRun.PlacementSettings settings, Workspace workspace, Cleanup cleanup)
      throws Exception {
    Instant started = Instant.now();
    try (Terminal terminal = terminal(PlacementRun.STAGES)) {
      PlacementResult result = new PlacementRun(settings, workspace, cleanup, terminal).run();
      if (json != null) {
        Files.writeString(
            json,
            Json.pretty(
                new Report(
                    started.toString(),
                    result.dilation(),
                    result.scanMibPerSecond(),
                    result.scansEquallyFast(),
                    result.contractWins(),
                    result.gain(),
                    result.figures())));
      }
      out.print(result.table());
      return 0;
    }
  }

  private PlacementRun.PlacementSettings settings() {
    if (!(dilation >= 1 && dilation <= 5000)) {
      throw bad("--dilation: is " + dilation + "; must be from 1 to 5000");
    }
    if (!(seconds >= 1 && seconds <= 3600)) {
      throw bad("--seconds: is " + seconds + "; must be from 1 to 3600");
    }
    if (fileMib < 1 || fileMib > 1024) {
      throw bad("--file-size: is " + fileMib + "; must be from 1 to 1024");
    }
    if (!(scanRate > 0 && scanRate <= 10_000)) {
      throw bad("--scan-rate: is " + scanRate + "; must be above 0 and at most 10000");
    }
    return new PlacementRun.PlacementSettings(dilation, seconds, (int) (fileMib * MIB), scanRate);
  }
}
