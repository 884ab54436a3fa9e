package org.hdfsmeld.report;

import static org.hdfsmeld.report.Html.cells;
import static org.hdfsmeld.report.Html.escape;
import static org.hdfsmeld.report.Html.kind;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.hdfsmeld.spark.cli.Json;

/** The suite as one HTML page that needs nothing else. */
public final class SuitePage {
  private final Suite suite;
  private final List<Expectation.Outcome> outcomes;
  private final String command;

  private SuitePage(Suite suite, List<Expectation.Outcome> outcomes, String command) {
    this.suite = suite;
    this.outcomes = outcomes;
    this.command = command;
  }

  /**
   * The page.
   *
   * @param command that gives it, as it can be repeated in a shell
   */
  public static String of(Suite suite, List<Expectation.Outcome> outcomes, String command) {
    SuitePage page = new SuitePage(suite, outcomes, command);
    return Html.fill(
        Html.resource(SuitePage.class, "suite.html"),
        Map.ofEntries(
            Map.entry("style", Html.style()),
            Map.entry("script", Html.script()),
            Map.entry("verdict", escape(page.verdict())),
            Map.entry("origin", page.origin()),
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

  /** What was found, in a sentence. */
  private String verdict() {
    List<String> parts = new ArrayList<>();
    SuiteGroup normal = suite.group("scan", "normal");
    SuiteGroup melded = suite.group("scan", "melded");
    if (normal != null
        && melded != null
        && normal.headline() != null
        && melded.headline() != null) {
      parts.add(
          String.format(
              Locale.ROOT,
              "Scans of melded pages are %.2f times as fast as of the normal layout (medians of %d"
                  + " rounds, measured)",
              melded.headline().median() / normal.headline().median(),
              melded.runs().size()));
    }
    if (!outcomes.isEmpty()) {
      long held = outcomes.stream().filter(Expectation.Outcome::holds).count();
      parts.add(String.format("%d of %d expectations hold", held, outcomes.size()));
    }
    return parts.isEmpty()
        ? "Jobs: " + String.join(", ", suite.jobs()) + "; no expectation was given."
        : String.join("; ", parts) + ".";
  }

  private String origin() {
    JsonNode run = anyRun();
    return Html.origin(
        command,
        Map.of(
            "profile",
            or("none was asked for its devices", profiles()),
            "seed",
            run.path("seed").asText(),
            "settings",
            "jobs: "
                + String.join(", ", suite.jobs())
                + "; variants: "
                + or("default", suite.variants())
                + String.join("", dilations()),
            "version",
            String.format(
                "hdfs-meld %s, Spark %s, Hadoop %s",
                run.path("version").asText(),
                run.path("sparkVersion").asText(),
                run.path("hadoopVersion").asText()),
            "date",
            "first run " + run.path("started").asText()));
  }

  private List<String> profiles() {
    return ofDevices(device -> device.path("profile").asText());
  }

  private List<String> dilations() {
    return ofDevices(
        device ->
            "; time dilation " + Figure.DEVICE.number(device.path("timeDilation").asDouble()));
  }

  /** What the devices of all runs say, each once. */
  private List<String> ofDevices(Function<JsonNode, String> what) {
    Set<String> found = new TreeSet<>();
    for (SuiteGroup group : suite.groups()) {
      for (JsonNode run : group.runs()) {
        for (JsonNode node : run.path("simulator").path("dataNodes")) {
          node.path("devices").forEach(device -> found.add(what.apply(device)));
        }
      }
    }
    return List.copyOf(found);
  }

  private static String or(String otherwise, List<String> names) {
    return names.isEmpty() ? otherwise : String.join(", ", names);
  }

  private String expectations() {
    if (outcomes.isEmpty()) {
      return "";
    }
    return "<section class=\"wide\">\n<h2>Expectations</h2>\n<ul class=\"verdicts\">\n"
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
