package org.hdfsmeld.report;

import static org.hdfsmeld.report.Html.cells;
import static org.hdfsmeld.report.Html.escape;
import static org.hdfsmeld.report.Html.kind;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.hdfsmeld.spark.Json;

/** The suite as one HTML page that needs nothing else. */
public final class SuitePage {
  private final Suite suite;
  private final List<Expectation.Outcome> outcomes;

  private SuitePage(Suite suite, List<Expectation.Outcome> outcomes) {
    this.suite = suite;
    this.outcomes = outcomes;
  }

  /** The page. */
  public static String of(Suite suite, List<Expectation.Outcome> outcomes) {
    SuitePage page = new SuitePage(suite, outcomes);
    return Html.fill(
        Html.resource(SuitePage.class, "suite.html"),
        Map.ofEntries(
            Map.entry("style", Html.style()),
            Map.entry("what", page.what()),
            Map.entry("expectations", page.expectations()),
            Map.entry("headlines", SuiteCharts.headlines(suite)),
            Map.entry("gain", SuiteCharts.gain(suite)),
            Map.entry("waits", SuiteCharts.waits(suite)),
            Map.entry("neighbour", NeighbourCharts.of(suite)),
            Map.entry("heat", SuiteCharts.heat(suite)),
            Map.entry("sweep", SweepCharts.of(suite)),
            Map.entry("figures", page.figures()),
            Map.entry("devices", page.devices()),
            Map.entry("source", escape(Published.SOURCE)),
            Map.entry("runs", page.runs()),
            Map.entry("json", escape(page.configuration()))));
  }

  private String what() {
    JsonNode run = anyRun();
    return escape(
        "Jobs: "
            + String.join(", ", suite.jobs())
            + ". Variants: "
            + String.join(", ", suite.variants())
            + ". hdfs-meld "
            + run.path("version").asText()
            + ", Spark "
            + run.path("sparkVersion").asText()
            + ", Hadoop "
            + run.path("hadoopVersion").asText()
            + ", first run "
            + run.path("started").asText()
            + ".");
  }

  private String expectations() {
    if (outcomes.isEmpty()) {
      return "";
    }
    return "<section class=\"wide\">\n<h2>What was expected</h2>\n<ul class=\"verdicts\">\n"
        + outcomes.stream()
            .map(
                outcome ->
                    String.format(
                        "<li class=\"%s\"><span>%s</span><strong>%s</strong></li>%n",
                        outcome.holds() ? "met" : "missed",
                        escape(outcome.expression()),
                        escape(outcome.message())))
            .collect(Collectors.joining())
        + "</ul>\n</section>\n";
  }

  private String figures() {
    List<List<String>> rows = new ArrayList<>();
    for (SuiteGroup group : suite.groups()) {
      group
          .figures()
          .forEach(
              (figure, spread) ->
                  rows.add(
                      cells(
                          escape(group.job() + ", " + group.variant() + ": " + figure.key())
                              + " "
                              + kind(figure.kind()),
                          escape(figure.unit()),
                          figure.number(spread.median()),
                          figure.number(spread.min()),
                          quartile(figure, spread.firstQuartile()),
                          quartile(figure, spread.thirdQuartile()),
                          figure.number(spread.max()),
                          Integer.toString(spread.values().size()))));
    }
    return Html.table(
        cells("", "unit", "median", "min", "1st quartile", "3rd quartile", "max", "rounds"), rows);
  }

  private static String quartile(Figure figure, Double value) {
    return value == null ? "–" : figure.number(value);
  }

  private String devices() {
    List<List<String>> rows = new ArrayList<>();
    for (SuiteGroup group : suite.groups()) {
      for (JsonNode node : group.typicalRun().path("simulator").path("dataNodes")) {
        String where = group.job() + ", " + group.variant() + ", " + node.path("address").asText();
        if (node.path("error").isTextual()) {
          rows.add(cells(escape(where + ": " + node.path("error").asText())));
        }
        for (JsonNode device : node.path("devices")) {
          if (device.path("readCommands").asLong() + device.path("writeCommands").asLong() > 0) {
            rows.add(device(where, device));
          }
        }
      }
    }
    if (rows.isEmpty()) {
      return "<p class=\"note\">The jobs were not told of DataNodes (--datanodes).</p>";
    }
    return Html.table(
        cells(
            "",
            "profile",
            "mode",
            "dilation",
            "read, MiB " + kind("simulated"),
            "written, MiB " + kind("simulated"),
            "MiB/s " + kind("simulated"),
            "busy " + kind("simulated"),
            "dies busy " + kind("simulated"),
            "melded reads " + kind("simulated")),
        rows);
  }

  private static List<String> device(String where, JsonNode device) {
    double mib = 1L << 20;
    JsonNode utilisation = device.path("utilisation");
    return cells(
        escape(where + " " + device.path("device").asText()),
        escape(device.path("profile").asText()),
        escape(device.path("mode").asText()),
        Figure.DEVICE.number(device.path("timeDilation").asDouble()),
        Figure.DEVICE.number(device.path("readBytes").asDouble() / mib),
        Figure.DEVICE.number(device.path("writtenBytes").asDouble() / mib),
        Figure.DEVICE.number(device.path("readMibPerSecond").asDouble()),
        utilisation.isNumber() ? percent(utilisation) : "–",
        percent(device.path("dieUtilisation")),
        percent(device.path("meldedReadShare")));
  }

  private static String percent(JsonNode share) {
    return Figure.UTILISATION.text(share.asDouble());
  }

  /** The command line of each job, as it was run first. */
  private String runs() {
    return suite.groups().stream()
        .map(
            group -> {
              JsonNode run = group.runs().get(0);
              List<String> arguments = new ArrayList<>();
              run.path("arguments").forEach(argument -> arguments.add(argument.asText()));
              return escape(run.path("command").asText() + " " + String.join(" ", arguments));
            })
        .collect(Collectors.joining("\n"));
  }

  private String configuration() {
    ObjectNode run = anyRun().deepCopy();
    run.remove(List.of("result", "simulator", "arguments", "labels", "command"));
    return Json.pretty(run);
  }

  private JsonNode anyRun() {
    return suite.groups().get(0).runs().get(0);
  }
}
