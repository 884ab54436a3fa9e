package org.hdfsmeld.datanode.readahead;

/**
 * Turns a reader's packets into device reads that run ahead of it.
 *
 * <p>The reader waits only for the requests that cover its bytes, oldest first. Allocates nothing
 * after construction; not thread-safe.
 */
public abstract class ReadAhead {
  /**
   * How much earlier than the last read's end its continuation may begin: HDFS reads whole checksum
   * chunks, so that it begins with the chunk in which that one ended ({@code
   * dfs.bytes-per-checksum}).
   */
  static final int CHUNK_BYTES = 512;

  static final long NOWHERE = -1;

  /** Where the last read ended, in bytes. */
  long next = NOWHERE;

  /** The reader takes these bytes: returns when the device has them. */
  public abstract void read(long offset, int length);

  /** Whether a read at {@code offset} goes on where the last one ended, or within the window. */
  public abstract boolean continues(long offset);

  /** Where the reader will be if it goes on sequentially; negative when it has not read. */
  public final long next() {
    return next;
  }

  /** What has been requested and has arrived. */
  public abstract RequestedRange range();

  static long roundUp(long value, long unit) {
    return (value + unit - 1) / unit * unit;
  }
}
