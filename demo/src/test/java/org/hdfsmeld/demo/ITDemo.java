package org.hdfsmeld.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole demo, with a tenth of the data. */
class ITDemo {
  private static final int ROUNDS = 3;
  private static final List<String> SIZE =
      List.of("--scale=0.12", "--files=3", "--rounds=" + ROUNDS);

  /** In place of one that the demo chooses for the machine. */
  private static final String DILATION = "--dilation=200";

  private static final Pattern JOINED =
      Pattern.compile(
          "(?<taskReads>\\d+) of (?<reads>\\d+) block reads have their task,"
              + " (?<joined>\\d+) of (?<requests>\\d+) requests their command;"
              + " readers waited (?<waited>[0-9.]+) s, tasks (?<taskWaited>[0-9.]+) s");

  /**
   * A folder where {@code ./meld demo} has just left demo-report.html and demo.json, run with these
   * arguments as {@code .ci/run} does: then it need not run once more.
   */
  private static final String LEFT = System.getProperty("meld.demo.left", "");

  @TempDir Path directory;
  private Path work;

  @BeforeEach
  void makeWorkDirectory() throws Exception {
    work = Files.createDirectory(directory.resolve("work"));
  }

  @Test
  void meldingGains() throws Exception {
    JsonNode left = LEFT.isEmpty() ? run(DILATION) : left();
    JsonNode result = withMedianGainIn(1.25, 1.55, left);
    assertThat(result.path("gainDevice").asDouble()).isBetween(1.35, 1.50);
    assertThat(result.path("checksumsAgree").asBoolean()).isTrue();
    assertThat(result.path("dataSets").get(0).path("meldedMappedShare").asDouble()).isZero();
    assertThat(result.path("dataSets").get(1).path("meldedMappedShare").asDouble())
        .isGreaterThan(0.99);
    assertThat(result.path("melded").path("all").path("meldedReadShare").asDouble())
        .isGreaterThan(0.99);
    for (String variant : List.of("normal", "melded")) {
      assertThat(result.path(variant).path("readerWaitShare").asDouble())
          .as(variant)
          .isBetween(0.8, 1.0);
      assertEqualPlacement(result.path(variant).path("devices"));
    }
    JsonNode undilated = result.path("undilated");
    assertThat(undilated.path("gains")).hasSize(3);
    assertThat(undilated.path("normal").path("dilation").asDouble()).isEqualTo(1);
    assertThat(undilated.path("normal").path("readerWaitShare").asDouble())
        .isLessThan(result.path("normal").path("readerWaitShare").asDouble());
    // What Spark read is what the devices delivered: nothing went past the simulator.
    double files = result.path("melded").path("scan").path("fileBytes").asDouble() / (1 << 20);
    assertThat(result.path("melded").path("all").path("readMib").asDouble())
        .isCloseTo(files, within(0.02 * files));
    assertThat(Files.readString(directory.resolve("report.html"))).contains("Melded pages under");
  }

  @Test
  void withoutTheDirectiveNothingIsGained() throws Exception {
    Path timeline = directory.resolve("demo.perfetto.gz");
    JsonNode result =
        withMedianGainIn(0.95, 1.05, run("--directive", "off", "--timeline", timeline.toString()));
    assertThat(timeline).isNotEmptyFile();
    assertThat(result.path("gainDevice").asDouble()).isCloseTo(1, within(0.01));
    assertThat(result.path("melded").path("all").path("meldedReadShare").asDouble()).isZero();
  }

  @Test
  void interruptLeavesNothingBehind() throws Exception {
    DemoProcess demo = DemoProcess.start(directory, arguments(DILATION));
    demo.awaitLine(line -> line.startsWith("[3/12]"));
    demo.interrupt();
    assertThat(demo.waitFor()).as(demo.output()).isIn(130, 143);
    assertThat(demo.output()).contains("cleaning up").doesNotContain("\tat ");
    assertThat(work).isEmptyDirectory();
    assertThat(directory.resolve("report.html")).doesNotExist();
  }

  @Test
  void aFailureIsSaidInOneLineAndKeepsTheLog() throws Exception {
    DemoProcess demo = DemoProcess.start(directory, arguments(DILATION));
    demo.awaitLine(line -> line.startsWith("[2/12]"));
    deleteBlocks();
    assertThat(demo.waitFor()).as(demo.output()).isEqualTo(1);
    assertThat(demo.output()).contains("demo: the log is ").doesNotContain("\tat ");
    try (Stream<Path> left = Files.list(work)) {
      assertThat(left)
          .singleElement()
          .satisfies(log -> assertThat(log).content().contains("the demo failed"));
    }
  }

  @Test
  void aProfileThatDoesNotExistIsABadArgument() throws Exception {
    DemoProcess demo = DemoProcess.start(directory, arguments("--profile", "no-such-device"));
    assertThat(demo.waitFor()).isEqualTo(2);
    assertThat(demo.output())
        .contains("--profile", "no-such-device", "melded-tlc-8x8")
        .doesNotContain("\tat ");
    assertThat(work).isEmptyDirectory();
  }

  /** Every block read has its task, every request its command, and all waiting is a task's. */
  private static void assertEverythingIsJoined(String output) {
    Matcher said = JOINED.matcher(output);
    assertThat(said.find()).as(output).isTrue();
    assertThat(said.group("taskReads")).as(output).isEqualTo(said.group("reads")).isNotEqualTo("0");
    assertThat(said.group("joined")).as(output).isEqualTo(said.group("requests"));
    double waited = Double.parseDouble(said.group("waited"));
    assertThat(waited).isPositive();
    assertThat(Double.parseDouble(said.group("taskWaited")))
        .isCloseTo(waited, within(0.01 * waited));
  }

  /** Takes the DataNodes' storage away while the demo writes to it. */
  private void deleteBlocks() throws Exception {
    try (Stream<Path> files = Files.walk(work)) {
      Path data = files.filter(path -> path.endsWith("hdfs/data")).findFirst().orElseThrow();
      Files.move(data, data.resolveSibling("gone"));
      Files.writeString(data, "not a directory");
    }
  }

  /**
   * With so little data a scan takes four seconds, and a busy machine that holds a reader up for
   * half a second spoils the gain of that round. So the median of a fixed number of rounds decides;
   * the least and the greatest are said.
   */
  private static JsonNode withMedianGainIn(double least, double most, JsonNode run) {
    JsonNode result = run.path("result");
    JsonNode gains = result.path("gains");
    assertThat(gains).hasSize(ROUNDS);
    double median = gains.get(ROUNDS / 2).asDouble();
    String distribution =
        String.format(
            Locale.ROOT,
            "gain end to end of %d rounds %s: min %.3f, median %.3f, max %.3f",
            ROUNDS,
            run.path("arguments"),
            gains.get(0).asDouble(),
            median,
            gains.get(ROUNDS - 1).asDouble());
    System.out.println(distribution);
    assertThat(median).as(distribution).isBetween(least, most);
    assertThat(result.path("gainEndToEnd").asDouble()).isEqualTo(median);
    return result;
  }

  private JsonNode run(String... more) throws Exception {
    DemoProcess demo = DemoProcess.start(directory, arguments(more));
    assertThat(demo.waitFor()).as(demo.output()).isZero();
    assertThat(demo.output()).contains("time dilation", "accounted, not paced", "report: ");
    if (List.of(more).contains("--timeline")) {
      assertEverythingIsJoined(demo.output());
    }
    assertThat(work).isEmptyDirectory();
    return new ObjectMapper().readTree(directory.resolve("result.json").toFile());
  }

  /** What the run that is there has left, which must have had the same arguments. */
  private JsonNode left() throws Exception {
    JsonNode left = new ObjectMapper().readTree(Path.of(LEFT, "demo.json").toFile());
    List<String> arguments = new ArrayList<>();
    left.path("arguments").forEach(argument -> arguments.add(argument.asText()));
    assertThat(arguments)
        .as("arguments of the run in %s", LEFT)
        .containsAll(SIZE)
        .contains(DILATION);
    Files.copy(Path.of(LEFT, "demo-report.html"), directory.resolve("report.html"));
    return left;
  }

  private String[] arguments(String... more) {
    List<String> arguments = new ArrayList<>(SIZE);
    arguments.addAll(List.of("--work-dir", work.toString()));
    arguments.addAll(List.of("--report", "report.html", "--json", "result.json"));
    arguments.addAll(List.of(more));
    return arguments.toArray(String[]::new);
  }

  /** Each device has one of the three files of lineitem, and one of them has that of orders. */
  private static void assertEqualPlacement(JsonNode devices) {
    assertThat(devices).hasSize(3);
    List<Double> readMib = new ArrayList<>();
    devices.forEach(device -> readMib.add(device.path("readMib").asDouble()));
    readMib.sort(null);
    assertThat(readMib.get(0)).isCloseTo(readMib.get(1), within(1.0));
    assertThat(readMib.get(2)).isGreaterThan(1.5 * readMib.get(1));
  }
}
