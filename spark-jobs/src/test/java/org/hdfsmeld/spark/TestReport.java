package org.hdfsmeld.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.hdfsmeld.spark.cli.Json;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Medians, spread, expectations and the page, of results in the jobs' own records. */
class TestReport {
  @TempDir static Path samples;
  @TempDir Path output;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeAll
  static void write() throws IOException {
    SuiteSamples.write(samples);
    // What a report left there is no result of a job, and is passed over.
    Files.writeString(samples.resolve("report.json"), "{\"tool\":\"hdfs-meld\",\"groups\":[]}");
  }

  @Test
  void tableHasMediansSpreadAndBottleneck() {
    assertThat(report(samples.toString())).isZero();
    assertThat(out.toString().lines())
        .anyMatch(
            l -> l.matches("scan +melded +4 +throughput +MiB/s +measured +87.23 +85.93 +88.54 .*"))
        .anyMatch(l -> l.matches("scan +melded +4 +wait +% +measured +93.00 +93.00 +93.00 .*"))
        .anyMatch(l -> l.matches("bottleneck of scan, normal: device"))
        .anyMatch(l -> l.matches("bottleneck of scan, stock: host"))
        .anyMatch(l -> l.matches("mixed +sets-baseline +4 +p99-writer +ms +measured .*"));
  }

  @Test
  void everyJobsRecordHasItsFigures() throws IOException {
    Path json = output.resolve("report.json");
    assertThat(report("--json", json.toString(), samples.toString())).isZero();
    JsonNode groups = Json.parse(Files.readString(json)).path("groups");
    assertThat(groups).hasSize(17);
    assertThat(figures(groups, "scan", "normal"))
        .contains("throughput", "p50", "p99", "wait", "utilisation", "device");
    assertThat(figures(groups, "query", "auto"))
        .contains("queries-per-hour", "seconds", "q1", "q6");
    assertThat(figures(groups, "lookup", "auto")).contains("reads", "p50", "p99");
    assertThat(figures(groups, "mixed", "sets-vertical"))
        .contains("ratio", "p50", "p99", "p50-writer", "p99-writer", "throughput", "ingest");
    assertThat(figures(groups, "sort", "auto")).contains("throughput");
    assertThat(figures(groups, "churn", "lifetimes"))
        .contains("amplification", "host", "flash", "placed", "throughput");
    JsonNode throughput = group(groups, "scan", "melded").path("figures").path("throughput");
    assertThat(throughput.path("values")).hasSize(SuiteSamples.ROUNDS);
    assertThat(throughput.path("firstQuartile").isNumber()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "scan:melded/normal>=1.30, 0, 1.400",
    "scan:melded/normal>=1.41, 1, 1.400",
    "query:auto/normal>=0.97, 0, 1.010",
    "query:auto/normal:seconds<=1.03, 0, 0.990",
    "mixed:sets-vertical:ratio<=1.10, 0, 1.05",
    "mixed:sets-baseline > 3, 0, 4.12",
    "mixed:sets-baseline < 3, 1, 4.12",
    "scan:normal:wait>=0.9, 0, 96.00 %",
    "churn:lifetimes<=1.5, 0, 1.50",
    "churn:lifetimes:host>=512, 0, 512.0 MiB",
    "churn:lifetimes:placed>=7, 0, 7.00 blocks",
    "scan:melded@1m/normal@1m<1, 0, 0.950",
    "scan:nosuch>=1, 1, no run of scan on nosuch",
    "scan:melded/normal:q1>=1, 1, no q1 in the runs of scan on melded",
  })
  void expectationsDecideTheExitCode(String expression, int code, String message) {
    assertThat(report("--expect", expression, samples.toString())).isEqualTo(code);
    assertThat(out.toString().lines())
        .anyMatch(
            line ->
                line.startsWith(code == 0 ? "holds" : "DOES NOT HOLD")
                    && line.contains(expression + ": " + message));
  }

  @Test
  void badExpressionsAreNamedWithTheirPlace() {
    assertThat(report("--expect", "scan:melded=>1", samples.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("--expect: 'scan:melded=>1', character 12: must be ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "{}", "no"})
  void whatIsNoResultIsRefusedByName(String content) throws IOException {
    Path file = Files.writeString(output.resolve("odd.json"), content);
    assertThat(report(file.toString())).isEqualTo(2);
    assertThat(err.toString()).contains(file + ": is not ");
  }

  @Test
  void directoryWithoutResultsIsAnError() {
    assertThat(report(output.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("no results of jobs");
  }

  @Test
  void pageIsOfTheRecords() throws IOException {
    String sweep = SuiteSamples.sweep(output).toString();
    String page = page("--expect", "scan:melded/normal>=1.30", samples.toString(), sweep);
    assertThat(page)
        .contains("1.40 times as fast", "scan:melded/normal&gt;=1.30", "1 of 1 expectations hold")
        .contains("&lt;b&gt;&amp;&quot;name&quot;")
        .contains("Sweep: MiB/s by ftl.page_allocation", "mixed, sets-vertical: p99 with")
        .doesNotContain("<b>", "NaN", "Infinity");
  }

  @Test
  void oneRunMakesAPageToo() throws IOException {
    Path one = samples.resolve("Sort-auto-[]-1.json");
    assertThat(page(one.toString())).contains("Jobs: sort.").doesNotContain("<polyline");
  }

  private String page(String... arguments) throws IOException {
    Path html = output.resolve("report.html");
    String[] all = new String[arguments.length + 2];
    System.arraycopy(arguments, 0, all, 2, arguments.length);
    all[0] = "--html";
    all[1] = html.toString();
    assertThat(report(all)).as(err.toString()).isZero();
    assertThat(out.toString()).endsWith("report: " + html + System.lineSeparator());
    return Files.readString(html);
  }

  private int report(String... arguments) {
    return Report.execute(
        new Report(), new PrintWriter(out, true), new PrintWriter(err, true), arguments);
  }

  private static List<String> figures(JsonNode groups, String job, String variant) {
    JsonNode figures = group(groups, job, variant).path("figures");
    return figures.properties().stream().map(Map.Entry::getKey).toList();
  }

  private static JsonNode group(JsonNode groups, String job, String variant) {
    for (JsonNode group : groups) {
      if (group.path("job").asText().equals(job)
          && group.path("variant").asText().equals(variant)) {
        return group;
      }
    }
    throw new AssertionError("no group " + job + " " + variant);
  }
}
