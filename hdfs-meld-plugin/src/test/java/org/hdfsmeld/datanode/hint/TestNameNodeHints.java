package org.hdfsmeld.datanode.hint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.RpcNoSuchProtocolException;
import org.apache.logging.log4j.Level;
import org.hdfsmeld.LogEvents;
import org.hdfsmeld.datanode.config.HintConfiguration;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long a DataNode waits for hints, and what it makes of NameNodes that have none. */
class TestNameNodeHints {
  private static final BlockHint HINT =
      new BlockHint(ReadPattern.RANDOM, 4 << 20, 16_390, 16_389, 1);
  private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);
  private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(20);

  /** Answers as the test says, for as many blocks as it is asked for. */
  private static final class FakeNameNode implements NameNodeHints.Asker {
    final List<List<Long>> asked = Collections.synchronizedList(new ArrayList<>());
    volatile BlockHint hint = HINT;
    volatile Throwable failure;
    volatile CountDownLatch hold = new CountDownLatch(0);

    @Override
    public List<BlockHint> ask(List<Long> blockIds) throws IOException {
      if (!blockIds.isEmpty()) {
        asked.add(blockIds);
        try {
          hold.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      if (failure instanceof IOException e) {
        throw e;
      }
      if (failure instanceof RuntimeException e) {
        throw e;
      }
      if (failure instanceof Error e) {
        throw e;
      }
      return Collections.nCopies(blockIds.size(), hint);
    }
  }

  private final FakeNameNode nameNode = new FakeNameNode();
  private NameNodeHints hints;

  private NameNodeHints hints(long timeoutNs, long pauseNs) {
    hints = new NameNodeHints(nameNode, new HintConfiguration(timeoutNs, 64), pauseNs);
    await().until(() -> hints.breaker.state() != CircuitBreaker.State.UNTRIED);
    return hints;
  }

  @AfterEach
  void close() {
    if (hints != null) {
      hints.close();
    }
  }

  private static BlockKey block(long id) {
    return new BlockKey("BP-1", id);
  }

  private static boolean isWaiting(Thread thread) {
    return thread.getState() == Thread.State.TIMED_WAITING;
  }

  private long counter(String name) {
    return hints.counters().get(name);
  }

  @Test
  void theAnswerIsTheHintAndIsKept() {
    hints(LONG_NS, LONG_NS);
    assertThat(hints.of("BP-1", 1)).isEqualTo(HINT);
    List<BlockHint> heard = new ArrayList<>();
    hints.ask(block(1), heard::add);
    hints.ask(block(1), heard::add);
    assertThat(heard).as("at once").containsExactly(HINT, HINT);
    assertThat(nameNode.asked).containsExactly(List.of(1L));
    assertThat(counter("asked")).isEqualTo(3);
    assertThat(counter("hits")).isEqualTo(2);
  }

  @Test
  void whoMakesAReplicaAsksAnewAndTakesWhatWasKeptWhereNobodyAnswers() {
    BlockHint later = new BlockHint(ReadPattern.SEQUENTIAL, 4 << 20, 16_390, 16_389, 1);
    hints(LONG_NS, LONG_NS);
    assertThat(hints.of("BP-1", 1)).isEqualTo(HINT);
    nameNode.hint = later;
    assertThat(hints.of("BP-1", 1)).isEqualTo(later);
    nameNode.failure = new IOException("down");
    hints.ask(block(2), hint -> {});
    await().until(() -> hints.breaker.state() == CircuitBreaker.State.OPEN);
    assertThat(hints.of("BP-1", 1)).isEqualTo(later);
    assertThat(counter("hits")).isEqualTo(1);
  }

  @Test
  void asManyHintsAreKeptAsThereIsRoomFor() {
    hints(LONG_NS, LONG_NS);
    for (long id = 0; id <= 64; id++) {
      hints.of("BP-1", id);
    }
    assertThat(hints.known(block(0))).isNull();
    assertThat(hints.known(block(1))).isEqualTo(HINT);
    assertThat(hints.known(block(64))).isEqualTo(HINT);
  }

  @Test
  void aBlockThatNobodyKnowsIsAskedForAgain() {
    nameNode.hint = BlockHint.NONE;
    hints(LONG_NS, LONG_NS);
    assertThat(hints.of("BP-1", 1)).isEqualTo(BlockHint.NONE);
    nameNode.hint = HINT;
    assertThat(hints.of("BP-1", 1)).isEqualTo(HINT);
  }

  @Test
  void whatIsAskedMeanwhileGoesInOneQuestion() {
    hints(LONG_NS, LONG_NS);
    nameNode.hold = new CountDownLatch(1);
    List<BlockHint> heard = Collections.synchronizedList(new ArrayList<>());
    hints.ask(block(1), heard::add);
    await().until(() -> nameNode.asked.size() == 1);
    for (long id = 2; id <= 9; id++) {
      hints.ask(block(id), heard::add);
    }
    nameNode.hold.countDown();
    await().untilAsserted(() -> assertThat(heard).hasSize(9).containsOnly(HINT));
    assertThat(nameNode.asked)
        .containsExactly(List.of(1L), List.of(2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L));
  }

  @Test
  void aSlowNameNodeIsWaitedForOnceAndItsHintComesLate() {
    hints(SHORT_NS, 1);
    nameNode.hold = new CountDownLatch(1);
    assertThat(hints.of("BP-1", 1)).isEqualTo(BlockHint.NONE);
    assertThat(hints.breaker.state()).isEqualTo(CircuitBreaker.State.OPEN);
    List<BlockHint> heard = Collections.synchronizedList(new ArrayList<>());
    hints.ask(block(1), heard::add);
    for (long id = 2; id <= 100; id++) {
      assertThat(hints.of("BP-1", id)).isEqualTo(BlockHint.NONE);
    }
    assertThat(counter("timeouts")).as("waits, each of which ends in one").isEqualTo(1);
    nameNode.hold.countDown();
    await().untilAsserted(() -> assertThat(heard).containsExactly(HINT));
    await().untilAsserted(() -> assertThat(hints.of("BP-1", 100)).isEqualTo(HINT));
  }

  @Test
  void aNameNodeWithoutTheServiceIsLeftAloneForAWhile() {
    nameNode.failure = new IOException("Unknown protocol");
    hints(LONG_NS, LONG_NS);
    assertThat(hints.breaker.state()).isEqualTo(CircuitBreaker.State.OPEN);
    assertThat(hints.of("BP-1", 1)).isEqualTo(BlockHint.NONE);
    assertThat(nameNode.asked).isEmpty();
    assertThat(counter("failures")).isEqualTo(1);
  }

  @Test
  void aNameNodeThatHasNotTheServiceIsLeftAloneForLonger() {
    long pauseNs = TimeUnit.SECONDS.toNanos(5);
    nameNode.failure = new RpcNoSuchProtocolException("Unknown protocol");
    hints(LONG_NS, pauseNs);
    assertThat(hints.breaker.pauseNs()).isBetween(6 * pauseNs, 12 * pauseNs);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void afterThePauseWhatWasAskedMeanwhileIsAnswered(boolean isError) {
    nameNode.failure =
        isError ? new OutOfMemoryError("heap") : new IllegalStateException("nonsense");
    hints(LONG_NS, TimeUnit.MILLISECONDS.toNanos(10));
    List<BlockHint> heard = Collections.synchronizedList(new ArrayList<>());
    assertThat(hints.of("BP-1", 1)).isEqualTo(BlockHint.NONE);
    hints.ask(block(1), heard::add);
    await().until(() -> counter("failures") > 2);
    nameNode.failure = null;
    await().untilAsserted(() -> assertThat(heard).containsExactly(HINT));
    await().until(() -> hints.breaker.state() == CircuitBreaker.State.CLOSED);
  }

  @Test
  void anAnswerForTooFewBlocksIsAFailureNotAHint() {
    NameNodeHints.Asker nonsense = blockIds -> List.of();
    hints = new NameNodeHints(nonsense, new HintConfiguration(LONG_NS, 64), LONG_NS);
    await().until(() -> hints.breaker.state() == CircuitBreaker.State.CLOSED);
    hints.ask(block(1), hint -> {});
    await().until(() -> hints.breaker.state() == CircuitBreaker.State.OPEN);
    assertThat(counter("failures")).isEqualTo(1);
  }

  @Test
  void theLineIsBounded() {
    nameNode.failure = new IOException("down");
    hints(LONG_NS, LONG_NS);
    for (long id = 0; id < 20_000; id++) {
      hints.ask(block(id), hint -> {});
    }
    assertThat(counter("dropped")).isEqualTo(20_000 - 8192);
  }

  /** As when a folder is deleted, and the DataNode asks which of its blocks have died. */
  @Test
  void whatIsAskedAnewTakesNoRoomOfABlockThatBegins() throws Exception {
    hints(LONG_NS, 1);
    nameNode.hold = new CountDownLatch(1);
    FutureTask<BlockHint> creator = new FutureTask<>(() -> hints.of("BP-1", -1));
    new Thread(creator).start();
    await().until(() -> nameNode.asked.size() == 1);
    Set<Long> heard = ConcurrentHashMap.newKeySet();
    for (long id = 0; id < 8200; id++) {
      long asked = id;
      hints.renew(block(id), hint -> heard.add(asked));
    }
    assertThat(counter("dropped")).isEqualTo(9);
    nameNode.hold.countDown();
    assertThat(creator.get(10, TimeUnit.SECONDS)).isEqualTo(HINT);
    await().untilAsserted(() -> assertThat(heard).hasSize(8191));
  }

  @Test
  void theOldestQuestionGivesWayAndWhoWaitsForItWaitsNoMore() throws Exception {
    hints(LONG_NS, 1);
    nameNode.hold = new CountDownLatch(1);
    FutureTask<BlockHint> creator = new FutureTask<>(() -> hints.of("BP-1", -1));
    new Thread(creator).start();
    await().until(() -> nameNode.asked.size() == 1);
    Set<Long> heard = ConcurrentHashMap.newKeySet();
    for (long id = 0; id < 8200; id++) {
      long asked = id;
      hints.ask(block(id), hint -> heard.add(asked));
    }
    assertThat(creator.get(10, TimeUnit.SECONDS)).isEqualTo(BlockHint.NONE);
    assertThat(counter("dropped")).isEqualTo(9);
    nameNode.hold.countDown();
    await().untilAsserted(() -> assertThat(heard).hasSize(8192));
    assertThat(heard).contains(8L, 8199L).doesNotContain(0L, 7L);
  }

  @Test
  void whatIsCreatedIsAskedForBeforeWhatIsRead() throws Exception {
    hints(LONG_NS, 1);
    nameNode.hold = new CountDownLatch(1);
    for (long id = 0; id < 2000; id++) {
      hints.ask(block(id), hint -> {});
    }
    await().until(() -> !nameNode.asked.isEmpty());
    FutureTask<BlockHint> creator = new FutureTask<>(() -> hints.of("BP-1", -1));
    Thread creating = new Thread(creator);
    creating.start();
    await().until(() -> isWaiting(creating));
    nameNode.hold.countDown();
    assertThat(creator.get(10, TimeUnit.SECONDS)).isEqualTo(HINT);
    assertThat(nameNode.asked.get(1)).startsWith(-1L);
  }

  @Test
  void aBlockThatIsGoneIsNotAskedForAndTakesNoRoom() {
    nameNode.failure = new IOException("down");
    hints(LONG_NS, TimeUnit.MILLISECONDS.toNanos(200));
    Consumer<BlockHint> gone = hint -> {};
    List<BlockHint> heard = Collections.synchronizedList(new ArrayList<>());
    hints.ask(block(1), heard::add);
    for (long id = 2; id < 100_000; id++) {
      hints.ask(block(id), gone);
      hints.forget(block(id), gone);
    }
    assertThat(counter("dropped")).isZero();
    nameNode.failure = null;
    await().untilAsserted(() -> assertThat(heard).containsExactly(HINT));
    // One may have been asked for in the instant before it was gone, at each of the attempts.
    assertThat(nameNode.asked).allSatisfy(ids -> assertThat(ids).contains(1L).hasSizeLessThan(3));
  }

  @Test
  void whoeverElseAskedForABlockIsToldStill() {
    hints(LONG_NS, LONG_NS);
    nameNode.hold = new CountDownLatch(1);
    List<BlockHint> heard = Collections.synchronizedList(new ArrayList<>());
    Consumer<BlockHint> gone = hint -> heard.add(null);
    hints.ask(block(1), heard::add);
    hints.ask(block(1), gone);
    hints.forget(block(1), gone);
    nameNode.hold.countDown();
    await().untilAsserted(() -> assertThat(heard).containsExactly(HINT));
  }

  @Test
  void whoCreatesTheBlockIsToldEvenWhenAReaderTakesTheQuestionBack() throws Exception {
    hints(LONG_NS, LONG_NS);
    nameNode.hold = new CountDownLatch(1);
    FutureTask<BlockHint> creator = new FutureTask<>(() -> hints.of("BP-1", 1));
    new Thread(creator).start();
    await().until(() -> nameNode.asked.size() == 1);
    Consumer<BlockHint> gone = hint -> {};
    hints.ask(block(1), gone);
    hints.forget(block(1), gone);
    nameNode.hold.countDown();
    assertThat(creator.get(10, TimeUnit.SECONDS)).isEqualTo(HINT);
  }

  @Test
  void whatAListenerThrowsIsNotTheNameNodesFailure() {
    hints(LONG_NS, LONG_NS);
    List<BlockHint> heard = Collections.synchronizedList(new ArrayList<>());
    nameNode.hold = new CountDownLatch(1);
    hints.ask(
        block(1),
        hint -> {
          throw new IllegalStateException("a listener's");
        });
    hints.ask(block(1), heard::add);
    nameNode.hold.countDown();
    await().untilAsserted(() -> assertThat(heard).containsExactly(HINT));
    assertThat(counter("failures")).isZero();
    assertThat(hints.breaker.state()).isEqualTo(CircuitBreaker.State.CLOSED);
  }

  @Test
  void whenClosedItKnowsNothingAndKeepsNobodyWaiting() {
    hints(LONG_NS, LONG_NS);
    hints.close();
    assertThat(hints.of("BP-1", 2)).isEqualTo(BlockHint.NONE);
    assertThat(counter("timeouts")).isZero();
  }

  @Test
  void whatIsKnownIsToldWithoutAQuestion() {
    hints(LONG_NS, LONG_NS);
    assertThat(hints.known(block(1))).isNull();
    assertThat(nameNode.asked).isEmpty();
    hints.of("BP-1", 1);
    assertThat(hints.known(block(1))).isEqualTo(HINT);
    assertThat(nameNode.asked).hasSize(1);
  }

  /** However often it comes and goes. */
  @Test
  void thatHintsAreMissingIsOneLineOfTheLog() {
    nameNode.failure = new IOException("out of order\n\tat the.NameNode");
    try (LogEvents log = new LogEvents(NameNodeHints.class)) {
      hints(LONG_NS, TimeUnit.MILLISECONDS.toNanos(1));
      for (long id = 1; id <= 3; id++) {
        nameNode.failure = null;
        hints.ask(block(id), hint -> {});
        await().until(() -> hints.breaker.state() == CircuitBreaker.State.CLOSED);
        nameNode.failure = new IOException("out of order\n\tat the.NameNode");
        hints.ask(block(10 + id), hint -> {});
        await().until(() -> hints.breaker.state() == CircuitBreaker.State.OPEN);
      }
      assertThat(log.list())
          .singleElement()
          .satisfies(
              event -> {
                assertThat(event.getLevel()).isEqualTo(Level.WARN);
                assertThat(event.getThrown()).isNull();
                assertThat(event.getMessage().getFormattedMessage())
                    .contains("out of order)")
                    .contains("dfs.namenode.plugins")
                    .doesNotContain("\n");
              });
    }
  }

  @Test
  void anInvalidValueIsCounted() {
    nameNode.hint = new BlockHint(ReadPattern.UNKNOWN, 0, 1, 2, 0);
    hints(LONG_NS, LONG_NS);
    assertThat(hints.of("BP-1", 1).isInvalid()).isTrue();
    assertThat(counter("invalid")).isEqualTo(1);
  }

  @Test
  void anInterruptIsKept() {
    hints(LONG_NS, LONG_NS);
    Thread.currentThread().interrupt();
    assertThat(hints.of("BP-1", 1)).isIn(HINT, BlockHint.NONE);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void nobodyIsAskedWhereTheTimeoutIsZero() {
    assertThat(NameNodeAsker.of(Configuration::new, new HintConfiguration(0, 64), true, "test"))
        .isSameAs(HintSource.NONE);
  }
}
