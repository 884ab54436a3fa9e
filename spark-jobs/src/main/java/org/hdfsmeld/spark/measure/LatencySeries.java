package org.hdfsmeld.spark.measure;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * Latencies by the time at which their requests began, as one thread measured them: one histogram a
 * bin. A bin that is over is kept compressed: some hundred bytes.
 */
public final class LatencySeries implements Serializable {
  private static final long serialVersionUID = 1;

  private final long binNanos;
  private final TreeMap<Integer, byte[]> done = new TreeMap<>();
  private final Histogram current = new Histogram(LatencyHistogram.SIGNIFICANT_DIGITS);
  private int bin;

  /** A series without requests, in bins of that length. */
  public LatencySeries(long binNanos) {
    this.binNanos = binNanos;
  }

  /** Records a request that began no earlier than the one before it. */
  public void record(long sinceStartNanos, long latencyNanos) {
    int began = (int) (sinceStartNanos / binNanos);
    if (began != bin) {
      seal();
      bin = began;
    }
    current.recordValue(latencyNanos);
  }

  /** Latencies by the number of the bin, of all series together; bins without requests are not. */
  public static SortedMap<Integer, LatencySummary> merge(List<LatencySeries> series) {
    TreeMap<Integer, Histogram> merged = new TreeMap<>();
    for (LatencySeries one : series) {
      one.seal();
      one.done.forEach((bin, bytes) -> merged.merge(bin, decode(bytes), LatencySeries::add));
    }
    TreeMap<Integer, LatencySummary> summaries = new TreeMap<>();
    merged.forEach((bin, histogram) -> summaries.put(bin, LatencySummary.of(histogram)));
    return summaries;
  }

  private void seal() {
    if (current.getTotalCount() > 0) {
      ByteBuffer buffer = ByteBuffer.allocate(current.getNeededByteBufferCapacity());
      int length = current.encodeIntoCompressedByteBuffer(buffer);
      done.put(bin, Arrays.copyOf(buffer.array(), length));
      current.reset();
    }
  }

  private static Histogram add(Histogram to, Histogram from) {
    to.add(from);
    return to;
  }

  private static Histogram decode(byte[] bytes) {
    try {
      return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(bytes), 0);
    } catch (DataFormatException e) {
      throw new IllegalStateException("a histogram was damaged on its way", e);
    }
  }
}
