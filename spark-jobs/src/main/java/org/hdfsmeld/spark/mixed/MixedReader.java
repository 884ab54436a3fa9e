package org.hdfsmeld.spark.mixed;

import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.hdfsmeld.spark.measure.LatencyHistogram;
import org.hdfsmeld.spark.measure.LatencySeries;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.task.Requests;
import org.hdfsmeld.spark.task.Tasks;

/** Scans files over and over during a window: one task, with one request under way. */
final class MixedReader {
  private final byte[] buffer;
  private final LatencyHistogram latency = new LatencyHistogram();
  private final LatencySeries series;
  private long bytes;
  private boolean over;

  /**
   * What one reader got; requests count by the time at which they began.
   *
   * @param nanos from its first request to the end of its last
   * @param lateMs when it began, after the window's start
   */
  record Done(long bytes, long nanos, long lateMs, LatencyHistogram latency, LatencySeries series)
      implements Serializable {
    double mibPerSecond() {
      return StageThroughput.mibPerSecond(bytes, nanos / 1e9);
    }
  }

  private MixedReader(int requestBytes, int binMs) {
    buffer = new byte[requestBytes];
    series = new LatencySeries(binMs * 1_000_000L);
  }

  /**
   * Reads until the window is over.
   *
   * @param files none of them empty; the scan begins at the given one
   * @param mibPerSecond at most; zero: as fast as can be
   */
  static Done run(
      Window window,
      List<String> files,
      int first,
      int requestBytes,
      double mibPerSecond,
      int binMs,
      Configuration conf)
      throws IOException, InterruptedException {
    return new MixedReader(requestBytes, binMs).run(window, files, first, mibPerSecond, conf);
  }

  private Done run(
      Window window, List<String> files, int first, double mibPerSecond, Configuration conf)
      throws IOException, InterruptedException {
    long start = window.await();
    long lateMs = window.lateMs();
    Pace pace = new Pace(mibPerSecond);
    long length = window.lengthNanos();
    long begin = System.nanoTime();
    long[] end = {begin};
    for (int file = first; !over; file = (file + 1) % files.size()) {
      Path path = new Path(files.get(file));
      FileSystem fs = path.getFileSystem(conf);
      Requests.read(
          fs,
          path,
          buffer,
          (offset, read, began, nanos) -> {
            over = began - start >= length;
            if (!over) {
              latency.record(nanos);
              series.record(began - start, nanos);
              bytes += read;
              end[0] = began + nanos;
              pace.await(bytes);
            }
            return !over;
          });
    }
    Tasks.countInput(bytes, latency.summary().requests());
    return new Done(bytes, end[0] - begin, lateMs, latency, series);
  }
}
