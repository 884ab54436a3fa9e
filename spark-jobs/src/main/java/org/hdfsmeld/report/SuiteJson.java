package org.hdfsmeld.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hdfsmeld.spark.cli.BuildInfo;
import org.hdfsmeld.spark.cli.Json;

/** The report as JSON: what the page shows, for programs. */
public final class SuiteJson {
  private SuiteJson() {}

  /** Medians and spread by job and variant, and what was expected. */
  public static String of(Suite suite, List<Expectation.Outcome> outcomes) {
    List<Object> groups = new ArrayList<>();
    for (SuiteGroup group : suite.groups()) {
      Map<String, Object> figures = new LinkedHashMap<>();
      group
          .figures()
          .forEach((figure, spread) -> figures.put(figure.key(), new Value(figure, spread)));
      groups.add(
          new Entry(
              group.job(), group.variant(), group.runs().size(), group.bottleneck(), figures));
    }
    return Json.pretty(new Document("hdfs-meld", BuildInfo.version(), groups, outcomes));
  }

  private record Document(
      String tool, String version, List<Object> groups, List<Expectation.Outcome> expectations) {}

  private record Entry(
      String job, String variant, int rounds, String bottleneck, Map<String, Object> figures) {}

  private record Value(
      String unit,
      String kind,
      double median,
      double min,
      double max,
      Double firstQuartile,
      Double thirdQuartile,
      List<Double> values) {
    // Shares are from 0 to 1 in JSON.
    Value(Figure figure, Spread spread) {
      this(
          figure.unit().equals("%") ? "share" : figure.unit(),
          figure.kind(),
          spread.median(),
          spread.min(),
          spread.max(),
          spread.firstQuartile(),
          spread.thirdQuartile(),
          spread.values());
    }
  }
}
