package org.hdfsmeld.it;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.server.datanode.DataNodeTestUtils;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No thread of HDFS waits for a device with the dataset's lock, of which Hadoop 3.3 has one for all
 * volumes: the others would wait with it.
 *
 * <p>The devices hang, so that whoever waits for them does so for seconds. Whether a waiting thread
 * has the lock is seen from outside: while it still waits, the lock can be had for writing.
 */
@Tag("faults")
class ITDatasetLock {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final int FILE_BYTES = MeldCluster.BLOCK_BYTES - 99_991;

  private final ExecutorService clients = Executors.newCachedThreadPool();

  /** Where threads were seen to wait, and whether the lock was free meanwhile. */
  private final Map<String, Boolean> free = new TreeMap<>();

  private MeldCluster cluster;
  private FsDatasetSpi<?> dataset;

  @AfterEach
  void stop() {
    clients.shutdownNow();
    cluster.close();
  }

  /** The whole dataset's lock; Hadoop 3.4 has many, of which a block pool's is above all. */
  private AutoCloseable lockForWriting() throws ReflectiveOperationException {
    Optional<Method> one = method(FsDatasetSpi.class, "acquireDatasetLock");
    if (one.isPresent()) {
      return (AutoCloseable) one.get().invoke(dataset);
    }
    Object locks = method(FsDatasetSpi.class, "acquireDatasetLockManager").get().invoke(dataset);
    Method writeLock =
        method(
                Class.forName("org.apache.hadoop.hdfs.server.common.DataNodeLockManager"),
                "writeLock")
            .get();
    Object blockPool =
        Arrays.stream(writeLock.getParameterTypes()[0].getEnumConstants())
            .filter(level -> level.toString().equals("BLOCK_POOl"))
            .findFirst()
            .get();
    String[] pool = {cluster.hdfs().getNamesystem().getBlockPoolId()};
    return (AutoCloseable) writeLock.invoke(locks, blockPool, pool);
  }

  private static Optional<Method> method(Class<?> type, String name) {
    return Arrays.stream(type.getMethods()).filter(m -> m.getName().equals(name)).findFirst();
  }

  /** The plugin's and Hadoop's methods that a thread is in while it waits in the plugin, or "". */
  private static String waitsIn(ThreadInfo thread) {
    List<String> frames =
        Arrays.stream(thread.getStackTrace())
            .map(frame -> frame.getClassName() + "." + frame.getMethodName())
            .filter(frame -> frame.startsWith("org.") && !frame.contains("$$Lambda"))
            .toList();
    boolean inPlugin =
        thread.getThreadState() != Thread.State.RUNNABLE
            && !frames.isEmpty()
            && frames.get(0).startsWith("org.hdfsmeld.")
            && !frames.get(0).startsWith("org.hdfsmeld.it.")
            && frames.stream().anyMatch(frame -> frame.startsWith("org.apache.hadoop.hdfs."));
    return inPlugin ? frames.stream().collect(joining(" < ")) : "";
  }

  private void look() throws Exception {
    for (ThreadInfo before : THREADS.dumpAllThreads(false, false)) {
      String where = waitsIn(before);
      if (where.isEmpty() || free.getOrDefault(where, false)) {
        continue;
      }
      try (AutoCloseable lock = lockForWriting()) {
        ThreadInfo after = THREADS.getThreadInfo(before.getThreadId(), Integer.MAX_VALUE);
        boolean still =
            after != null
                && after.getWaitedCount() == before.getWaitedCount()
                && after.getBlockedCount() == before.getBlockedCount()
                && waitsIn(after).equals(where);
        free.merge(where, still, Boolean::logicalOr);
      }
    }
  }

  private static Path file(String operation) {
    return new Path("/" + operation);
  }

  /**
   * One file for each operation; the devices know none of them, and hear of them when they hang.
   */
  private void start(String mode) throws Exception {
    cluster =
        MeldCluster.builder()
            .volumes("melded-tlc-8x8", "melded-tlc-8x8")
            .meld("mode", mode)
            .meld("state.enabled", "false")
            // As long as the DataNode waits for the devices when it ends.
            .meld("wait-timeout", "6s")
            .start();
    for (String operation : List.of("read", "append", "truncate", "delete", "move", "scan")) {
      Content.write(cluster.fileSystem(), file(operation), 1, FILE_BYTES);
    }
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    dataset = cluster.hdfs().getDataNodes().get(0).getFSDataset();
  }

  private ExtendedBlock block(String operation) throws IOException {
    return cluster
        .fileSystem()
        .getClient()
        .getLocatedBlocks(file(operation).toString(), 0)
        .get(0)
        .getBlock();
  }

  private Void move() throws IOException {
    ExtendedBlock block = block("move");
    try (FsDatasetSpi.FsVolumeReferences volumes = dataset.getFsVolumeReferences()) {
      FsVolumeSpi source = dataset.getVolume(block);
      dataset.moveBlockAcrossVolumes(
          block, volumes.get(0) == source ? volumes.get(1) : volumes.get(0));
    }
    return null;
  }

  private Void scan() throws IOException {
    Files.delete(cluster.hdfs().getBlockFile(0, block("scan")).toPath());
    DataNodeTestUtils.runDirectoryScanner(cluster.hdfs().getDataNodes().get(0));
    return null;
  }

  private List<Callable<?>> operations(FSDataOutputStream open) {
    DistributedFileSystem files = cluster.fileSystem();
    return List.of(
        () -> Content.read(files, file("read")),
        () -> Content.write(files, file("create"), 2, FILE_BYTES),
        () -> {
          try (FSDataOutputStream out = files.append(file("append"))) {
            out.write(Content.random(3, FILE_BYTES));
          }
          return null;
        },
        () -> {
          open.write(Content.random(4, FILE_BYTES));
          open.close();
          return null;
        },
        () -> files.truncate(file("truncate"), FILE_BYTES / 2),
        () -> files.delete(file("delete"), false),
        this::move,
        this::scan);
  }

  @ParameterizedTest
  @ValueSource(strings = {"account", "real-time"})
  void nobodyWaitsForADeviceWithIt(String mode) throws Exception {
    start(mode);
    FileSystem writer = FileSystem.newInstance(cluster.fileSystem().getConf());
    FSDataOutputStream open = writer.create(file("open"));
    open.write(Content.random(5, FILE_BYTES));
    open.hflush();
    Volumes.injectFault("hang", 0);
    List<Future<?>> running = new ArrayList<>();
    for (Callable<?> operation : operations(open)) {
      running.add(clients.submit(operation));
    }
    await()
        .atMost(PATIENCE)
        .pollInSameThread()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .until(
            () -> {
              look();
              return running.stream().allMatch(Future::isDone);
            });
    for (Future<?> operation : running) {
      operation.get();
    }
    DFSTestUtil.waitReplication(cluster.fileSystem(), file("create"), (short) 1);
    if (mode.equals("real-time")) {
      assertThat(free).as("places where threads of HDFS wait for the devices").isNotEmpty();
    }
    assertThat(free).as("places, and whether the lock is free").doesNotContainValue(false);
  }
}
