package org.hdfsmeld.datanode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class TestNameNodeHints {
  private static final BlockHint HINT =
      new BlockHint(ReadPattern.RANDOM, 4 << 20, 0, 0, BlockHint.NOBODY);
  private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);

  @Test
  void theAnswerIsTheHint() {
    try (NameNodeHints hints = new NameNodeHints((pool, block) -> HINT, LONG_NS)) {
      assertThat(hints.of("BP-1", 1)).isEqualTo(HINT);
    }
  }

  @Test
  void aSlowNameNodeIsNotWaitedForAndLeftAloneForAWhile() {
    AtomicInteger asked = new AtomicInteger();
    CountDownLatch never = new CountDownLatch(1);
    NameNodeHints.Asker slow =
        (pool, block) -> {
          asked.incrementAndGet();
          try {
            never.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return HINT;
        };
    try (NameNodeHints hints = new NameNodeHints(slow, TimeUnit.MILLISECONDS.toNanos(200))) {
      assertThat(hints.of("BP-1", 1)).isEqualTo(BlockHint.NONE);
      assertThat(hints.of("BP-1", 2)).isEqualTo(BlockHint.NONE);
      assertThat(asked).hasValue(1);
    }
  }

  @Test
  void aNameNodeWithoutTheServiceIsLeftAloneForAWhile() {
    AtomicInteger asked = new AtomicInteger();
    NameNodeHints.Asker refusing =
        (pool, block) -> {
          asked.incrementAndGet();
          throw new IOException("No registered handler");
        };
    try (NameNodeHints hints = new NameNodeHints(refusing, LONG_NS)) {
      assertThat(hints.of("BP-1", 1)).isEqualTo(BlockHint.NONE);
      assertThat(hints.of("BP-1", 2)).isEqualTo(BlockHint.NONE);
      assertThat(asked).hasValue(1);
    }
  }

  @Test
  void anInterruptIsKept() {
    try (NameNodeHints hints = new NameNodeHints((pool, block) -> HINT, LONG_NS)) {
      Thread.currentThread().interrupt();
      assertThat(hints.of("BP-1", 1)).isIn(HINT, BlockHint.NONE);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void whatCannotBeReadSaysNothing() {
    assertThat(NameNodeHints.parse("RANDOM 4194304")).isEqualTo(HINT);
    assertThat(NameNodeHints.parse("sequential"))
        .isEqualTo(new BlockHint(ReadPattern.SEQUENTIAL, 0, 0, 0, BlockHint.NOBODY));
    assertThat(NameNodeHints.parse("often much")).isEqualTo(BlockHint.NONE);
    assertThat(NameNodeHints.parse("")).isEqualTo(BlockHint.NONE);
  }

  @Test
  void nobodyIsAskedWhereNobodyWantsToKnow() throws Exception {
    Configuration conf = new Configuration();
    assertThat(NameNodeHints.of(conf, MeldConfiguration.read(conf).placement()))
        .isSameAs(HintSource.NONE);
  }
}
