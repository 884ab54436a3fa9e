package org.hdfsmeld.trace;

/**
 * For whom a DataNode works, as far as it can tell.
 *
 * <p>HDFS hands a stream no such thing, but its threads carry it in their names: a transceiver's
 * says the operation and the client's name, which is empty when another DataNode asks. What a
 * client's pipeline recovery copies counts as the client's.
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

  private static final String TRANSCEIVER = "DataXceiver for client ";

  /** What follows the transceiver's prefix when the client's name is empty. */
  private static final String NAMELESS = " at ";

  /** The name in trace files. */
  final String text;

  ClientKind(String text) {
    this.text = text;
  }

  /** The name in trace files. */
  public String text() {
    return text;
  }

  /** For whom this thread works at present. */
  public static ClientKind ofThisThread() {
    return of(Thread.currentThread().getName());
  }

  static ClientKind of(String thread) {
    if (thread.startsWith(TRANSCEIVER)) {
      return ofTransceiver(thread);
    }
    if (thread.startsWith("VolumeScannerThread(")) {
      return SCANNER;
    }
    if (thread.startsWith("DiskBalancerThread")) {
      return DISK_BALANCER;
    }
    // HDFS sends replicas from a pool whose threads it does not name, and so they are called.
    if (thread.startsWith("java.util.concurrent.ThreadPoolExecutor$Worker")) {
      return REPLICATION;
    }
    return DATANODE;
  }

  private static ClientKind ofTransceiver(String thread) {
    int status = thread.lastIndexOf(" [");
    if (status < 0) {
      return DATANODE;
    }
    String operation = thread.substring(status + 2);
    if (operation.startsWith("Sending block") || operation.startsWith("Receiving block")) {
      return thread.startsWith(NAMELESS, TRANSCEIVER.length()) ? REPLICATION : CLIENT;
    }
    if (operation.startsWith("Copying block") || operation.startsWith("Replacing block")) {
      return BALANCER;
    }
    if (operation.startsWith("Passing file descriptors")) {
      return SHORT_CIRCUIT;
    }
    if (operation.startsWith("Getting checksum")) {
      return CHECKSUM;
    }
    return operation.startsWith("TRANSFER_BLOCK") ? REPLICATION : DATANODE;
  }
}
