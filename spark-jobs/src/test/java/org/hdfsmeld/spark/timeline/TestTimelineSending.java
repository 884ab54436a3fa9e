package org.hdfsmeld.spark.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What is read reaches the driver in bounded batches, or is counted as dropped. */
class TestTimelineSending {
  private static final BlockRead READ = new BlockRead(7, "/a \"b\"\n", "BP-1", 11, 0, 10, 1, 2, 1);

  private final List<ReadBatch> batches = new CopyOnWriteArrayList<>();

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
  void theEndOfATaskAndOfTheSenderSendAll() {
    ReadSender sender = ReadSender.start("3", batches::add);
    assertThat(ReadLog.current()).isSameAs(sender.log());
    for (int i = 0; i < ReadSender.BATCH_READS + 1; i++) {
      sender.log().add(READ);
    }
    sender.taskEnded(7);
    assertThat(batches).allMatch(batch -> batch.reads() <= ReadSender.BATCH_READS);
    assertThat(sent()).isEqualTo(ReadSender.BATCH_READS + 1);
    assertThat(batches).last().matches(batch -> batch.tasks() == 1);
    sender.log().add(READ);
    sender.close();
    assertThat(ReadLog.current()).isNull();
    assertThat(sent()).isEqualTo(ReadSender.BATCH_READS + 2);
  }

  @Test
  void readsAreSentThoughNoTaskEnds() throws Exception {
    CountDownLatch came = new CountDownLatch(1);
    try (ReadSender sender =
        ReadSender.start(
            "3",
            batch -> {
              if (batch.reads() > 0) {
                came.countDown();
              }
            })) {
      sender.log().add(READ);
      assertThat(came.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void whatCannotBeSentIsDropped() {
    AtomicBoolean driver = new AtomicBoolean();
    ReadSender sender =
        ReadSender.start(
            "3",
            batch -> {
              if (!driver.get()) {
                throw new IOException("no driver");
              }
              batches.add(batch);
            });
    sender.log().add(READ);
    sender.taskEnded(7);
    driver.set(true);
    sender.close();
    assertThat(batches).containsExactly(new ReadBatch("3", 1, 1, 0, ""));
  }

  private int sent() {
    return batches.stream().mapToInt(ReadBatch::reads).sum();
  }

  @Test
  void theDriverKnowsWhenAllWasTold() throws Exception {
    TaskLedger ledger = new TaskLedger();
    ledger.taskEnded("1");
    ledger.taskEnded("1");
    ledger.taskEnded("2");
    ledger.told("1", 2);
    ledger.told("1", 1); // late
    assertThat(ledger.await(0)).as("before the end").isFalse();
    ledger.applicationEnded();
    ledger.executorLost("2"); // It stops like all others.
    assertThat(ledger.await(0)).isFalse();
    ledger.told("2", 1);
    assertThat(ledger.await(0)).isTrue();
    Thread executor = new Thread(() -> ledger.told("3", 1));
    ledger.taskEnded("3");
    executor.start();
    assertThat(ledger.await(60_000)).isTrue();
    executor.join();
  }

  @Test
  void theDriverWaitsForNoExecutorThatWasLost() throws Exception {
    TaskLedger ledger = new TaskLedger();
    ledger.taskEnded("1");
    ledger.executorLost("1");
    ledger.applicationEnded();
    assertThat(ledger.await(0)).isTrue();
  }
}
