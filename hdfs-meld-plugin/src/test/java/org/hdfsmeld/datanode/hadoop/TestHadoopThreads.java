package org.hdfsmeld.datanode.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import org.hdfsmeld.trace.ClientKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Names as the threads of a DataNode of Hadoop 3.5.0 have them. */
class TestHadoopThreads {
  @ParameterizedTest
  @CsvSource({
    "DataXceiver for client DFSClient_NONMAPREDUCE_1_2 at /127.0.0.1:40 [Sending block BP-1:blk_1_2], CLIENT",
    "DataXceiver for client DFSClient [odd] at /127.0.0.1:40 [Receiving block BP-1:blk_1_2], CLIENT",
    "DataXceiver for client  at /127.0.0.1:40 [Receiving block BP-1:blk_1_2], REPLICATION",
    "DataXceiver for client  at /127.0.0.1:40 [Sending block BP-1:blk_1_2], REPLICATION",
    "DataXceiver for client /127.0.0.1:40 [TRANSFER_BLOCK BP-1:blk_1_2], REPLICATION",
    "DataXceiver for client /127.0.0.1:40 [Copying block BP-1:blk_1_2], BALANCER",
    "DataXceiver for client /127.0.0.1:40 [Replacing block BP-1:blk_1_2 from u], BALANCER",
    "DataXceiver for client unix:/s [Passing file descriptors for block BP-1:blk_1_2], SHORT_CIRCUIT",
    "DataXceiver for client /127.0.0.1:40 [Getting checksum for block BP-1:blk_1_2], CHECKSUM",
    "DataXceiver for client /127.0.0.1:40 [Waiting for operation #2], DATANODE",
    "DataXceiver for client /127.0.0.1:40, DATANODE",
    "'VolumeScannerThread(/data/1)', SCANNER",
    "DiskBalancerThread, DISK_BALANCER",
    "java.util.concurrent.ThreadPoolExecutor$Worker@1f[State = -1; empty queue], REPLICATION",
    "Async disk worker #1 for volume /data/1, DATANODE",
  })
  void isToldByTheThreadsName(String thread, ClientKind kind) {
    assertThat(HadoopThreads.kind(thread)).hasValue(kind);
  }

  @Test
  void aNameThatHadoopHasNotIsUnknown() {
    assertThat(HadoopThreads.kind("replica-transfer-1")).isEmpty();
  }
}
