package org.hdfsmeld.report;

import java.util.stream.DoubleStream;

/** As few digits as there can be while numbers that differ look different. */
public final class Digits {
  private static final int MOST_MORE = 3;

  /** Nearer than that, relatively, they are the same to people. */
  private static final double SAME = 1e-5;

  private Digits() {}

  /** A number as text with so many more digits than usual. */
  public interface Format {
    String text(double value, int more);
  }

  /** How many more digits than usual these numbers take. */
  public static int apart(DoubleStream values, Format format) {
    double[] sorted = values.sorted().toArray();
    int more = 0;
    while (more < MOST_MORE && !differ(sorted, format, more)) {
      more++;
    }
    return more;
  }

  private static boolean differ(double[] sorted, Format format, int more) {
    for (int i = 1; i < sorted.length; i++) {
      boolean same = Math.abs(sorted[i] - sorted[i - 1]) <= SAME * Math.abs(sorted[i]);
      if (!same && format.text(sorted[i], more).equals(format.text(sorted[i - 1], more))) {
        return false;
      }
    }
    return true;
  }
}
