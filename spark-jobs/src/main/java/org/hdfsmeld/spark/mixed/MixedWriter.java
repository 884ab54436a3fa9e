package org.hdfsmeld.spark.mixed;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.hdfsmeld.spark.data.RawContent;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.task.Tasks;

/**
 * Writes files of one block during a window, one after the other, and deletes the oldest: one task.
 * Its directory holds {@code keep + 1} blocks at most, and what HDFS has yet to delete.
 */
final class MixedWriter {
  private static final int PIECE_BYTES = 1 << 20;
  private static final int BUFFER_BYTES = 1 << 16;
  private static final long LONG_SYNC_NS = TimeUnit.SECONDS.toNanos(5);
  private static final long SETTLE_NS = TimeUnit.MINUTES.toNanos(5);

  /**
   * What one writer did.
   *
   * @param files begun; the last may have been cut short by the window's end
   * @param nanos from before its first file to the end of its last
   * @param lateMs when it began, after the window's start
   */
  record Done(long bytes, int files, long nanos, long lateMs) implements Serializable {
    double mibPerSecond() {
      return StageThroughput.mibPerSecond(bytes, nanos / 1e9);
    }
  }

  private MixedWriter() {}

  /**
   * Writes until the window is over; then deletes what is left.
   *
   * @param mibPerSecond at most; zero: as fast as can be
   * @param settles whether it ends only when all that it wrote is where it stays
   */
  static Done run(
      Window window,
      String directory,
      long blockBytes,
      int keep,
      double mibPerSecond,
      boolean settles,
      Configuration conf)
      throws IOException, InterruptedException {
    Path parent = new Path(directory);
    FileSystem fs = parent.getFileSystem(conf);
    byte[] piece = new byte[(int) Math.min(PIECE_BYTES, blockBytes)];
    new RawContent(0, 0).fill(0, piece, piece.length);
    long attempt = TaskContext.get().taskAttemptId();
    Deque<Path> kept = new ArrayDeque<>();
    long end = window.await() + window.lengthNanos();
    long lateMs = window.lateMs();
    Pace pace = new Pace(mibPerSecond);
    long begin = System.nanoTime();
    long last = begin;
    long bytes = 0;
    int files = 0;
    try {
      for (; System.nanoTime() - end < 0; files++) {
        if (kept.size() > keep) {
          fs.delete(kept.removeFirst(), false);
        }
        Path path = new Path(parent, "ingest-" + attempt + "-" + files);
        kept.addLast(path);
        try (FSDataOutputStream out =
            fs.create(path, true, BUFFER_BYTES, fs.getDefaultReplication(path), blockBytes)) {
          long left = blockBytes;
          while (left > 0 && System.nanoTime() - end < 0) {
            int length = (int) Math.min(piece.length, left);
            out.write(piece, 0, length);
            left -= length;
            bytes += length;
            pace.await(bytes);
          }
          if (settles && System.nanoTime() - end >= 0) {
            settle(out);
          }
        }
        last = System.nanoTime();
      }
    } finally {
      for (Path path : kept) {
        fs.delete(path, false);
      }
    }
    Tasks.countOutput(bytes, files);
    return new Done(bytes, files, last - begin, lateMs);
  }

  /**
   * Waits until what was written is where it stays, and does not disturb the next phase any more. A
   * sync that takes long may have been given up by a DataNode, which waits a bounded time.
   */
  private static void settle(FSDataOutputStream out) throws IOException {
    long begin = System.nanoTime();
    long syncBegin;
    do {
      syncBegin = System.nanoTime();
      out.hsync();
    } while (System.nanoTime() - syncBegin > LONG_SYNC_NS && System.nanoTime() - begin < SETTLE_NS);
  }
}
