package org.hdfsmeld.report;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What the suite's report says of a run. Expressions know each by {@link #key}. */
enum Figure {
  THROUGHPUT("throughput", "MiB/s", "measured", true),
  QUERIES_PER_HOUR("queries-per-hour", "1/h", "measured", true),
  SECONDS("seconds", "s", "measured", false),
  Q1("q1", "s", "measured", false),
  Q6("q6", "s", "measured", false),
  READS("reads", "1/s", "measured", true),
  RATIO("ratio", "p99 / p99", "measured", false),
  P50("p50", "ms", "measured", false),
  P99("p99", "ms", "measured", false),
  P50_WRITER("p50-writer", "ms", "measured", false),
  P99_WRITER("p99-writer", "ms", "measured", false),
  INGEST("ingest", "MiB/s", "measured", true),
  WAIT("wait", "%", "measured", true),
  UTILISATION("utilisation", "%", "simulated", true),
  DEVICE("device", "MiB/s", "simulated", true);

  private final String key;
  private final String unit;
  private final String kind;
  private final boolean higherIsBetter;

  Figure(String key, String unit, String kind, boolean higherIsBetter) {
    this.key = key;
    this.unit = unit;
    this.kind = kind;
    this.higherIsBetter = higherIsBetter;
  }

  /** Its name in expressions, tables and JSON. */
  String key() {
    return key;
  }

  String unit() {
    return unit;
  }

  /** Measured on the wall clock, or simulated. */
  String kind() {
    return kind;
  }

  boolean higherIsBetter() {
    return higherIsBetter;
  }

  /** A value with its unit, for people. */
  String text(double value) {
    return text(value, 0);
  }

  /** The same with so many more digits. */
  String text(double value, int more) {
    return this == RATIO ? number(value, more) + "×" : number(value, more) + " " + unit;
  }

  /** A value for people; shares are 0 to 1 and shown in percent. */
  String number(double value) {
    return number(value, 0);
  }

  private String number(double value, int more) {
    double shown = unit.equals("%") ? 100 * value : value;
    int digits = Math.abs(shown) >= 1000 ? 0 : Math.abs(shown) >= 100 ? 1 : 2;
    return String.format(Locale.ROOT, "%,." + (digits + more) + "f", shown);
  }

  /** The figure of that key, or null. */
  static Figure ofKey(String key) {
    return Arrays.stream(values()).filter(f -> f.key.equals(key)).findFirst().orElse(null);
  }

  static String keys() {
    return Arrays.stream(values()).map(Figure::key).collect(Collectors.joining(", "));
  }
}
