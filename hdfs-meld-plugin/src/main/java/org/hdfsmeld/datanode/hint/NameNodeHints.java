package org.hdfsmeld.datanode.hint;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.hadoop.ipc.RpcNoSuchProtocolException;
import org.hdfsmeld.datanode.config.HintConfiguration;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.rpc.ReadPatterns;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hints of the blocks of one pool, from the NameNodes of its nameservice.
 *
 * <p>One thread asks, for as many blocks at a time as are in line. The creator of a block waits for
 * its answer a bounded time; after a failure or a late answer nobody waits until answers come in
 * time again. A question stays in line until it is answered, so that the hint comes late rather
 * than not at all. The line is bounded, and the oldest question gives way.
 *
 * <p>The last answers are kept: for replicas that are made of a block that the DataNode has, and
 * for blocks that are created while nobody answers.
 */
final class NameNodeHints implements HintSource {
  private static final Logger LOG = LoggerFactory.getLogger(NameNodeHints.class);
  private static final long FIRST_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(1);

  /** A NameNode without the service writes each question into its log. */
  private static final int PAUSES_WITHOUT_SERVICE = 12;

  /** Most questions in line; each takes about 300 bytes. */
  private static final int MAX_QUESTIONS = 8192;

  /** Puts questions to the NameNodes. For one thread. */
  @FunctionalInterface
  interface Asker {
    /**
     * The hints of some blocks, in their order; {@link BlockHint#NONE} of one that the pool's
     * NameNode does not know. For no blocks: whether somebody answers.
     */
    List<BlockHint> ask(List<Long> blockIds) throws IOException;
  }

  /** What a DataNode counts of its questions to the NameNodes: {@code docs/reference/hints.md}. */
  enum HintCounter {
    ASKED,
    HITS,
    TIMEOUTS,
    FAILURES,
    DROPPED,
    INVALID
  }

  private final Asker asker;
  private final long timeoutNs;
  private final long pauseNs;
  private final Counters<HintCounter> counters = new Counters<>(HintCounter.class);
  final CircuitBreaker breaker = new CircuitBreaker(System::nanoTime);
  private final AtomicBoolean said = new AtomicBoolean();
  private volatile boolean closed;
  private final Thread thread = new Thread(this::work, "meld-hints");

  // Under this object's monitor. The line has the oldest question first.
  private final Map<BlockKey, BlockHint> cache;
  private final Map<BlockKey, Question> line = new LinkedHashMap<>();

  /** Who wants to know of a block: by waiting, or by a listener. */
  private static final class Question {
    final CompletableFuture<BlockHint> answer = new CompletableFuture<>();
    final Set<Consumer<BlockHint>> listeners = new LinkedHashSet<>(2);
    int waiting;

    /** Asked for a block that is created: comes before all others. */
    boolean urgent;
  }

  /**
   * Begins with a question for no block: the first takes long, for classes and a connection. A
   * NameNode that has failed is left alone for {@code pauseNs}.
   */
  NameNodeHints(Asker asker, HintConfiguration config, long pauseNs) {
    this.asker = asker;
    this.timeoutNs = config.timeoutNs();
    this.pauseNs = pauseNs;
    this.cache = new LeastRecentlyUsed<>(config.cacheBlocks());
    thread.setDaemon(true);
    thread.start();
  }

  /** With {@code breaker_open}: 1 while nobody waits for the NameNodes. */
  @Override
  public Map<String, Long> counters() {
    Map<String, Long> values = counters.values();
    values.put("breaker_open", breaker.state() == CircuitBreaker.State.OPEN ? 1L : 0L);
    return values;
  }

  @Override
  public BlockHint of(String pool, long blockId) {
    BlockKey block = new BlockKey(pool, blockId);
    counters.increment(HintCounter.ASKED);
    Question question = enqueue(block, null);
    BlockHint answer = BlockHint.NONE;
    try {
      answer =
          switch (breaker.state()) {
            case CLOSED -> question.answer.get(timeoutNs, TimeUnit.NANOSECONDS);
            case UNTRIED ->
                question.answer.get(Math.max(timeoutNs, FIRST_TIMEOUT_NS), TimeUnit.NANOSECONDS);
            case OPEN -> question.answer.getNow(BlockHint.NONE);
          };
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException | ExecutionException e) {
      counters.increment(HintCounter.TIMEOUTS);
      unavailable(e);
    }
    synchronized (this) {
      question.waiting--;
    }
    if (!answer.equals(BlockHint.NONE)) {
      return answer;
    }
    BlockHint known = known(block);
    if (known == null) {
      return BlockHint.NONE;
    }
    counters.increment(HintCounter.HITS);
    return known;
  }

  @Override
  public synchronized BlockHint known(BlockKey block) {
    return cache.get(block);
  }

  @Override
  public void ask(BlockKey block, Consumer<BlockHint> then) {
    counters.increment(HintCounter.ASKED);
    BlockHint known = known(block);
    if (known == null) {
      enqueue(block, then);
    } else {
      counters.increment(HintCounter.HITS);
      then.accept(known);
    }
  }

  @Override
  public synchronized void renew(BlockKey block, Consumer<BlockHint> then) {
    // Of a folder that is deleted all blocks are asked for: they take no room of those that begin.
    if (line.size() < MAX_QUESTIONS) {
      enqueue(block, then);
    } else {
      counters.increment(HintCounter.DROPPED);
    }
  }

  @Override
  public synchronized void forget(BlockKey block, Consumer<BlockHint> then) {
    Question question = line.get(block);
    if (question != null
        && question.listeners.remove(then)
        && question.listeners.isEmpty()
        && question.waiting == 0) {
      line.remove(block);
    }
  }

  /** Puts a question in line, once; without a listener, the caller waits for the answer. */
  private synchronized Question enqueue(BlockKey block, Consumer<BlockHint> listener) {
    Question question = closed ? new Question() : line.computeIfAbsent(block, b -> new Question());
    if (listener == null) {
      question.waiting++;
      question.urgent = true;
    } else {
      question.listeners.add(listener);
    }
    if (closed) {
      question.answer.complete(BlockHint.NONE);
    }
    if (line.size() > MAX_QUESTIONS) {
      counters.increment(HintCounter.DROPPED);
      BlockKey oldest = line.keySet().iterator().next();
      line.remove(oldest).answer.complete(BlockHint.NONE);
    }
    notifyAll();
    return question;
  }

  private void work() {
    try {
      answer(List.of());
      while (!closed) {
        answer(next());
      }
    } catch (InterruptedException e) {
      LOG.debug("closed", e);
    }
  }

  /** Waits until there are questions and they may be asked. They stay in line until answered. */
  private synchronized List<BlockKey> next() throws InterruptedException {
    while (line.isEmpty() || breaker.pauseNs() > 0) {
      if (line.isEmpty()) {
        wait();
      } else {
        TimeUnit.NANOSECONDS.timedWait(this, breaker.pauseNs() + 1_000_000);
      }
    }
    return Stream.of(true, false)
        .flatMap(urgent -> line.entrySet().stream().filter(e -> e.getValue().urgent == urgent))
        .limit(ReadPatterns.MAX_BLOCKS)
        .map(Map.Entry::getKey)
        .toList();
  }

  private void answer(List<BlockKey> blocks) throws InterruptedException {
    long begin = System.nanoTime();
    try {
      List<BlockHint> hints = asker.ask(blocks.stream().map(BlockKey::id).toList());
      for (int i = 0; i < blocks.size(); i++) {
        answered(blocks.get(i), hints.get(i));
      }
    } catch (IOException | RuntimeException | Error e) {
      counters.increment(HintCounter.FAILURES);
      unavailable(e);
      return;
    }
    boolean inTime =
        System.nanoTime() - begin <= timeoutNs || breaker.state() == CircuitBreaker.State.UNTRIED;
    if (inTime) {
      breaker.close();
    } else {
      breaker.open(pauseNs);
    }
  }

  private void answered(BlockKey block, BlockHint hint) {
    if (hint.isInvalid()) {
      counters.increment(HintCounter.INVALID);
    }
    Question question;
    synchronized (this) {
      if (hint.isKnown()) {
        cache.put(block, hint);
      } else {
        cache.remove(block);
      }
      question = line.remove(block);
    }
    if (question != null) {
      question.answer.complete(hint);
      for (Consumer<BlockHint> listener : question.listeners) {
        // What a listener throws is not the NameNode's failure: the future keeps it.
        var unused = question.answer.thenAccept(listener);
      }
    }
  }

  private void unavailable(Throwable reason) {
    boolean absent = reason instanceof RpcNoSuchProtocolException;
    breaker.open(absent ? PAUSES_WITHOUT_SERVICE * pauseNs : pauseNs);
    LOG.debug("no hint in time", reason);
    if (!said.getAndSet(true)) {
      LOG.warn(
          "No hint in time how blocks will be read ({}); the automatic rule decides meanwhile, and"
              + " hints count again once they come in time. Is"
              + " org.hdfsmeld.namenode.ReadPatternService among the dfs.namenode.plugins? Said once;"
              + " see timeouts, failures and breaker_open of MeldHints.",
          // What the NameNode threw goes on with its stack trace.
          reason.toString().lines().findFirst().orElseThrow());
    }
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    synchronized (this) {
      line.values().forEach(question -> question.answer.complete(BlockHint.NONE));
      line.clear();
    }
  }
}
