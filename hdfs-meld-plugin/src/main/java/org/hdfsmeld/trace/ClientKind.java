package org.hdfsmeld.trace;

/**
 * For whom a DataNode works, as far as it can tell.
 *
 * <p>HDFS hands a stream no such thing, but its threads carry it in their names. What a client's
 * pipeline recovery copies counts as the client's.
 */
public enum ClientKind {
  /** A client reads or writes over the data transfer protocol. */
  CLIENT("client"),
  /** A copy for another DataNode, or from one: re-replication, transfers of pipeline recovery. */
  REPLICATION("replication"),
  /** The balancer or mover, between DataNodes. */
  BALANCER("balancer"),
  /** The disk balancer, between volumes of this DataNode. */
  DISK_BALANCER("disk-balancer"),
  /** The block scanner. */
  SCANNER("scanner"),
  /** A client asks for a block's checksum. */
  CHECKSUM("checksum"),
  /** A client that reads the file itself. */
  SHORT_CIRCUIT("short-circuit"),
  /** The DataNode itself: deletions, recovery, caching, and what is none of the others. */
  DATANODE("datanode");

  /** The name in trace files. */
  final String text;

  ClientKind(String text) {
    this.text = text;
  }

  /** The name in trace files. */
  public String text() {
    return text;
  }
}
