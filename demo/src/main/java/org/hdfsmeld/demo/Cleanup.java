package org.hdfsmeld.demo;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What must be undone, latest first: at the end, or when the JVM is told to stop. The hook is
 * Hadoop's, ahead of Spark's and Hadoop's own, so that they find nothing left to do.
 */
final class Cleanup implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Cleanup.class);
  private static final int PRIORITY = 200;
  private static final long TIMEOUT_SECONDS = 60;

  private final Deque<Step> steps = new ArrayDeque<>();
  private boolean closed;

  /** Something to undo. */
  interface Step {
    void run() throws Exception;
  }

  Cleanup() {
    ShutdownHookManager.get()
        .addShutdownHook(this::close, PRIORITY, TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  /** Adds a step; when everything was already undone, it runs at once. */
  synchronized void add(Step step) {
    steps.push(step);
    if (closed) {
      close();
      throw new IllegalStateException("interrupted");
    }
  }

  /** Whether the JVM is going down, so that failures from now on are nobody's fault. */
  static boolean stopping() {
    return ShutdownHookManager.get().isShutdownInProgress();
  }

  @Override
  public synchronized void close() {
    closed = true;
    while (!steps.isEmpty()) {
      try {
        steps.pop().run();
      } catch (Exception e) {
        LOG.warn("while cleaning up", e);
      }
    }
  }
}
