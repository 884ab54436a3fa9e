package org.hdfsmeld.datanode.hadoop;

import java.util.Map;
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

  private static final Map<String, ClientKind> OTHERS =
      Map.ofEntries(
          Map.entry("VolumeScannerThread(", ClientKind.SCANNER),
          Map.entry("DiskBalancerThread", ClientKind.DISK_BALANCER),
          // HDFS sends replicas from a pool whose threads it does not name, and so they are called.
          Map.entry("java.util.concurrent.ThreadPoolExecutor$Worker", ClientKind.REPLICATION),
          Map.entry("Async disk worker", ClientKind.DATANODE),
          Map.entry("Async RamDisk lazy persist worker", ClientKind.DATANODE),
          Map.entry("BP-", ClientKind.DATANODE),
          Map.entry("Command processor", ClientKind.DATANODE),
          Map.entry("DataNode: ", ClientKind.DATANODE),
          Map.entry("FsDatasetCache-", ClientKind.DATANODE),
          Map.entry("IPC Server handler", ClientKind.DATANODE),
          Map.entry("org.apache.hadoop.hdfs.server.datanode.", ClientKind.DATANODE));

  /** What the operation of a transceiver begins with. */
  private static final Map<String, ClientKind> OPERATIONS =
      Map.of(
          "Sending block", ClientKind.CLIENT,
          "Receiving block", ClientKind.CLIENT,
          "Copying block", ClientKind.BALANCER,
          "Replacing block", ClientKind.BALANCER,
          "Passing file descriptors", ClientKind.SHORT_CIRCUIT,
          "Getting checksum", ClientKind.CHECKSUM,
          "TRANSFER_BLOCK", ClientKind.REPLICATION);

  private HadoopThreads() {}

  /** For whom a thread of this name works; empty where no version of Hadoop has had the name. */
  static Optional<ClientKind> kind(String thread) {
    return thread.startsWith(TRANSCEIVER)
        ? Optional.of(ofTransceiver(thread))
        : kind(OTHERS, thread);
  }

  private static Optional<ClientKind> kind(Map<String, ClientKind> kinds, String text) {
    return kinds.entrySet().stream()
        .filter(kind -> text.startsWith(kind.getKey()))
        .map(Map.Entry::getValue)
        .findFirst();
  }

  private static ClientKind ofTransceiver(String thread) {
    int status = thread.lastIndexOf(" [");
    String operation = status < 0 ? "" : thread.substring(status + 2);
    ClientKind kind = kind(OPERATIONS, operation).orElse(ClientKind.DATANODE);
    boolean nameless = thread.startsWith(NAMELESS, TRANSCEIVER.length());
    return kind == ClientKind.CLIENT && nameless ? ClientKind.REPLICATION : kind;
  }

  /** The client's name; empty where the thread's name has none. */
  static String client(String thread) {
    int end = thread.indexOf(NAMELESS);
    return thread.startsWith(TRANSCEIVER) && end > TRANSCEIVER.length()
        ? thread.substring(TRANSCEIVER.length(), end)
        : "";
  }
}
