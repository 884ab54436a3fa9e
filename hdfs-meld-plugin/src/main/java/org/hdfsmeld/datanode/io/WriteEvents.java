package org.hdfsmeld.datanode.io;

/** What HDFS does with an open write stream of a block. */
public interface WriteEvents {
  /** Bytes were written to the block's file. */
  void write(long offset, int length);

  /** The block's file was synced. */
  void sync();

  void close();
}
