package org.hdfsmeld.spark.sweep;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Profiles × settings × workloads; the same options in every job that simulates. */
public final class Grid {
  private static final int MAX_CELLS = 1_000_000;

  @Spec(Spec.Target.MIXEE)
  CommandSpec spec;

  @Option(
      names = "--profile",
      arity = "1..*",
      defaultValue = "melded-tlc-8x8",
      paramLabel = "NAME|FILE",
      description = "Built-in profiles, or paths on the driver, which have a dot or a slash.")
  List<String> profiles;

  @Option(
      names = "--set",
      paramLabel = "KEY=V1,V2,…",
      converter = Axis.Converter.class,
      description = {
        "An axis of the grid: a key of the profile, or job.OPTION, an option of all jobs, and its"
            + " values. Repeatable. Keys that change together are one axis: sets.layout:sets.count=baseline:1,vertical:4."
      })
  List<Axis> axes = new ArrayList<>();

  @Option(
      names = "--grid",
      paramLabel = "FILE",
      description = {
        "A file on the driver with an axis on each line, as after --set; meldsim run reads it, too."
      })
  Path grid;

  @Option(
      names = "--precondition",
      paramLabel = "STATE",
      description = "State of every device before: fill=100,random=75 (percent).")
  String precondition;

  @Option(
      names = "--csv",
      paramLabel = "FILE",
      description = "Also write the table there, on the driver's disk: a row a cell.")
  Path csv;

  /**
   * Simulates all cells, and writes the table, if that was asked for.
   *
   * @param name of the job
   * @return what goes into the job's record
   */
  public Object simulate(SparkSession session, String name, List<CellRequest.Workload> workloads)
      throws Exception {
    Simulations.Result result = Simulations.run(session, name, cells(workloads));
    write(result.rows());
    return result;
  }

  /** All cells, workloads varying fastest. */
  List<Cell> cells(List<CellRequest.Workload> workloads) throws IOException {
    List<Map<String, String>> points = new ArrayList<>(List.of(Map.of()));
    for (Axis axis : allAxes()) {
      List<Map<String, String>> longer = new ArrayList<>();
      for (Map<String, String> point : points) {
        for (int i = 0; i < axis.points().size(); i++) {
          Map<String, String> more = new LinkedHashMap<>(point);
          more.putAll(axis.at(i));
          longer.add(more);
        }
      }
      points = longer;
    }
    List<Cell> cells = new ArrayList<>();
    for (String profile : profiles) {
      String text = isFile(profile) ? text("--profile", profile) : profile;
      for (Map<String, String> point : points) {
        ArrayList<String> settings = new ArrayList<>();
        point.forEach((key, value) -> settings.add(key + "=" + value));
        for (CellRequest.Workload workload : workloads) {
          LinkedHashMap<String, String> place = new LinkedHashMap<>();
          place.put("profile", profile);
          place.putAll(point);
          place.put(workload.kind(), workload.path());
          cells.add(
              new Cell(
                  cells.size(),
                  place,
                  new CellRequest(profile, text, settings, precondition, workload)));
        }
      }
    }
    return cells;
  }

  /** Refuses options that were taken for files, and a grid beyond all measure. */
  public void validate(List<String> workloads) {
    for (List<String> files : List.of(profiles, workloads)) {
      for (String file : files) {
        if (file.startsWith("-")) {
          throw new ParameterException(spec.commandLine(), "Unknown option: '" + file + "'");
        }
      }
    }
    long cells = (long) profiles.size() * workloads.size();
    for (Axis axis : allAxes()) {
      cells *= axis.points().size();
      if (cells > MAX_CELLS) {
        throw new ParameterException(
            spec.commandLine(),
            "--set: more than " + MAX_CELLS + " cells; sweep parts of the grid");
      }
    }
  }

  /** The axes of the grid file, then those of the flags. */
  private List<Axis> allAxes() {
    List<Axis> all = new ArrayList<>();
    if (grid != null) {
      try {
        int number = 0;
        for (String line : Files.readAllLines(grid)) {
          number++;
          if (!line.isBlank() && !line.strip().startsWith("#")) {
            all.add(axis(line.strip(), number));
          }
        }
      } catch (IOException e) {
        throw new ParameterException(
            spec.commandLine(), "--grid: cannot read " + grid + "; give a path on the driver", e);
      }
    }
    all.addAll(axes);
    return all;
  }

  private Axis axis(String line, int number) {
    Axis axis;
    try {
      axis = new Axis.Converter().convert(line);
    } catch (TypeConversionException e) {
      throw new ParameterException(
          spec.commandLine(), "--grid: " + grid + ":" + number + ": " + e.getMessage(), e);
    }
    for (String key : List.of("profile", "job")) {
      if (axis.keys().contains(key)) {
        throw new ParameterException(
            spec.commandLine(),
            "--grid: " + grid + ":" + number + ": " + key + " is a flag here; give --" + key);
      }
    }
    return axis;
  }

  /** The text of a file on the driver. */
  public static String text(String option, String path) throws IOException {
    try {
      return Files.readString(Path.of(path));
    } catch (NoSuchFileException e) {
      throw new IOException(option + ": no file " + path + "; give a path on the driver", e);
    }
  }

  private static boolean isFile(String profile) {
    return profile.indexOf('.') >= 0 || profile.indexOf('/') >= 0;
  }

  private void write(List<CellRow> rows) {
    if (csv == null) {
      return;
    }
    StringBuilder text = new StringBuilder();
    text.append(String.join(",", rows.get(0).columns().keySet())).append('\n');
    for (CellRow row : rows) {
      List<String> fields = new ArrayList<>();
      row.columns().values().forEach(value -> fields.add(value == null ? "" : quoted(value)));
      text.append(String.join(",", fields)).append('\n');
    }
    try {
      Files.writeString(csv, text);
    } catch (IOException e) {
      throw new UncheckedIOException("--csv: cannot write " + csv, e);
    }
  }

  private static String quoted(Object value) {
    String text = value.toString();
    boolean plain = text.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
    return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
