package org.hdfsmeld.datanode.hadoop;

import java.util.List;
import java.util.Optional;
import org.hdfsmeld.trace.ClientKind;

/**
 * What the names of HDFS's threads say: a transceiver's says the operation and the client's name,
 * which is empty when another DataNode asks.
 */
final class HadoopThreads {
  private static final String TRANSCEIVER = "DataXceiver for client ";

  /** What follows the transceiver's prefix when the client's name is empty. */
  private static final String NAMELESS = " at ";

  /** Threads on which a DataNode works for itself. */
  private static final List<String> OF_THE_DATANODE =
      List.of(
          "Async disk worker",
          "Async RamDisk lazy persist worker",
          "BP-",
          "Command processor",
          "DataNode: ",
          "FsDatasetCache-",
          "IPC Server handler",
          "org.apache.hadoop.hdfs.server.datanode.");

  private HadoopThreads() {}

  /** For whom a thread of this name works; empty where no version of Hadoop has had the name. */
  static Optional<ClientKind> kind(String thread) {
    if (thread.startsWith(TRANSCEIVER)) {
      return Optional.of(ofTransceiver(thread));
    }
    if (thread.startsWith("VolumeScannerThread(")) {
      return Optional.of(ClientKind.SCANNER);
    }
    if (thread.startsWith("DiskBalancerThread")) {
      return Optional.of(ClientKind.DISK_BALANCER);
    }
    // HDFS sends replicas from a pool whose threads it does not name, and so they are called.
    if (thread.startsWith("java.util.concurrent.ThreadPoolExecutor$Worker")) {
      return Optional.of(ClientKind.REPLICATION);
    }
    return OF_THE_DATANODE.stream().anyMatch(thread::startsWith)
        ? Optional.of(ClientKind.DATANODE)
        : Optional.empty();
  }

  private static ClientKind ofTransceiver(String thread) {
    int status = thread.lastIndexOf(" [");
    if (status < 0) {
      return ClientKind.DATANODE;
    }
    String operation = thread.substring(status + 2);
    if (operation.startsWith("Sending block") || operation.startsWith("Receiving block")) {
      return thread.startsWith(NAMELESS, TRANSCEIVER.length())
          ? ClientKind.REPLICATION
          : ClientKind.CLIENT;
    }
    if (operation.startsWith("Copying block") || operation.startsWith("Replacing block")) {
      return ClientKind.BALANCER;
    }
    if (operation.startsWith("Passing file descriptors")) {
      return ClientKind.SHORT_CIRCUIT;
    }
    if (operation.startsWith("Getting checksum")) {
      return ClientKind.CHECKSUM;
    }
    return operation.startsWith("TRANSFER_BLOCK") ? ClientKind.REPLICATION : ClientKind.DATANODE;
  }

  /** The client's name; empty where the thread's name has none. */
  static String client(String thread) {
    int end = thread.indexOf(NAMELESS);
    return thread.startsWith(TRANSCEIVER) && end > TRANSCEIVER.length()
        ? thread.substring(TRANSCEIVER.length(), end)
        : "";
  }
}
