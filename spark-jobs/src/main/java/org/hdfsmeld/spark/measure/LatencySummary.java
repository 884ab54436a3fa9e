package org.hdfsmeld.spark.measure;

import org.HdrHistogram.Histogram;

/**
 * Percentiles of latencies, in microseconds; each is exact within 0.1 %. Without any request all
 * are zero.
 *
 * @param requests how many were measured
 * @param p999Us the latency that 99.9 % did not exceed
 */
public record LatencySummary(
    long requests, double p50Us, double p90Us, double p99Us, double p999Us, double maxUs) {

  /** Of a histogram of nanoseconds. */
  static LatencySummary of(Histogram nanos) {
    return new LatencySummary(
        nanos.getTotalCount(),
        nanos.getValueAtPercentile(50) / 1e3,
        nanos.getValueAtPercentile(90) / 1e3,
        nanos.getValueAtPercentile(99) / 1e3,
        nanos.getValueAtPercentile(99.9) / 1e3,
        nanos.getMaxValue() / 1e3);
  }
}
