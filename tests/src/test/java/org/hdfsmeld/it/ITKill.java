package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A DataNode process that ends at once: nothing is lost, no client fails, the state is used again.
 */
class ITKill {
  private static final int FILE_BYTES = MeldCluster.BLOCK_BYTES + 99_991;
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final Map<String, String> SETTINGS =
      Map.of(
          "dfs.datanode.fsdataset.factory", "org.hdfsmeld.datanode.MeldFsDatasetFactory",
          "dfs.datanode.meld.state.snapshot-interval", "1s",
          "dfs.blocksize", Integer.toString(MeldCluster.BLOCK_BYTES),
          "dfs.heartbeat.interval", "1");

  /** What the process is at when it is killed; it does the others too. */
  enum Moment {
    WRITE,
    READ,
    JOURNAL,
    SNAPSHOT,
    /** It is not killed: the simulator's next allocation fails. */
    OUT_OF_MEMORY
  }

  /** Exit code of a process that ended by SIGABRT. */
  private static final int ABORTED = 128 + 6;

  @TempDir Path directory;

  private final Map<Integer, byte[]> written = new ConcurrentHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private final AtomicInteger reads = new AtomicInteger();
  private final AtomicBoolean working = new AtomicBoolean(true);

  private static org.apache.hadoop.fs.Path file(int number) {
    return new org.apache.hadoop.fs.Path("/file-" + number);
  }

  private Void write(FileSystem files) throws IOException {
    while (working.get()) {
      int number = numbers.incrementAndGet();
      written.put(number, Content.write(files, file(number), number, FILE_BYTES));
    }
    return null;
  }

  private Void read(FileSystem files) throws IOException {
    while (working.get()) {
      for (Map.Entry<Integer, byte[]> content : written.entrySet()) {
        Content.assertSame(files, file(content.getKey()), content.getValue());
        reads.incrementAndGet();
      }
    }
    return null;
  }

  /** Returns when the process is there. Of its state's files one is half written then. */
  private void awaitMoment(Moment moment, HostFaults faults) {
    switch (moment) {
      case WRITE, OUT_OF_MEMORY -> awaitMore(written::size);
      case READ -> awaitMore(reads::get);
      case JOURNAL -> awaitStopped(faults, HostFaults.StateFile.JOURNAL);
      case SNAPSHOT -> awaitStopped(faults, HostFaults.StateFile.SNAPSHOT);
    }
  }

  private static void awaitMore(IntSupplier done) {
    int before = done.getAsInt();
    await().atMost(PATIENCE).until(() -> done.getAsInt() >= before + 2);
  }

  private static void awaitStopped(HostFaults faults, HostFaults.StateFile file) {
    faults.stopWriteTo(file);
    await().atMost(PATIENCE).until(faults::isWriteStopped);
    faults.stopNoWrite();
  }

  /** A mini cluster writes no more replicas than it has DataNodes of its own. */
  private static FileSystem twoReplicas(MeldCluster cluster) throws IOException {
    Configuration conf = new Configuration(cluster.hdfs().getConfiguration(0));
    conf.setInt("dfs.replication", 2);
    return FileSystem.newInstance(cluster.hdfs().getURI(), conf);
  }

  private DataNodeProcess start(MeldCluster cluster, HostFaults faults) throws IOException {
    Path volume = directory.resolve("volume");
    DataNodeProcess process =
        DataNodeProcess.start(cluster, volume, SETTINGS, faults.environment());
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(cluster.fileSystem().getDataNodeStats()).hasSize(2));
    return process;
  }

  @ParameterizedTest
  @EnumSource
  void nothingIsLost(Moment moment) throws Exception {
    ExecutorService clients = Executors.newCachedThreadPool();
    HostFaults faults = HostFaults.in(directory);
    try (MeldCluster cluster = MeldCluster.builder().start();
        FileSystem files = twoReplicas(cluster)) {
      try (DataNodeProcess killed = start(cluster, faults)) {
        for (int i = 0; i < 3; i++) {
          int number = numbers.incrementAndGet();
          written.put(number, Content.write(files, file(number), number, FILE_BYTES));
        }
        Callable<Void> writer = () -> write(files);
        Callable<Void> reader = () -> read(files);
        Future<Void> writing = clients.submit(writer);
        Future<Void> reading = clients.submit(reader);
        awaitMoment(moment, faults);
        if (moment == Moment.OUT_OF_MEMORY) {
          faults.setNoMemory(true);
          assertThat(killed.awaitEnd()).isEqualTo(ABORTED);
          faults.setNoMemory(false);
        } else {
          killed.kill();
        }
        awaitMore(written::size);
        working.set(false);
        writing.get(3, TimeUnit.MINUTES);
        reading.get(3, TimeUnit.MINUTES);
      }
      try (DataNodeProcess again = start(cluster, faults)) {
        awaitReplicas(cluster);
        cluster.hdfs().stopDataNode(0);
        for (Map.Entry<Integer, byte[]> content : written.entrySet()) {
          Content.assertSame(files, file(content.getKey()), content.getValue());
        }
        Map<String, Long> counters = again.counters();
        assertThat(counters.get("state_restored_blocks") + counters.get("state_relaid_blocks"))
            .as("blocks of the state that the killed process left")
            .isPositive();
        assertThat(counters)
            .containsEntry("errors", 0L)
            .containsEntry("state_errors", 0L)
            .containsEntry("unmapped_page_reads", 0L);
      }
    } finally {
      clients.shutdownNow();
    }
  }

  private void awaitReplicas(MeldCluster cluster) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              for (int number : written.keySet()) {
                assertThat(cluster.fileSystem().getFileBlockLocations(file(number), 0, FILE_BYTES))
                    .extracting(BlockLocation::getNames)
                    .allSatisfy(names -> assertThat(names).hasSize(2));
              }
            });
  }
}
