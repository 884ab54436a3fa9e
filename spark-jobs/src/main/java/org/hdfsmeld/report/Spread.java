package org.hdfsmeld.report;

import java.util.List;

/**
 * Values of several rounds.
 *
 * @param firstQuartile null below {@value #LEAST_FOR_QUARTILES} values; quartiles are interpolated
 *     linearly
 */
record Spread(
    List<Double> values,
    double median,
    double min,
    double max,
    Double firstQuartile,
    Double thirdQuartile) {
  static final int LEAST_FOR_QUARTILES = 4;

  /**
   * @param values in the order of the rounds, at least one
   */
  static Spread of(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    boolean quartiles = sorted.size() >= LEAST_FOR_QUARTILES;
    return new Spread(
        List.copyOf(values),
        quantile(sorted, 0.5),
        sorted.get(0),
        sorted.get(sorted.size() - 1),
        quartiles ? quantile(sorted, 0.25) : null,
        quartiles ? quantile(sorted, 0.75) : null);
  }

  private static double quantile(List<Double> sorted, double share) {
    double at = share * (sorted.size() - 1);
    int below = (int) at;
    int above = Math.min(below + 1, sorted.size() - 1);
    return sorted.get(below) + (at - below) * (sorted.get(above) - sorted.get(below));
  }
}
