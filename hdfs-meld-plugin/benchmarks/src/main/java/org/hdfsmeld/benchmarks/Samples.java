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

  /** Linear between the two neighbours. */
  double quantile(double share) {
    double place = share * (sorted.size() - 1);
    int below = (int) place;
    int above = Math.min(below + 1, sorted.size() - 1);
    return sorted.get(below) + (place - below) * (sorted.get(above) - sorted.get(below));
  }
}
