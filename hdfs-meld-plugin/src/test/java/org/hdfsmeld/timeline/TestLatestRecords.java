package org.hdfsmeld.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class TestLatestRecords {
  private static List<Long> kinds(LatestRecords records) {
    List<Long> kinds = new ArrayList<>();
    records.forEach(
        record -> {
          for (int word = 1; word < LatestRecords.WORDS; word++) {
            assertThat(record[word]).isEqualTo(record[0] + word);
          }
          kinds.add(record[0]);
        });
    return kinds;
  }

  private static void add(LatestRecords records, long kind) {
    records.add(kind, kind + 1, kind + 2, kind + 3, kind + 4, kind + 5, kind + 6);
  }

  @Test
  void theLatestAreKeptInTheirOrder() {
    LatestRecords records = new LatestRecords(100);
    assertThat(kinds(records)).isEmpty();
    LongStream.range(0, 70).forEach(kind -> add(records, kind));
    assertThat(kinds(records)).isEqualTo(LongStream.range(0, 70).boxed().toList());
    assertThat(records.forEach(record -> {})).isZero();
    LongStream.range(70, 250).forEach(kind -> add(records, kind));
    assertThat(kinds(records)).isEqualTo(LongStream.range(150, 250).boxed().toList());
    assertThat(records.forEach(record -> {})).isEqualTo(150);
  }

  @Test
  void manyThreadsAddWholeRecords() throws InterruptedException {
    LatestRecords records = new LatestRecords(1 << 12);
    CountDownLatch ready = new CountDownLatch(4);
    List<Thread> threads = new ArrayList<>();
    for (int thread = 0; thread < 4; thread++) {
      long first = thread * 1_000_000L;
      threads.add(
          new Thread(
              () -> {
                ready.countDown();
                for (long i = 0; i < 1000; i++) {
                  add(records, first + i);
                }
              }));
    }
    threads.forEach(Thread::start);
    ready.await();
    // What is there meanwhile is whole, too.
    assertThat(kinds(records)).doesNotHaveDuplicates();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(kinds(records)).hasSize(4000).doesNotHaveDuplicates();
  }
}
