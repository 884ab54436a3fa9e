package org.hdfsmeld.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** Ratios of pairs measured right after each other. */
final class Ratios {
  private final List<Double> sorted = new ArrayList<>();

  void add(double ratio) {
    sorted.add(ratio);
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
