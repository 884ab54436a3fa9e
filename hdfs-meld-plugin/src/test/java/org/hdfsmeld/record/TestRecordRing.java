package org.hdfsmeld.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Records come out as they went in, or are counted as dropped. */
class TestRecordRing {
  private final long[] record = new long[RecordRing.WORDS];

  private static boolean offer(RecordRing ring, long value) {
    return ring.add(value, value + 1, value + 2, value + 3, value + 4, value + 5, value + 6);
  }

  private void assertWhole() {
    for (int word = 1; word < record.length; word++) {
      assertThat(record[word]).isEqualTo(record[0] + word);
    }
  }

  @Test
  void recordsComeOutInOrderRoundAfterRound() {
    RecordRing ring = RecordRing.ofFirst(4);
    for (long value = 0; value < 1000; value++) {
      assertThat(offer(ring, value)).isTrue();
      assertThat(ring.poll(record)).isTrue();
      assertThat(record[0]).isEqualTo(value);
      assertWhole();
    }
    assertThat(ring.poll(record)).isFalse();
    assertThat(ring.dropped()).isZero();
  }

  @Test
  void whatFindsTheRingFullIsDroppedAndCounted() {
    RecordRing ring = RecordRing.ofFirst(4);
    for (long value = 0; value < 10; value++) {
      assertThat(offer(ring, value)).isEqualTo(value < 4);
    }
    assertThat(ring.dropped()).isEqualTo(6);
    assertThat(ring.poll(record)).isTrue();
    assertThat(record[0]).isZero();
    assertThat(offer(ring, 10)).isTrue();
    assertThat(offer(ring, 11)).isFalse();
  }

  @Test
  void aClosedRingGivesWhatItHasAndTakesNoMore() {
    RecordRing ring = RecordRing.ofFirst(4);
    offer(ring, 1);
    ring.close();
    assertThat(offer(ring, 2)).isFalse();
    assertThat(ring.dropped()).as("the trace was over").isZero();
    assertThat(ring.isDrained()).isFalse();
    assertThat(ring.poll(record)).isTrue();
    assertThat(ring.poll(record)).isFalse();
    assertThat(ring.isDrained()).isTrue();
  }

  @Test
  void onlyPowersOfTwo() {
    assertThatThrownBy(() -> RecordRing.ofFirst(12)).isInstanceOf(IllegalArgumentException.class);
  }

  /** A small ring that is mostly full, and a large one that mostly is not. */
  @ParameterizedTest
  @CsvSource({"16, 16, 50000", "8, 65536, 200000", "3, 2, 20000"})
  void manyProducersTearNothingAndEveryDropIsCounted(int producers, int capacity, long each)
      throws Exception {
    RecordRing ring = RecordRing.ofFirst(capacity);
    CountDownLatch begin = new CountDownLatch(1);
    AtomicLong accepted = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    for (int producer = 0; producer < producers; producer++) {
      long base = (long) producer << 40;
      Thread thread =
          new Thread(
              () -> {
                LockSupport.parkNanos(0);
                try {
                  begin.await();
                } catch (InterruptedException e) {
                  return;
                }
                long mine = 0;
                for (long i = 0; i < each; i++) {
                  // Seven apart, so that the words of two records never look like one.
                  mine += offer(ring, base + i * 7) ? 1 : 0;
                }
                accepted.addAndGet(mine);
              });
      thread.start();
      threads.add(thread);
    }
    long polled = 0;
    long[] last = new long[producers];
    java.util.Arrays.fill(last, -1);
    begin.countDown();
    boolean closed = false;
    while (!closed || !ring.isDrained()) {
      if (ring.poll(record)) {
        polled++;
        assertWhole();
        int producer = (int) (record[0] >> 40);
        assertThat(record[0])
            .as("a producer's records keep their order")
            .isGreaterThan(last[producer]);
        last[producer] = record[0];
      } else if (threads.stream().noneMatch(Thread::isAlive)) {
        ring.close();
        closed = true;
      }
    }
    assertThat(polled).isEqualTo(accepted.get());
    assertThat(polled + ring.dropped()).isEqualTo(producers * each);
  }

  private List<Long> polled(RecordRing ring) {
    List<Long> values = new ArrayList<>();
    while (ring.poll(record)) {
      assertWhole();
      values.add(record[0]);
    }
    return values;
  }

  @Test
  void theLatestAreKeptInTheirOrder() {
    RecordRing ring = RecordRing.ofLatest(128);
    assertThat(polled(ring)).isEmpty();
    LongStream.range(0, 70).forEach(value -> offer(ring, value));
    assertThat(polled(ring)).isEqualTo(LongStream.range(0, 70).boxed().toList());
    assertThat(ring.dropped()).isZero();
    LongStream.range(70, 350).forEach(value -> offer(ring, value));
    assertThat(polled(ring)).isEqualTo(LongStream.range(222, 350).boxed().toList());
    assertThat(ring.dropped()).isEqualTo(152);
  }

  @Test
  void manyThreadsAddWholeRecordsToTheLatest() throws InterruptedException {
    RecordRing ring = RecordRing.ofLatest(1 << 10);
    CountDownLatch ready = new CountDownLatch(4);
    List<Thread> threads = new ArrayList<>();
    for (int thread = 0; thread < 4; thread++) {
      long first = thread * 1_000_000L;
      threads.add(
          new Thread(
              () -> {
                ready.countDown();
                for (long i = 0; i < 20_000; i++) {
                  offer(ring, first + i * 7);
                }
              }));
    }
    threads.forEach(Thread::start);
    ready.await();
    // What is there meanwhile is whole, too.
    long polled = polled(ring).size();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(polled + polled(ring).size() + ring.dropped()).isEqualTo(80_000);
  }
}
