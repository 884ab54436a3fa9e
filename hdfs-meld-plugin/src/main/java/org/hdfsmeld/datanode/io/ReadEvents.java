package org.hdfsmeld.datanode.io;

/** What HDFS does with an open read stream of a block. */
public interface ReadEvents {
  /** The stream was opened for more than a few packets. Comes before it is read. */
  void longRead();

  /** Bytes are read from the block's file. */
  void consume(long offset, int length);

  void close();
}
