package org.hdfsmeld.report;

import static org.hdfsmeld.report.Html.kind;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;

/** The noisy neighbour: what a reader waits for over time, alone and beside a writer. */
final class NeighbourCharts {
  private static final double US_PER_MS = 1e3;
  private static final double MS_PER_SECOND = 1e3;

  /** Dashes. */
  private static final int P50 = 1;

  private static final int P99 = 0;

  private NeighbourCharts() {}

  /** A chart for each variant of mixed, all with the same axes; the typical round of each. */
  static String of(Suite suite) {
    List<SuiteGroup> groups = suite.of("mixed").stream().filter(g -> series(g).size() > 0).toList();
    if (groups.isEmpty()) {
      return "";
    }
    double xMax = 0;
    DoubleStream.Builder latencies = DoubleStream.builder();
    for (SuiteGroup group : groups) {
      for (JsonNode point : series(group)) {
        xMax = Math.max(xMax, end(group, point));
        latencies.add(point.path("p99Us").asDouble() / US_PER_MS);
      }
    }
    double yMax = Charts.end(latencies.build());
    StringBuilder html =
        new StringBuilder("<section class=\"wide\">\n<h2>A reader beside a writer ");
    html.append(kind("measured")).append("</h2>\n");
    html.append("<p class=\"note\">Latency of the reader's requests over time. ");
    html.append("Shaded: another client ingests.</p>\n<p class=\"legend\">");
    html.append(Charts.key("", P99, "p99")).append(Charts.key("", P50, "p50"));
    html.append("</p>\n<div class=\"grid2\">\n");
    for (SuiteGroup group : groups) {
      html.append("<div><h3>")
          .append(Html.escape(group.variant()))
          .append(": p99 with the writer ");
      Spread ratio = group.headline();
      html.append(ratio == null ? "–" : Figure.RATIO.text(ratio.median())).append("</h3>");
      String series = SuiteCharts.series(suite, group.variant());
      html.append(Charts.lines(lines(group, series), spans(group), xMax, yMax, "s", "ms"));
      html.append("</div>\n");
    }
    return html.append("</div>\n</section>\n").toString();
  }

  private static JsonNode series(SuiteGroup group) {
    return group.typicalRun().path("result").path("series");
  }

  private static double start(JsonNode point) {
    return point.path("startMs").asDouble() / MS_PER_SECOND;
  }

  private static double end(SuiteGroup group, JsonNode point) {
    return start(point)
        + group.typicalRun().path("result").path("binMs").asDouble() / MS_PER_SECOND;
  }

  /** A line for each phase, so that none crosses what lies between two of them. */
  private static List<Charts.Line> lines(SuiteGroup group, String series) {
    List<Charts.Line> lines = new ArrayList<>();
    for (List<JsonNode> phase : phases(group)) {
      lines.add(line("p50", series, P50, "p50Us", phase));
      lines.add(line("p99", series, P99, "p99Us", phase));
    }
    return lines;
  }

  private static Charts.Line line(
      String label, String series, int dash, String field, List<JsonNode> phase) {
    List<double[]> points = new ArrayList<>();
    for (JsonNode point : phase) {
      points.add(new double[] {start(point), point.path(field).asDouble() / US_PER_MS});
    }
    return new Charts.Line(label, series, dash, points);
  }

  private static List<Charts.Span> spans(SuiteGroup group) {
    List<Charts.Span> spans = new ArrayList<>();
    for (List<JsonNode> phase : phases(group)) {
      if (phase.get(0).path("writer").asBoolean()) {
        spans.add(new Charts.Span(start(phase.get(0)), end(group, phase.get(phase.size() - 1))));
      }
    }
    return spans;
  }

  private static List<List<JsonNode>> phases(SuiteGroup group) {
    List<List<JsonNode>> phases = new ArrayList<>();
    JsonNode last = null;
    for (JsonNode point : series(group)) {
      if (last == null || last.path("writer").asBoolean() != point.path("writer").asBoolean()) {
        phases.add(new ArrayList<>());
      }
      phases.get(phases.size() - 1).add(point);
      last = point;
    }
    return phases;
  }
}
