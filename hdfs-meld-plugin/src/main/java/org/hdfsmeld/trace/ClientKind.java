package org.hdfsmeld.trace;

import org.apache.hadoop.util.StringUtils;

/**
 * For whom a DataNode works, as far as it can tell.
 *
 * <p>HDFS hands a stream no such thing, but its threads carry it in their names. What a client's
 * pipeline recovery copies counts as the client's.
 */
public enum ClientKind {
  /** A client reads or writes over the data transfer protocol. */
  CLIENT,
  /** A copy for another DataNode, or from one: re-replication, transfers of pipeline recovery. */
  REPLICATION,
  /** The balancer or mover, between DataNodes. */
  BALANCER,
  /** The disk balancer, between volumes of this DataNode. */
  DISK_BALANCER,
  /** The block scanner. */
  SCANNER,
  /** A client asks for a block's checksum. */
  CHECKSUM,
  /** A client that reads the file itself. */
  SHORT_CIRCUIT,
  /** The DataNode itself: deletions, recovery, caching, and what is none of the others. */
  DATANODE;

  private final String text = StringUtils.toLowerCase(name()).replace('_', '-');

  public String text() {
    return text;
  }
}
