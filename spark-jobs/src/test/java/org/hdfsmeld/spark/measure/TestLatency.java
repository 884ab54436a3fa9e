package org.hdfsmeld.spark.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;

/** Merged latencies have the percentiles of all latencies together. */
class TestLatency {
  private static final int REQUESTS = 20_000;

  @Test
  void percentilesAreThoseOfAllTogether() throws Exception {
    Random random = new Random(1);
    LatencyHistogram fast = new LatencyHistogram();
    LatencyHistogram slow = new LatencyHistogram();
    long[] nanos = new long[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
      boolean isSlow = i % 20 == 0;
      nanos[i] = (long) ((isSlow ? 50e6 : 80e3) * (1 + random.nextDouble()));
      (isSlow ? slow : fast).record(nanos[i]);
    }
    Arrays.sort(nanos);
    LatencySummary summary = LatencyHistogram.sum(List.of(copy(fast), copy(slow))).summary();
    assertThat(summary.requests()).isEqualTo(REQUESTS);
    assertClose(summary.p50Us(), nanos, 0.5);
    assertClose(summary.p90Us(), nanos, 0.9);
    assertClose(summary.p99Us(), nanos, 0.99);
    assertClose(summary.p999Us(), nanos, 0.999);
    assertClose(summary.maxUs(), nanos, 1);
  }

  @Test
  void withoutRequestsAllIsZero() {
    assertThat(new LatencyHistogram().summary()).isEqualTo(new LatencySummary(0, 0, 0, 0, 0, 0));
  }

  @Test
  void binsHoldTheRequestsThatBeganInThem() throws Exception {
    LatencySeries one = new LatencySeries(1_000_000);
    one.record(0, 100_000);
    one.record(999_999, 300_000_000);
    one.record(2_000_000, 700_000);
    LatencySeries other = new LatencySeries(1_000_000);
    other.record(1_999_999, 50_000);
    other.record(2_000_001, 500_000);
    other.record(2_999_999, 600_000);
    SortedMap<Integer, LatencySummary> bins = LatencySeries.merge(List.of(copy(one), copy(other)));
    assertThat(bins.keySet()).containsExactly(0, 1, 2);
    assertThat(bins.get(0).requests()).isEqualTo(2);
    assertThat(bins.get(0).p50Us()).isCloseTo(100, withinPercentage(0.1));
    assertThat(bins.get(0).maxUs()).isCloseTo(300_000, withinPercentage(0.1));
    assertThat(bins.get(1).requests()).isEqualTo(1);
    assertThat(bins.get(2).requests()).isEqualTo(3);
    assertThat(bins.get(2).p50Us()).isCloseTo(600, withinPercentage(0.1));
  }

  private static void assertClose(double micros, long[] sorted, double share) {
    long exact = sorted[(int) Math.ceil(share * sorted.length) - 1];
    assertThat(micros).isCloseTo(exact / 1e3, withinPercentage(0.1));
  }

  @SuppressWarnings("unchecked")
  private static <T extends Serializable> T copy(T value) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(value);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (T) in.readObject();
    }
  }
}
