package org.hdfsmeld.spark.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What is read reaches the driver in bounded batches, or is counted as dropped. */
class TestTimelineSending {
  private static final BlockRead READ = new BlockRead(7, "/a \"b\"\n", "BP-1", 11, 0, 10, 1, 2, 1);

  private final BlockingQueue<ReadBatch> batches = new LinkedBlockingQueue<>();

  @Test
  void theLogIsBoundedAndCountsWhatDoesNotFit() {
    ReadLog log = new ReadLog(() -> {});
    for (int i = 0; i < ReadLog.CAPACITY + 3; i++) {
      log.add(READ);
    }
    assertThat(log.take(1, 0).dropped()).isEqualTo(3);
    assertThat(log.take(1, 0).dropped()).isZero();
  }

  @Test
  void aTaskIsToldOnlyWithTheLastOfItsReads() {
    ReadLog log = new ReadLog(() -> {});
    for (int i = 0; i < 15; i++) {
      log.add(READ);
    }
    log.taskEnded(7);
    assertThat(log.take(10, 0).tasks()).isZero();
    assertThat(log.take(10, 0)).isEqualTo(new ReadLog.Taken(Collections.nCopies(5, READ), 0, 1));
  }

  @Test
  void messagesAreReadAsWritten() {
    ReadBatch batch = ReadBatch.of("3", new ReadLog.Taken(List.of(READ, READ), 5, 6));
    assertThat(ReadBatch.decode(batch.encode())).isEqualTo(batch);
    assertThat(batch.lines()).hasLineCount(2);
    ReadBatch none = ReadBatch.of("driver", new ReadLog.Taken(List.of(), 0, 0));
    assertThat(ReadBatch.decode(none.encode())).isEqualTo(none);
  }

  @Test
  void theEndOfATaskAndOfTheSenderSendAll() throws Exception {
    ReadSender sender = ReadSender.start("3", batches::add);
    assertThat(ReadLog.current()).isSameAs(sender.log());
    for (int i = 0; i < ReadSender.BATCH_READS + 1; i++) {
      sender.log().add(READ);
    }
    sender.log().taskEnded(7);
    List<ReadBatch> first = new ArrayList<>();
    while (first.stream().noneMatch(batch -> batch.tasks() == 1)) {
      ReadBatch batch = batches.poll(10, TimeUnit.SECONDS);
      assertThat(batch).as("the next batch").isNotNull();
      assertThat(batch.reads()).isLessThanOrEqualTo(ReadSender.BATCH_READS);
      first.add(batch);
    }
    assertThat(first.stream().mapToInt(ReadBatch::reads).sum())
        .isEqualTo(ReadSender.BATCH_READS + 1);
    sender.log().add(READ);
    sender.close();
    assertThat(ReadLog.current()).isNull();
    assertThat(batches.stream().mapToInt(ReadBatch::reads).sum()).isEqualTo(1);
  }

  @Test
  void whatCannotBeSentIsDropped() throws Exception {
    CountDownLatch refused = new CountDownLatch(1);
    ReadSender sender =
        ReadSender.start(
            "3",
            batch -> {
              if (refused.getCount() > 0) {
                refused.countDown();
                throw new IOException("no driver");
              }
              batches.add(batch);
            });
    sender.log().add(READ);
    sender.log().taskEnded(7);
    assertThat(refused.await(10, TimeUnit.SECONDS)).isTrue();
    sender.close();
    // The task's end may have been refused with its read, or have come after it.
    assertThat(batches.stream().mapToLong(ReadBatch::dropped).sum()).isEqualTo(1);
    assertThat(batches.stream().mapToLong(ReadBatch::tasks).max()).hasValue(1);
  }

  @Test
  void theDriverKnowsWhenAllWasTold() throws Exception {
    TaskLedger ledger = new TaskLedger();
    ledger.taskEnded("1");
    ledger.taskEnded("1");
    ledger.taskEnded("2");
    ledger.applicationEnded();
    ledger.told("1", 2);
    assertThat(ledger.await(0)).isFalse();
    ledger.told("1", 1); // late
    ledger.executorLost("2");
    assertThat(ledger.await(0)).isTrue();
    Thread executor = new Thread(() -> ledger.told("3", 1));
    ledger.taskEnded("3");
    executor.start();
    assertThat(ledger.await(60_000)).isTrue();
    executor.join();
    assertThat(new TaskLedger().await(0)).as("before the end").isFalse();
  }
}
