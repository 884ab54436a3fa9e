package org.hdfsmeld.spark.mixed;

import java.util.List;
import org.hdfsmeld.spark.measure.LatencySummary;

/**
 * What a reader got alone and beside a writer.
 *
 * @param seconds wall seconds of each phase
 * @param alone all phases without the writer together
 * @param withWriter all phases with the writer together
 * @param ratio of latencies with the writer to those without it
 * @param rounds each pair of phases
 * @param series latencies over time
 */
public record MixedResult(
    int files,
    long fileBytes,
    int requestBytes,
    int readers,
    int writers,
    double seconds,
    Load alone,
    Load withWriter,
    Ratio ratio,
    List<Round> rounds,
    int binMs,
    List<Point> series) {

  /**
   * What readers and writers got.
   *
   * @param latency of the readers' requests: from the first read call until the last byte was there
   * @param readMibPerSecond of all readers together
   * @param ingestMibPerSecond of all writers together; zero when there were none
   * @param lateMs how long after the start of a phase the last of its tasks began: of that time
   *     something is missing; the most of all phases
   */
  public record Load(
      LatencySummary latency, double readMibPerSecond, double ingestMibPerSecond, long lateMs) {}

  /**
   * With the writer over without it; 1 is no difference.
   *
   * @param read of the throughputs: below 1 the reader lost
   */
  public record Ratio(double p50, double p99, double p999, double max, double read) {
    /** What one load has by the other. */
    public static Ratio of(Load with, Load without) {
      LatencySummary above = with.latency();
      LatencySummary below = without.latency();
      return new Ratio(
          above.p50Us() / below.p50Us(),
          above.p99Us() / below.p99Us(),
          above.p999Us() / below.p999Us(),
          above.maxUs() / below.maxUs(),
          with.readMibPerSecond() / without.readMibPerSecond());
    }
  }

  /** One phase of each kind, one after the other. */
  public record Round(Load alone, Load withWriter) {}

  /**
   * One bin of the time series. A bin in which no request began is left out.
   *
   * @param startMs since the start of the first phase; between phases some time passes
   * @param writer whether the writer was on
   */
  public record Point(
      long startMs, boolean writer, long requests, double p50Us, double p99Us, double maxUs) {}
}
