package org.hdfsmeld.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Sweep and replay in local sessions, against the command line cell by cell. */
class ITSweep {
  /** Built by the module native-sim, as the library is. */
  private static final Path MELDSIM =
      Path.of("../native-sim/target/release/meldsim").toAbsolutePath().normalize();

  private static final Path TRACE = Path.of("../native-sim/workloads/hdfs-scan.meld.gz");

  @TempDir static Path directory;
  private static Path reads;
  private static Path writes;

  @BeforeAll
  static void writeJobs() throws Exception {
    reads =
        Files.writeString(
            directory.resolve("reads.fio"),
            "[one]\nrw=randread\niodepth=8\nsize=2m\n[two]\nrw=randread\nsize=1m\n");
    writes = Files.writeString(directory.resolve("writes.fio"), "[w]\nrw=write\nbs=64k\nsize=4m\n");
  }

  @Test
  void everyCellIsWhatTheCommandLinePrints() throws Exception {
    List<JsonNode> rows =
        rows(
            2,
            new Sweep(),
            "--set",
            "ftl.page_allocation=CWDP,PDWC",
            "--set",
            "sets.layout:sets.count=baseline:1,vertical:4",
            "--seed",
            "5",
            "--job",
            reads.toString(),
            writes.toString());
    assertThat(rows).hasSize(8);
    for (JsonNode row : rows) {
      String printed = printed(row);
      assertThat(row.path("sha256").asText()).as(row.toString()).isEqualTo(sha256(printed));
      assertFigures(row, new ObjectMapper().readTree(printed));
    }
    assertThat(rows).extracting(row -> row.path("sha256").asText()).doesNotHaveDuplicates();
  }

  @Test
  void aCalibrationIsThatOfTheCommandLineToTheDigit() throws Exception {
    Path cells = Files.createDirectory(directory.resolve("cells"));
    StringBuilder text =
        new StringBuilder(
            "drive,dataset,sw_path,block_bytes,threads,depth_per_thread,iops,mean_us,p10_us,p50_us,p90_us,p99_us,limit\n");
    for (int depth : new int[] {1, 4, 16, 64}) {
      double iops = 32.0 * depth / (depth + 31) / 65e-6;
      double meanUs = depth / iops * 1e6;
      text.append(
          String.format(
              Locale.ROOT,
              "mine,r,io_uring,4096,1,%d,%.1f,%.3f,%.3f,%.3f,%.3f,%.3f,%n",
              depth,
              iops,
              meanUs,
              meanUs * 0.95,
              meanUs,
              meanUs * 1.1,
              meanUs * 1.3));
    }
    Files.writeString(cells.resolve("read_latency_by_depth.csv"), text);
    Path swept = directory.resolve("swept.toml");
    Path printed = directory.resolve("printed.toml");
    List<String> drive =
        List.of("--drive", "mine", "--capacity", "960197124096", "--given", "geometry.channels=4");
    List<String> sweep = new ArrayList<>(drive);
    sweep.addAll(List.of("--calibrate", cells.toString(), "--out", swept.toString()));
    JsonNode result = result(2, new Sweep(), sweep.toArray(String[]::new));
    assertThat(result.path("simulations").asInt()).isGreaterThan(20);
    List<String> command = new ArrayList<>(List.of(MELDSIM.toString(), "calibrate", "--quiet"));
    command.addAll(drive);
    command.addAll(List.of("--cells", cells.toString(), "--out", printed.toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(swept).hasSameTextualContentAs(printed);
  }

  /** The columns hold what the JSON says, for a workload of one and of two jobs. */
  private static void assertFigures(JsonNode row, JsonNode run) {
    for (String name : List.of("read", "write")) {
      double iops = 0;
      double p99Us = 0;
      for (JsonNode job : run.path("jobs")) {
        iops += job.path(name).path("iops").asDouble();
        JsonNode latency = job.path(name).path("clat_ns").path("percentile");
        p99Us = Math.max(p99Us, latency.path("99.000000").asDouble() / 1e3);
      }
      assertThat(row.path(name).isNull()).isEqualTo(iops == 0);
      assertThat(row.path(name).path("iops").asDouble()).isEqualTo(iops);
      assertThat(row.path(name).path("p99Us").asDouble()).isEqualTo(p99Us);
    }
    assertThat(row.path("channelsBusyPercent").asDouble()).isBetween(0.1, 100.0);
  }

  @Test
  void neitherExecutorsNorOrderChangeTheResult() throws Exception {
    String[] arguments = {
      "--set", "ftl.page_allocation=CWDP,DPCW,PDWC", "--job", reads.toString(), writes.toString()
    };
    List<JsonNode> rows = rows(1, new Sweep(), arguments);
    assertThat(rows(3, new Sweep(), arguments)).isEqualTo(rows);
    String[] reversed = arguments.clone();
    reversed[1] = "ftl.page_allocation=PDWC,DPCW,CWDP";
    assertThat(rows(2, new Sweep(), reversed))
        .extracting(row -> row.path("sha256").asText())
        .containsExactlyInAnyOrderElementsOf(
            rows.stream().map(row -> row.path("sha256").asText()).toList());
  }

  @Test
  void whatADeviceRefusesIsARowWithItsError() throws Exception {
    Path csv = directory.resolve("table.csv");
    List<JsonNode> rows =
        rows(
            2,
            new Sweep(),
            "--set",
            "sets.layout:sets.count=vertical:4,vertical:3",
            "--csv",
            csv.toString(),
            "--job",
            reads.toString());
    assertThat(rows.get(0).path("error").isNull()).isTrue();
    assertThat(rows.get(1).path("error").asText()).contains("sets.count", "does not divide 8");
    assertThat(rows.get(1).path("read").isNull()).isTrue();
    List<String> lines = Files.readAllLines(csv);
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0)).startsWith("cell,profile,sets.layout,sets.count,job,read_requests,");
    assertThat(lines.get(1)).startsWith("0,melded-tlc-8x8,vertical,4," + reads + ",768,0,");
  }

  @Test
  void aSweepOfWhichNothingRunsFails() throws Exception {
    try (SparkSession session = session(1)) {
      StringWriter err = new StringWriter();
      assertThat(execute(new Sweep(), err, "--profile", "melted", "--job", reads.toString()))
          .isEqualTo(1);
      assertThat(err.toString()).contains("no cell runs", "melted");
    }
  }

  @Test
  void tracesAreBroughtToTheExecutorsAndReplayedAsByTheCommandLine() throws Exception {
    List<JsonNode> rows =
        rows(
            2,
            new Replay(),
            "--trace",
            TRACE.toString(),
            "--replay",
            "closed",
            "--iodepth",
            "4",
            "--profile",
            "melded-tlc-8x8",
            "optane-900p");
    assertThat(rows).hasSize(2);
    for (JsonNode row : rows) {
      assertThat(row.path("sha256").asText()).as(row.toString()).isEqualTo(sha256(printed(row)));
    }
  }

  private static List<JsonNode> rows(int cores, JobCommand job, String... arguments)
      throws Exception {
    List<JsonNode> rows = new ArrayList<>();
    result(cores, job, arguments).path("rows").forEach(rows::add);
    return rows;
  }

  private static JsonNode result(int cores, JobCommand job, String... arguments) throws Exception {
    Path json = Files.createTempFile(directory, "result", ".json");
    List<String> all = new ArrayList<>(Arrays.asList(arguments));
    all.addAll(0, List.of("--json", json.toString()));
    try (SparkSession session = session(cores)) {
      StringWriter err = new StringWriter();
      int code = execute(job, err, all.toArray(String[]::new));
      assertThat(code).as(err.toString()).isZero();
    }
    return new ObjectMapper().readTree(json.toFile()).path("result");
  }

  private static int execute(JobCommand job, StringWriter err, String... arguments) {
    PrintWriter before = new PrintWriter(err, true);
    return new CommandLine(job)
        .setErr(before)
        .setExecutionExceptionHandler(
            (error, line, parsed) -> {
              line.getErr().println(error);
              return 1;
            })
        .execute(arguments);
  }

  private static SparkSession session(int cores) {
    return SparkSession.builder()
        .appName("ITSweep")
        .master("local[" + cores + "]")
        .config("spark.ui.enabled", false)
        .config("spark.driver.host", "localhost")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate();
  }

  /** What the row's command prints in a shell. */
  private static String printed(JsonNode row) throws Exception {
    String command = row.path("command").asText();
    assertThat(command).startsWith("meldsim run ");
    Process process =
        new ProcessBuilder("sh", "-c", MELDSIM + command.substring("meldsim".length()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(command).isZero();
    return printed;
  }

  private static String sha256(String text) throws Exception {
    byte[] digest =
        MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(digest);
  }
}
