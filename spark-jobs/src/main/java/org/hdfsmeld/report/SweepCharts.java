package org.hdfsmeld.report;

import static org.hdfsmeld.report.Html.kind;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** What a sweep simulated, as a heat map: its longest axis down, all others across. */
final class SweepCharts {
  private SweepCharts() {}

  /** A heat map for each sweep whose grid has at least two cells. */
  static String of(Suite suite) {
    return suite.of("sweep").stream()
        .map(group -> heat(group.runs().get(0).path("result").path("rows")))
        .collect(Collectors.joining());
  }

  private static String heat(JsonNode cells) {
    Map<String, Set<String>> axes = axes(cells);
    String down =
        axes.keySet().stream().max(Comparator.comparingInt(a -> axes.get(a).size())).orElse(null);
    if (down == null || axes.get(down).size() < 2) {
      return "";
    }
    List<String> across = across(cells, axes, down);
    Map<String, Map<String, JsonNode>> table = new LinkedHashMap<>();
    Set<String> columns = new LinkedHashSet<>();
    for (JsonNode cell : cells) {
      String column = place(cell, across);
      columns.add(column);
      table.computeIfAbsent(value(cell, down), row -> new LinkedHashMap<>()).put(column, cell);
    }
    Map<String, Double> medians = new LinkedHashMap<>();
    for (String column : columns) {
      List<Double> rates =
          table.values().stream().map(row -> rate(row.get(column))).filter(r -> r > 0).toList();
      medians.put(column, rates.isEmpty() ? 0 : Spread.of(rates).median());
    }
    Map<String, List<Charts.Cell>> rows = new LinkedHashMap<>();
    table.forEach(
        (name, row) ->
            rows.put(
                name, columns.stream().map(c -> cell(rate(row.get(c)), medians.get(c))).toList()));
    return "<section class=\"wide\">\n<h2>Sweep: "
        + Html.escape(down)
        + " "
        + kind("simulated")
        + "</h2>\n<p class=\"note\">MiB/s, reads and writes together; the colour compares with the"
        + " median of the column.</p>\n"
        + Charts.heat(down, List.copyOf(columns), rows)
        + "</section>\n";
  }

  /** The axes with their values; those with one value say nothing and are left out. */
  private static Map<String, Set<String>> axes(JsonNode cells) {
    Map<String, Set<String>> axes = new LinkedHashMap<>();
    for (JsonNode cell : cells) {
      cell.path("axes")
          .properties()
          .forEach(
              axis ->
                  axes.computeIfAbsent(axis.getKey(), name -> new LinkedHashSet<>())
                      .add(value(cell, axis.getKey())));
    }
    axes.values().removeIf(values -> values.size() < 2);
    return axes;
  }

  /** The other axes, without those that follow from the ones before them. */
  private static List<String> across(JsonNode cells, Map<String, Set<String>> axes, String down) {
    List<String> across = new ArrayList<>();
    int places = 1;
    for (String axis : axes.keySet()) {
      if (!axis.equals(down)) {
        List<String> more = new ArrayList<>(across);
        more.add(axis);
        Set<String> distinct = new LinkedHashSet<>();
        cells.forEach(cell -> distinct.add(place(cell, more)));
        if (distinct.size() > places) {
          across.add(axis);
          places = distinct.size();
        }
      }
    }
    return across;
  }

  private static String place(JsonNode cell, List<String> axes) {
    return axes.stream().map(axis -> value(cell, axis)).collect(Collectors.joining(", "));
  }

  /** The value on an axis; of a file, its name. */
  private static String value(JsonNode cell, String axis) {
    String value = cell.path("axes").path(axis).asText();
    return value.substring(value.lastIndexOf('/') + 1).replaceFirst("\\.(fio|toml)$", "");
  }

  /** MiB/s; zero if the device refused, or there is no such cell. */
  private static double rate(JsonNode cell) {
    return cell == null
        ? 0
        : cell.path("read").path("mibPerSecond").asDouble()
            + cell.path("write").path("mibPerSecond").asDouble();
  }

  private static Charts.Cell cell(double rate, double median) {
    return rate > 0
        ? new Charts.Cell(
            String.format(Locale.ROOT, rate < 10 ? "%.1f" : "%,.0f", rate),
            Math.log(rate / median) / Math.log(2))
        : Charts.Cell.EMPTY;
  }
}
