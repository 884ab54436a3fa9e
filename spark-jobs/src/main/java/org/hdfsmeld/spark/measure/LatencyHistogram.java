package org.hdfsmeld.spark.measure;

import java.io.Serializable;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Latencies as one thread measured them, by {@link System#nanoTime}. Histograms of threads and
 * tasks are added up: percentiles cannot be averaged. About 0.2 MiB each.
 */
public final class LatencyHistogram implements Serializable {
  static final int SIGNIFICANT_DIGITS = 3;

  private static final long serialVersionUID = 1;

  private final Histogram nanos = new Histogram(SIGNIFICANT_DIGITS);

  /** Counts one request. */
  public void record(long latencyNanos) {
    nanos.recordValue(latencyNanos);
  }

  LatencyHistogram add(LatencyHistogram other) {
    nanos.add(other.nanos);
    return this;
  }

  /** Its percentiles. */
  public LatencySummary summary() {
    return LatencySummary.of(nanos);
  }

  /** All requests of the parts together. */
  public static LatencyHistogram sum(List<LatencyHistogram> parts) {
    return parts.stream().reduce(new LatencyHistogram(), LatencyHistogram::add);
  }
}
