package org.hdfsmeld.report;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The rounds of one job on one variant.
 *
 * @param bottleneck device or host; both, if rounds differ; unknown without figures of devices
 * @param runs the jobs' JSON, by rounds
 */
record SuiteGroup(
    String job,
    String variant,
    Map<Figure, Spread> figures,
    String bottleneck,
    List<JsonNode> runs) {

  static SuiteGroup of(String job, String variant, List<JsonNode> runs) {
    Map<Figure, List<Double>> values = new EnumMap<>(Figure.class);
    for (JsonNode run : runs) {
      Figures.of(job, run)
          .forEach(
              (figure, value) ->
                  values.computeIfAbsent(figure, first -> new ArrayList<>()).add(value));
    }
    Map<Figure, Spread> figures = new EnumMap<>(Figure.class);
    values.forEach((figure, list) -> figures.put(figure, Spread.of(list)));
    return new SuiteGroup(
        job,
        variant,
        figures,
        runs.stream()
            .map(run -> run.path("simulator").path("bottleneck").asText("unknown"))
            .distinct()
            .sorted()
            .collect(Collectors.joining("/")),
        List.copyOf(runs));
  }

  /** What the job is known by; null if its record lacks it. */
  Spread headline() {
    return figures.get(Figures.headline(job));
  }

  /** The run whose headline is the median, or next below it. */
  JsonNode typicalRun() {
    Figure headline = Figures.headline(job);
    List<JsonNode> sorted =
        runs.stream()
            .filter(run -> Figures.of(job, run).containsKey(headline))
            .sorted(Comparator.comparingDouble(run -> Figures.of(job, run).get(headline)))
            .toList();
    return sorted.isEmpty() ? runs.get(0) : sorted.get((sorted.size() - 1) / 2);
  }
}
