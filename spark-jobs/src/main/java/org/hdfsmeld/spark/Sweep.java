package org.hdfsmeld.spark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.sweep.Calibration;
import org.hdfsmeld.spark.sweep.CellRequest;
import org.hdfsmeld.spark.sweep.Grid;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Design-space exploration: simulates every workload on every device of a grid. Or looks for the
 * one device that is like a measured drive.
 */
@Command(
    name = "sweep",
    showDefaultValues = true,
    description = {
      "Simulate job files on a grid of device profiles, spread over the executors; print a row a cell.",
      "Each cell is what one meldsim run gives, and its row has the command that repeats it."
          + " A device that cannot be, or refuses a job, is a row with its error.",
      "With --calibrate, fit a profile to a measured drive, as meldsim calibrate does.",
      "Run by: spark-submit --class org.hdfsmeld.spark.Sweep spark-jobs-VERSION-all.jar …"
    })
public final class Sweep extends JobCommand {
  @Mixin Grid grid;

  @Option(
      names = "--job",
      arity = "1..*",
      paramLabel = "FILE",
      description = "Job files in fio's syntax, on the driver's disk.")
  List<String> jobs = new ArrayList<>();

  @ArgGroup(exclusive = false, heading = "A measured drive in place of a grid:%n")
  Calibration calibration;

  @Option(
      names = "--seed",
      defaultValue = "1",
      description = "Of jobs that set no randseed, or of a calibration; from 0 on.")
  long seed;

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Sweep(), arguments);
  }

  @Override
  void validate() {
    if (seed < 0) {
      throw bad("--seed: is " + seed + "; must be at least 0");
    }
    if (jobs.isEmpty() == (calibration == null)) {
      throw bad("give job files with --job, or a measured drive with --calibrate");
    }
    grid.validate(jobs);
  }

  @Override
  String seed() {
    return "--seed " + seed;
  }

  @Override
  Object run(SparkSession session) throws Exception {
    if (calibration != null) {
      return calibration.run(session, seed);
    }
    return grid.simulate(session, "sweep", workloads());
  }

  private List<CellRequest.Workload> workloads() throws IOException {
    List<CellRequest.Workload> workloads = new ArrayList<>();
    for (String job : jobs) {
      workloads.add(
          new CellRequest.Workload(
              "job",
              job,
              Grid.text("--job", job),
              new LinkedHashMap<>(Map.of("seed", Long.toString(seed)))));
    }
    return workloads;
  }
}
