package org.hdfsmeld.spark.timeline;

import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Records the reads of this JVM and sends them: each second by a thread of its own, at the end of
 * each task by the task's, and at last. Spark keeps the order of what goes to the driver, so that
 * the reads of a task are there before the task's end is, even if the executor then just stops.
 */
final class ReadSender implements AutoCloseable {
  static final int BATCH_READS = 512;
  private static final long PERIOD_MS = 1000;
  private static final long END_MS = 5000;

  private final String executor;
  private final Sink sink;
  private final Semaphore wakes = new Semaphore(0);
  private final ReadLog log = new ReadLog(this::wake);
  private final Thread thread = new Thread(this::run, "hdfs-meld-timeline-sender");
  private volatile boolean ending;
  private long toldTasks;

  private ReadSender(String executor, Sink sink) {
    this.executor = executor;
    this.sink = sink;
  }

  /** Where batches go. */
  interface Sink {
    void accept(ReadBatch batch) throws Exception;
  }

  /** Records from now on. Sends a batch of nothing first, so that no task is the one to connect. */
  static ReadSender start(String executor, Sink sink) {
    ReadSender sender = new ReadSender(executor, sink);
    Lines.of(new BlockRead(ReadLog.NO_TASK, "", "", 0, 0, 0, 0, 0, 0)); // Loads its classes.
    sender.send(new ReadLog.Taken(List.of(), 0, 0));
    sender.thread.setDaemon(true);
    sender.thread.start();
    sender.log.install();
    return sender;
  }

  ReadLog log() {
    return log;
  }

  /** All reads of the task that are not sent yet are sent when this returns. */
  void taskEnded(long task) {
    log.taskEnded(task);
    sendAll();
  }

  private void wake() {
    if (wakes.availablePermits() == 0) {
      wakes.release();
    }
  }

  /** Sends what is left, but waits no longer than some seconds for it. */
  @Override
  public void close() {
    log.uninstall();
    ending = true;
    wakes.release();
    try {
      thread.join(END_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      while (!ending) {
        boolean woken = wakes.tryAcquire(PERIOD_MS, TimeUnit.MILLISECONDS);
        if (woken) {
          wakes.drainPermits();
        }
        log.closeOld(System.nanoTime());
        sendAll();
      }
      sendAll();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | LinkageError e) {
      log.failed(e);
    }
  }

  private synchronized void sendAll() {
    int sent;
    do {
      ReadLog.Taken taken = log.take(BATCH_READS, toldTasks);
      sent = taken.reads().size();
      if (sent > 0 || taken.dropped() > 0 || taken.tasks() > toldTasks) {
        send(taken);
      }
    } while (sent == BATCH_READS);
  }

  private void send(ReadLog.Taken taken) {
    try {
      sink.accept(ReadBatch.of(executor, taken));
      toldTasks = taken.tasks();
    } catch (Exception e) {
      log.drop(taken.reads().size() + taken.dropped());
      log.failed(e);
    }
  }
}
