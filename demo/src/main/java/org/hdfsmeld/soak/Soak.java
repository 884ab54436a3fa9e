package org.hdfsmeld.soak;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import javax.management.JMException;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.hdfsmeld.demo.volumes.VolumeBean;

/**
 * {@code ./meld soak [MINUTES]}: clients create, append, read and delete on an embedded cluster
 * whose DataNodes restart in turn. At the end nothing may be wrong, memory must be flat, and each
 * device must hold what is on its volume's disk.
 */
public final class Soak {
  private static final int CLIENTS = 16;
  private static final int DATA_NODES = 3;
  private static final int RESTARTS_MAX = 30;
  private static final int SAMPLES = 40;
  private static final long DEFAULT_MINUTES = 30;
  static final long PAGE_BYTES = 4 << 10;
  private static final long SETTLE_NS = TimeUnit.MINUTES.toNanos(1);

  private final long durationNs;
  private final PrintStream out;
  private final SoakClient.Totals totals =
      new SoakClient.Totals(
          new LongAdder(),
          new LongAdder(),
          new LongAdder(),
          Collections.synchronizedList(new ArrayList<>()));
  private final MemorySamples memory = new MemorySamples();
  private int restarts;

  Soak(long durationNs, PrintStream out) {
    this.durationNs = durationNs;
    this.out = out;
  }

  /** Exits with 0 when all is well, 1 when it is not, 2 on wrong arguments. */
  public static void main(String[] arguments) throws Exception {
    long minutes;
    try {
      minutes = arguments.length == 0 ? DEFAULT_MINUTES : Long.parseLong(arguments[0]);
    } catch (NumberFormatException e) {
      minutes = 0;
    }
    if (minutes < 1 || arguments.length > 1) {
      System.err.println("soak: give the minutes it shall run, 1 or more: ./meld soak 30");
      System.exit(2);
    }
    boolean passed = new Soak(TimeUnit.MINUTES.toNanos(minutes), System.out).run();
    System.exit(passed ? 0 : 1);
  }

  /** Runs all; whether nothing was wrong. */
  boolean run() throws Exception {
    Path directory = Files.createTempDirectory("meld-soak");
    try (MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(configuration(), directory.toFile())
            .numDataNodes(DATA_NODES)
            .storagesPerDatanode(1)
            .checkExitOnShutdown(false)
            .build()) {
      cluster.waitActive();
      work(cluster);
      boolean same = awaitDevicesLikeDisks();
      if (!same) {
        Difference.of(cluster).forEach(line -> out.println("  " + line));
      }
      return report(same);
    } finally {
      FileUtil.fullyDelete(directory.toFile());
    }
  }

  private static Configuration configuration() {
    Configuration conf = new Configuration();
    conf.set("dfs.datanode.fsdataset.factory", "org.hdfsmeld.datanode.MeldFsDatasetFactory");
    conf.set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService");
    conf.set("dfs.datanode.meld.readahead.window", "2m");
    conf.set("dfs.datanode.meld.readahead.request", "256k");
    conf.set("dfs.datanode.meld.state.snapshot-interval", "20s");
    conf.set("dfs.blocksize", Long.toString(4 << 20));
    conf.set("dfs.namenode.fs-limits.min-block-size", "0");
    conf.set("dfs.replication", Integer.toString(DATA_NODES));
    conf.set("dfs.heartbeat.interval", "1");
    conf.set("dfs.namenode.redundancy.interval.seconds", "1s");
    conf.set("dfs.client.block.write.replace-datanode-on-failure.best-effort", "true");
    // What is bounded fills up in the first quarter, so that growth after it is a leak.
    conf.set("dfs.datanode.meld.hint.cache-blocks", "1024");
    conf.set("dfs.datanode.meld.hint.history.max-entries", "1024");
    conf.set("dfs.namenode.retrycache.expirytime.millis", "60000");
    // The scanner would read what nobody asked for.
    conf.set("dfs.block.scanner.volume.bytes.per.second", "0");
    return conf;
  }

  private void work(MiniDFSCluster cluster) throws Exception {
    FileSystem fs = cluster.getFileSystem();
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    long begin = System.nanoTime();
    long endNs = begin + durationNs;
    for (int i = 0; i < CLIENTS; i++) {
      clients.execute(new SoakClient(fs, i, totals, endNs));
    }
    clients.shutdown();
    long sampleNs = durationNs / SAMPLES;
    int restartEvery = Math.max(SAMPLES / RESTARTS_MAX, SAMPLES / 8);
    for (int sample = 1; !clients.awaitTermination(sampleNs, TimeUnit.NANOSECONDS); sample++) {
      boolean working = System.nanoTime() - endNs < 0;
      if (working) {
        memory.take();
      }
      System.err.printf(
          Locale.ROOT,
          "soak: %d of %d min, %d operations, %d restarts%n",
          TimeUnit.NANOSECONDS.toMinutes(System.nanoTime() - begin),
          TimeUnit.NANOSECONDS.toMinutes(durationNs),
          totals.operations().sum(),
          restarts);
      if (working && sample % restartEvery == 0) {
        restart(cluster);
      }
    }
    cluster.waitActive();
  }

  /** MiniDFSCluster puts a restarted DataNode at the end of its list: each has its turn. */
  private void restart(MiniDFSCluster cluster) throws Exception {
    String volume;
    try (FsDatasetSpi.FsVolumeReferences volumes =
        cluster.getDataNodes().get(0).getFSDataset().getFsVolumeReferences()) {
      volume = volumes.get(0).toString();
    }
    MiniDFSCluster.DataNodeProperties stopped = cluster.stopDataNode(0);
    awaitThreadsOf(volume);
    if (!cluster.restartDataNode(stopped, true)) {
      totals.errors().add("a DataNode did not restart");
    }
    restarts++;
  }

  /**
   * A DataNode's threads end with its process. In this JVM those that delete replicas go on, and
   * would delete what its successor has taken over, or written again.
   */
  private static void awaitThreadsOf(String volume) throws InterruptedException {
    long begin = System.nanoTime();
    while (Thread.getAllStackTraces().keySet().stream()
            .anyMatch(thread -> thread.getName().endsWith(" for volume " + volume))
        && System.nanoTime() - begin < SETTLE_NS) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  /** Deletes reach the devices after a while; whether all of them have. */
  private boolean awaitDevicesLikeDisks() throws Exception {
    long begin = System.nanoTime();
    while (!devicesAreLikeDisks(false) && System.nanoTime() - begin < SETTLE_NS) {
      TimeUnit.SECONDS.sleep(1);
    }
    return devicesAreLikeDisks(true);
  }

  private boolean devicesAreLikeDisks(boolean print) throws IOException, JMException {
    boolean same = true;
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    for (ObjectName name :
        server.queryNames(new ObjectName("Hadoop:service=DataNode,name=MeldVolume-*"), null)) {
      VolumeBean volume = JMX.newMXBeanProxy(server, name, VolumeBean.class);
      Map<String, Long> counters = volume.getCounters();
      Replicas disk = Replicas.on(Path.of(volume.getVolume()), PAGE_BYTES);
      long blocks = counters.get("blocks_mapped");
      long pages = counters.get("mapped_pages");
      long errors = counters.get("errors") + counters.get("state_errors");
      same &= blocks == disk.blocks() && pages == disk.pages() && errors == 0 && volume.isHealthy();
      if (print) {
        out.printf(
            Locale.ROOT,
            "  %s: device %d blocks, %d pages; disk %d blocks, %d pages; %d errors%n",
            Path.of(volume.getVolume()).getFileName(),
            blocks,
            pages,
            disk.blocks(),
            disk.pages(),
            errors);
      }
    }
    return same;
  }

  private boolean report(boolean same) {
    double offHeap = memory.nativeGrowth();
    double heap = memory.heapGrowth();
    // Over a short run the JVM is still warming up, which says nothing.
    boolean longEnough = durationNs >= TimeUnit.MINUTES.toNanos(5);
    boolean flat =
        !longEnough
            || (offHeap <= MemorySamples.NATIVE_GROWTH_MAX
                && heap <= MemorySamples.HEAP_GROWTH_MAX);
    out.printf(
        Locale.ROOT,
        "soak: %d clients, %d operations, %d MiB, %d retries, %d restarts%n",
        CLIENTS,
        totals.operations().sum(),
        totals.bytes().sum() >> 20,
        totals.retries().sum(),
        restarts);
    out.println(memory.table());
    out.printf(
        Locale.ROOT,
        "  growth, last quarter over the second: native %+.1f %% (bound %.0f %%), heap %+.1f %%"
            + " (bound %.0f %%)%s%n",
        offHeap * 100,
        MemorySamples.NATIVE_GROWTH_MAX * 100,
        heap * 100,
        MemorySamples.HEAP_GROWTH_MAX * 100,
        longEnough ? "" : "; not judged below 5 minutes");
    totals.errors().forEach(error -> out.println("  ERROR " + error));
    boolean passed = same && flat && totals.errors().isEmpty() && restarts > 0;
    out.println(
        passed
            ? "soak: passed"
            : "soak: FAILED"
                + (same ? "" : "; devices differ from disks")
                + (flat ? "" : "; memory grows"));
    return passed;
  }
}
