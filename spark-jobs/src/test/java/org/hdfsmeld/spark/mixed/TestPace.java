package org.hdfsmeld.spark.mixed;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A paced thread is never early. */
class TestPace {
  private static final int PIECE_BYTES = 1 << 16;

  @Test
  void nothingIsDoneBeforeItIsDue() throws Exception {
    double mibPerSecond = 32;
    long began = System.nanoTime();
    Pace pace = new Pace(mibPerSecond);
    for (int piece = 1; piece <= 32; piece++) {
      pace.await((long) piece * PIECE_BYTES);
      double dueSeconds = piece * PIECE_BYTES / (mibPerSecond * (1 << 20));
      // Parts of nanoseconds are cut off.
      assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo((long) (dueSeconds * 1e9) - 1);
    }
  }

  @Test
  void withoutARateNothingWaits() throws Exception {
    new Pace(0).await(Long.MAX_VALUE);
  }
}
