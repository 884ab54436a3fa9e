package org.hdfsmeld.report;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.DoubleStream;
import java.util.stream.StreamSupport;

/** Figures of one run, from the JSON of its job. */
final class Figures {
  private static final double US_PER_MS = 1e3;
  private static final double SECONDS_PER_HOUR = 3600;

  private Figures() {}

  /**
   * @param job scan, query, lookup, mixed or sort; other jobs have the devices' figures only
   */
  static Map<Figure, Double> of(String job, JsonNode run) {
    Map<Figure, Double> figures = new EnumMap<>(Figure.class);
    JsonNode result = run.path("result");
    switch (job) {
      case "scan" -> {
        put(figures, Figure.THROUGHPUT, result.path("readMibPerSecond"), 1);
        latency(figures, result.path("latency"), Figure.P50, Figure.P99);
      }
      case "sort" -> put(figures, Figure.THROUGHPUT, result.path("sortedMibPerSecond"), 1);
      case "query" -> queries(figures, result.path("queries"));
      case "lookup" -> {
        put(figures, Figure.READS, result.path("readsPerSecond"), 1);
        latency(figures, result.path("latency"), Figure.P50, Figure.P99);
      }
      case "mixed" -> {
        put(figures, Figure.RATIO, result.path("ratio").path("p99"), 1);
        latency(figures, result.path("alone").path("latency"), Figure.P50, Figure.P99);
        JsonNode with = result.path("withWriter");
        latency(figures, with.path("latency"), Figure.P50_WRITER, Figure.P99_WRITER);
        put(figures, Figure.THROUGHPUT, result.path("alone").path("readMibPerSecond"), 1);
        put(figures, Figure.INGEST, with.path("ingestMibPerSecond"), 1);
      }
      default -> {}
    }
    JsonNode simulator = run.path("simulator");
    put(figures, Figure.WAIT, simulator.path("readerWaitShare"), 1);
    put(figures, Figure.UTILISATION, simulator.path("utilisation"), 1);
    if (simulator.path("readMibPerSecond").asDouble() > 0) {
      put(figures, Figure.DEVICE, simulator.path("readMibPerSecond"), 1);
    }
    return figures;
  }

  /** What a job is known by: its first figure. */
  static Figure headline(String job) {
    return switch (job) {
      case "query" -> Figure.QUERIES_PER_HOUR;
      case "lookup" -> Figure.READS;
      case "mixed" -> Figure.RATIO;
      default -> Figure.THROUGHPUT;
    };
  }

  private static void queries(Map<Figure, Double> figures, JsonNode queries) {
    double seconds = 0;
    for (JsonNode query : queries) {
      DoubleStream runs =
          StreamSupport.stream(query.path("runs").spliterator(), false)
              .mapToDouble(run -> run.path("wallSeconds").asDouble());
      double median = Spread.of(runs.boxed().toList()).median();
      seconds += median;
      Figure one = Figure.ofKey(query.path("query").asText().toLowerCase(Locale.ROOT));
      if (one != null) {
        figures.put(one, median);
      }
    }
    if (seconds > 0) {
      figures.put(Figure.SECONDS, seconds);
      figures.put(Figure.QUERIES_PER_HOUR, SECONDS_PER_HOUR * queries.size() / seconds);
    }
  }

  private static void latency(
      Map<Figure, Double> figures, JsonNode latency, Figure median, Figure p99) {
    put(figures, median, latency.path("p50Us"), US_PER_MS);
    put(figures, p99, latency.path("p99Us"), US_PER_MS);
  }

  /** Puts what is there and is a number; NaN, which Jackson writes as a text, is none. */
  private static void put(Map<Figure, Double> figures, Figure figure, JsonNode value, double per) {
    if (value.isNumber()) {
      figures.put(figure, value.asDouble() / per);
    }
  }
}
