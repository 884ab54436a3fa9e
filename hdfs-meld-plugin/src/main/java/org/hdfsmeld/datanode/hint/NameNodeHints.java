package org.hdfsmeld.datanode.hint;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.hadoop.ipc.RpcNoSuchProtocolException;
import org.hdfsmeld.datanode.config.HintConfiguration;
import org.hdfsmeld.datanode.metrics.HintCounters;
import org.hdfsmeld.datanode.metrics.HintMetricsSource;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.namenode.ReadPatternService;
import org.hdfsmeld.rpc.ReadPatterns;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hints from the NameNodes' {@link ReadPatternService}, kept in a cache.
 *
 * <p>One thread asks, for as many blocks at a time as are waiting. Whoever creates a block waits
 * for its answer a bounded time; after a failure or a late answer nobody waits until answers come
 * in time again. What could not be answered stays in line, so that the hint comes late rather than
 * not at all; the line is bounded, and the oldest question gives way.
 */
final class NameNodeHints implements HintSource {
  private static final Logger LOG = LoggerFactory.getLogger(NameNodeHints.class);
  private static final long FIRST_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(1);

  /** A NameNode without the service writes each question into its log. */
  private static final int PAUSES_WITHOUT_SERVICE = 12;

  /** Most questions in line; each takes about 300 bytes. */
  private static final int MAX_QUESTIONS = 8192;

  /** Puts questions to the NameNodes. For one thread. */
  interface Asker extends AutoCloseable {
    /**
     * The hints of some blocks, in their order; {@link BlockHint#NONE} of one that nobody knows.
     * For no blocks: whether somebody answers.
     */
    List<BlockHint> ask(String pool, List<Long> blockIds) throws IOException;

    @Override
    default void close() {}
  }

  private final Asker asker;
  private final long timeoutNs;
  private final long pauseNs;
  private final HintCache cache;
  private final HintCounters counters = new HintCounters();
  private final HintMetricsSource metrics;
  private final CircuitBreaker breaker = new CircuitBreaker(System::nanoTime);
  private final AtomicBoolean said = new AtomicBoolean();
  private volatile boolean closed;
  private final Thread thread = new Thread(this::work, "meld-hints");

  // Under this object's monitor: what is asked, and in which order. The line has blocks as well of
  // which nobody wants to know any more.
  private final Map<BlockKey, Question> open = new HashMap<>();
  private final Deque<BlockKey> line = new ArrayDeque<>();

  /** Who wants to know of a block: by waiting, or by a listener. */
  private record Question(
      CompletableFuture<BlockHint> answer, List<Consumer<BlockHint>> listeners) {}

  /**
   * Begins with a question for no block: the first takes long, for classes and a connection.
   *
   * @param dataNodeUuid names the metrics
   * @param pauseNs how long a NameNode is left alone after it has failed
   */
  NameNodeHints(Asker asker, HintConfiguration config, String dataNodeUuid, long pauseNs) {
    this.asker = asker;
    this.timeoutNs = config.timeoutNs();
    this.pauseNs = pauseNs;
    this.cache = new HintCache(config.cacheBlocks());
    this.metrics = new HintMetricsSource(dataNodeUuid, this::counters);
    metrics.open();
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

  CircuitBreaker.State state() {
    return breaker.state();
  }

  /** Nanoseconds until the NameNodes are asked again; 0 when they are asked now. */
  long pauseNs() {
    return breaker.pauseNs();
  }

  @Override
  public BlockHint of(String pool, long blockId) {
    counters.asked.increment();
    BlockHint known = cache.get(pool, blockId);
    if (known != null) {
      counters.hits.increment();
      return known;
    }
    CompletableFuture<BlockHint> answer = enqueue(new BlockKey(pool, blockId), null);
    try {
      return switch (breaker.state()) {
        case CLOSED -> answer.get(timeoutNs, TimeUnit.NANOSECONDS);
        case UNTRIED -> answer.get(Math.max(timeoutNs, FIRST_TIMEOUT_NS), TimeUnit.NANOSECONDS);
        case OPEN -> answer.getNow(BlockHint.NONE);
      };
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException e) {
      counters.timeouts.increment();
      unavailable(e);
    } catch (ExecutionException e) {
      LOG.debug("no hint of block {}", blockId, e);
    }
    return BlockHint.NONE;
  }

  @Override
  public BlockHint known(BlockKey block) {
    return cache.get(block.pool(), block.id());
  }

  @Override
  public void ask(BlockKey block, Consumer<BlockHint> then) {
    counters.asked.increment();
    BlockHint known = cache.get(block.pool(), block.id());
    if (known == null) {
      enqueue(block, then);
    } else {
      counters.hits.increment();
      then.accept(known);
    }
  }

  @Override
  public synchronized void forget(BlockKey block, Consumer<BlockHint> then) {
    Question question = open.get(block);
    if (question != null && question.listeners.remove(then) && question.listeners.isEmpty()) {
      open.remove(block);
      question.answer.complete(BlockHint.NONE);
    }
  }

  /**
   * Puts a question in line, once; first come those for which somebody waits.
   *
   * @param listener null when the caller waits for the answer
   */
  private synchronized CompletableFuture<BlockHint> enqueue(
      BlockKey block, Consumer<BlockHint> listener) {
    if (closed) {
      return CompletableFuture.completedFuture(BlockHint.NONE);
    }
    Question question = open.get(block);
    if (question == null) {
      question = new Question(new CompletableFuture<>(), new ArrayList<>(1));
      open.put(block, question);
      if (listener == null) {
        line.addFirst(block);
      } else {
        line.addLast(block);
      }
      shorten();
      notifyAll();
    }
    if (listener != null) {
      question.listeners.add(listener);
    }
    return question.answer;
  }

  /** Keeps the line within its bound. */
  private void shorten() {
    if (line.size() > 2 * MAX_QUESTIONS) {
      line.removeIf(block -> !open.containsKey(block));
    }
    while (open.size() > MAX_QUESTIONS && !line.isEmpty()) {
      if (open.remove(line.removeLast()) != null) {
        counters.dropped.increment();
      }
    }
  }

  private void work() {
    try {
      answer(List.of());
      while (!closed) {
        answer(next());
      }
    } catch (InterruptedException e) {
      LOG.debug("closed", e);
    } finally {
      asker.close();
    }
  }

  /** Waits until there are questions and they may be asked; those of one pool. */
  private synchronized List<BlockKey> next() throws InterruptedException {
    List<BlockKey> blocks = new ArrayList<>();
    while (blocks.isEmpty()) {
      if (line.isEmpty()) {
        wait();
      } else if (breaker.pauseNs() > 0) {
        TimeUnit.NANOSECONDS.timedWait(this, breaker.pauseNs() + 1_000_000);
      } else {
        takeQuestions(blocks);
      }
    }
    return blocks;
  }

  private void takeQuestions(List<BlockKey> blocks) {
    String pool = line.getFirst().pool();
    while (!line.isEmpty()
        && blocks.size() < ReadPatterns.MAX_BLOCKS
        && line.getFirst().pool().equals(pool)) {
      BlockKey block = line.removeFirst();
      if (open.containsKey(block)) {
        blocks.add(block);
      }
    }
  }

  private void answer(List<BlockKey> blocks) throws InterruptedException {
    long begin = System.nanoTime();
    try {
      String pool = blocks.isEmpty() ? "" : blocks.get(0).pool();
      List<BlockHint> hints = asker.ask(pool, blocks.stream().map(BlockKey::id).toList());
      for (int i = 0; i < blocks.size(); i++) {
        answered(blocks.get(i), hints.get(i));
      }
    } catch (IOException | RuntimeException | LinkageError e) {
      counters.failures.increment();
      putBack(blocks);
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
    if (hint.fileId() != 0) {
      cache.put(block, hint);
    }
    if (hint.isInvalid()) {
      counters.invalid.increment();
    }
    Question question;
    synchronized (this) {
      question = open.remove(block);
    }
    if (question != null) {
      question.answer.complete(hint);
      for (Consumer<BlockHint> listener : question.listeners) {
        // What a listener throws is not the NameNode's failure: the future keeps it.
        var unused = question.answer.thenAccept(listener);
      }
    }
  }

  /** To the front of the line, where they were; for those that were not answered yet. */
  private synchronized void putBack(List<BlockKey> blocks) {
    for (int i = blocks.size() - 1; i >= 0; i--) {
      if (open.containsKey(blocks.get(i))) {
        line.addFirst(blocks.get(i));
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
              + " hints count again once they come in time. Is {} among the dfs.namenode.plugins?"
              + " Said once; see timeouts, failures and breaker_open of MeldHints.",
          // What the NameNode threw goes on with its stack trace.
          reason.toString().lines().findFirst().orElseThrow(),
          ReadPatternService.class.getName());
    }
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    metrics.close();
    synchronized (this) {
      open.clear();
      line.clear();
    }
  }
}
