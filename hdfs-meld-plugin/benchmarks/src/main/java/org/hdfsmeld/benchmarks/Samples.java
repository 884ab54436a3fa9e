package org.hdfsmeld.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** Numbers of one kind, for their quantiles. */
final class Samples {
  private final List<Double> sorted = new ArrayList<>();

  void add(double sample) {
    sorted.add(sample);
    sorted.sort(null);
  }

  int count() {
    return sorted.size();
  }

  double median() {
    return quantile(0.5);
  }

  /** The lower end of the 95 % interval of the median. */
  double lowMedian() {
    return sorted.get(Math.max(0, (int) Math.floor(rank(-1))));
  }

  /** The upper end of the 95 % interval of the median. */
  double highMedian() {
    return sorted.get(Math.min(sorted.size() - 1, (int) Math.ceil(rank(1))));
  }

  /**
   * The sign test's: of n samples the number below the median has a deviation of half of sqrt(n).
   */
  private double rank(int side) {
    return (sorted.size() - 1) / 2.0 + side * 1.96 * Math.sqrt(sorted.size()) / 2;
  }

  /** Linear between the two neighbours. */
  double quantile(double share) {
    double place = share * (sorted.size() - 1);
    int below = (int) place;
    int above = Math.min(below + 1, sorted.size() - 1);
    return sorted.get(below) + (place - below) * (sorted.get(above) - sorted.get(below));
  }
}
