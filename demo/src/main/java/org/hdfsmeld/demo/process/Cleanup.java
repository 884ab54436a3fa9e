package org.hdfsmeld.demo.process;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import org.slf4j.LoggerFactory;
import sun.misc.Signal;

/**
 * What must be undone, latest first: at the end, or when a signal says to stop.
 *
 * <p>Signals are handled here and not by a shutdown hook, because HDFS cannot be shut down while
 * hooks run: it removes hooks of its own, which is refused by then. After the last step the JVM is
 * halted, so that nothing that still runs in it can leave anything behind.
 */
public final class Cleanup implements AutoCloseable {
  private static final String[] SIGNALS = {"INT", "TERM", "HUP"};
  private static final int EXIT_CODE_BASE = 128;

  private final Deque<Step> steps = new ArrayDeque<>();
  private final Runnable announcement;
  private volatile boolean interrupted;
  private boolean closed;

  /** Something to undo. */
  public interface Step {
    void run() throws Exception;
  }

  /**
   * Nothing to undo yet.
   *
   * @param announcement runs when a signal has come, before the steps
   */
  public Cleanup(Runnable announcement) {
    this.announcement = announcement;
    for (String name : SIGNALS) {
      try {
        Signal.handle(new Signal(name), this::interrupt);
      } catch (IllegalArgumentException e) {
        // Ignored for the whole process, as by nohup: then it stays ignored.
        LoggerFactory.getLogger(Cleanup.class).info("signal {}: {}", name, e.getMessage());
      }
    }
  }

  /** Adds a step; when everything was already undone, it runs at once. */
  public synchronized void add(Step step) {
    steps.push(step);
    if (closed) {
      close();
    }
  }

  /** After a signal never returns: a failure from then on is a consequence of it. */
  public void ifInterruptedAwaitHalt() {
    while (interrupted) {
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        // Somebody stops this thread; the JVM is about to halt.
      }
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    while (!steps.isEmpty()) {
      try {
        steps.pop().run();
      } catch (Exception e) {
        LoggerFactory.getLogger(Cleanup.class).warn("while cleaning up", e);
      }
    }
  }

  private void interrupt(Signal signal) {
    if (!interrupted) {
      interrupted = true;
      announcement.run();
    }
    close();
    Runtime.getRuntime().halt(EXIT_CODE_BASE + signal.getNumber());
  }
}
