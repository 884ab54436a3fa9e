package org.hdfsmeld.spark.task;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Reads files front to back by requests of one size, one at a time. */
public final class Requests {
  private Requests() {}

  /** Takes each request as it is answered. */
  public interface Consumer {
    /**
     * Takes one.
     *
     * @param offset of its first byte in the file
     * @param length of what is in the buffer: less than the buffer's only at the file's end
     * @param beganNanos {@link System#nanoTime} before its first read call
     * @param latencyNanos until the last of its bytes was there
     * @return whether to read on
     */
    boolean accept(long offset, int length, long beganNanos, long latencyNanos)
        throws IOException, InterruptedException;
  }

  /** Reads one file through the buffer, whose length is the size of the requests. */
  public static void read(FileSystem fs, Path path, byte[] buffer, Consumer consumer)
      throws IOException, InterruptedException {
    try (FSDataInputStream in = fs.open(path)) {
      long offset = 0;
      int length;
      boolean more;
      do {
        long began = System.nanoTime();
        length = in.readNBytes(buffer, 0, buffer.length);
        long latency = System.nanoTime() - began;
        more = length > 0 && consumer.accept(offset, length, began, latency);
        offset += length;
      } while (more && length == buffer.length);
    }
  }
}
