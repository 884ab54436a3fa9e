package org.hdfsmeld.datanode.readahead;

/**
 * Turns a reader's packets into device reads that run ahead of it.
 *
 * <p>The reader waits only for the requests that cover its bytes, oldest first. Implementations
 * allocate nothing after construction and are not thread-safe.
 */
public interface ReadAhead {
  /**
   * How much earlier than the last read's end its continuation may begin: HDFS reads whole checksum
   * chunks, so that it begins with the chunk in which that one ended ({@code
   * dfs.bytes-per-checksum}).
   */
  int CHUNK_BYTES = 512;

  /** The reader takes these bytes: returns when the device has them. */
  void read(long offset, int length);

  /** Whether a read at {@code offset} goes on where the last one ended, or within the window. */
  boolean continues(long offset);

  /** Where the reader will be if it goes on sequentially; negative when it has not read. */
  long next();

  /** What has been requested and has arrived. */
  RequestedRange range();

  /** Gives up what has been requested and not waited for. */
  default void release() {
    range().release();
  }
}
