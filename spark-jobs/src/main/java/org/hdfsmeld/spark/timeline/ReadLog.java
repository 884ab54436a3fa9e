package org.hdfsmeld.spark.timeline;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The reads of this JVM that are not sent yet: bounded, and what does not fit is counted. */
final class ReadLog {
  static final int CAPACITY = 65_536;

  /** The task of reads that no task made. */
  static final long NO_TASK = -1;

  private static final Logger LOG = LoggerFactory.getLogger(ReadLog.class);

  private static volatile ReadLog current;

  private final Runnable wake;
  private final BlockingQueue<BlockRead> reads = new ArrayBlockingQueue<>(CAPACITY);
  private final Set<StreamReads> streams = ConcurrentHashMap.newKeySet();
  private final AtomicLong dropped = new AtomicLong();
  private final AtomicLong tasks = new AtomicLong();
  private final AtomicBoolean failed = new AtomicBoolean();

  /**
   * @param wake called when there is something to send at once
   */
  ReadLog(Runnable wake) {
    this.wake = wake;
  }

  /** What is taken at once: the tasks counted are those all of whose reads were taken. */
  record Taken(List<BlockRead> reads, long dropped, long tasks) {}

  /** Where streams that are opened now are recorded; null: nowhere. */
  static ReadLog current() {
    return current;
  }

  /** Makes this the JVM's. */
  void install() {
    current = this;
  }

  /** Ends the reads that go on; streams opened later are not recorded. */
  void uninstall() {
    if (current == this) {
      current = null;
    }
    streams.forEach(StreamReads::close);
  }

  void add(BlockRead read) {
    if (!reads.offer(read)) {
      drop(1);
    }
    if (reads.size() >= ReadSender.BATCH_READS) {
      wake.run();
    }
  }

  void drop(long count) {
    dropped.addAndGet(count);
  }

  /** Says once that the recorder fails. */
  void failed(Throwable error) {
    if (failed.compareAndSet(false, true)) {
      LOG.warn("reads are missing in the timeline: {}", error.toString());
    }
  }

  void register(StreamReads stream) {
    streams.add(stream);
  }

  void unregister(StreamReads stream) {
    streams.remove(stream);
  }

  /** Ends the reads of a task and counts it. */
  void taskEnded(long task) {
    streams.forEach(stream -> stream.closeOf(task));
    tasks.incrementAndGet();
  }

  /** Ends what is too old at that {@link System#nanoTime}, as of streams that were never closed. */
  void closeOld(long now) {
    streams.forEach(stream -> stream.closeOld(now));
  }

  /**
   * Takes the oldest reads.
   *
   * @param tasksBefore the tasks of the call before
   */
  Taken take(int most, long tasksBefore) {
    long ended = tasks.get();
    List<BlockRead> taken = new ArrayList<>();
    boolean all = reads.drainTo(taken, most) < most;
    return new Taken(taken, dropped.getAndSet(0), all ? ended : tasksBefore);
  }
}
