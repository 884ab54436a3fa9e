package org.hdfsmeld.spark.timeline;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.spark.TaskContext;

/**
 * The reads of one open stream. Calls at consecutive positions of one block by one task are one
 * {@link BlockRead}, until the stream turns elsewhere, closes, or the read is 10 s old. A call that
 * reads of two blocks is a read of each: both have the call's times, and share what was waited by
 * their bytes. No call allocates but the first of a read.
 */
final class StreamReads {
  static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(10);

  private final ReadLog log;
  private final String path;
  private final BlockMap blocks;

  private boolean registered;

  /** Whether there is a read that goes on; the rest says which. */
  private boolean open;

  private long task;
  private LocatedBlock block;
  private long firstPosition;
  private long nextPosition;
  private long begin;
  private long end;
  private long waited;

  StreamReads(ReadLog log, String path, BlockMap blocks) {
    this.log = log;
    this.path = path;
    this.blocks = blocks;
  }

  /**
   * Before a read call: its {@link System#nanoTime}. The first asks for the file's blocks before.
   */
  long enter() {
    try {
      blocks.load();
    } catch (IOException | RuntimeException e) {
      log.failed(e);
    }
    return System.nanoTime();
  }

  /** After a call that read so many bytes from that position of the file. */
  void add(long position, long bytes, long began, long ended) {
    try {
      TaskContext context = TaskContext.get();
      add(
          context == null ? ReadLog.NO_TASK : context.taskAttemptId(),
          position,
          bytes,
          began,
          ended);
    } catch (RuntimeException e) {
      missed(e);
    }
  }

  /** What was read is not known. */
  void missed(Exception error) {
    log.drop(1);
    log.failed(error);
  }

  synchronized void add(long reader, long position, long bytes, long began, long ended) {
    long from = position;
    long left = bytes;
    while (left > 0) {
      if (block == null || from < block.getStartOffset() || from >= endOf(block)) {
        finish();
        block = blocks.at(from);
        if (block == null) {
          log.drop(1);
          return;
        }
      }
      long part = Math.min(left, endOf(block) - from);
      double share = (double) part / bytes;
      add(reader, from, part, began, ended, Math.round((ended - began) * share));
      from += part;
      left -= part;
    }
  }

  private void add(long reader, long from, long part, long began, long ended, long inside) {
    if (open && (reader != task || from != nextPosition)) {
      finish();
    }
    if (!open) {
      open = true;
      task = reader;
      firstPosition = from;
      begin = began;
      end = ended;
      waited = 0;
      if (!registered) {
        registered = true;
        log.register(this);
      }
    }
    nextPosition = from + part;
    end = Math.max(end, ended);
    waited += inside;
    if (end - begin >= LONGEST_NS) {
      finish();
    }
  }

  /** Ends the read that goes on, if any. */
  synchronized void close() {
    finish();
    if (registered) {
      registered = false;
      log.unregister(this);
    }
  }

  /** Ends it if it is of that task. */
  synchronized void closeOf(long ended) {
    if (!open || task == ended) {
      close();
    }
  }

  /** Ends it if it is too old at that {@link System#nanoTime}. */
  synchronized void closeOld(long now) {
    if (!open || now - begin >= LONGEST_NS) {
      close();
    }
  }

  private void finish() {
    if (open) {
      open = false;
      log.add(
          new BlockRead(
              task,
              path,
              block.getBlock().getBlockPoolId(),
              block.getBlock().getBlockId(),
              firstPosition - block.getStartOffset(),
              nextPosition - firstPosition,
              EpochClock.at(begin),
              EpochClock.at(end),
              waited));
    }
  }

  private static long endOf(LocatedBlock block) {
    return block.getStartOffset() + block.getBlockSize();
  }
}
