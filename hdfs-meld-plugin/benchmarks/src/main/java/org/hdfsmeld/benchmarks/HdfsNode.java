package org.hdfsmeld.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockManagerTestUtil;
import org.hdfsmeld.datanode.MeldFsDatasetFactory;
import org.hdfsmeld.datanode.metrics.MeldVolumeMXBean;

/**
 * The JVM of one variant: an HDFS of one DataNode with one volume and its client. It does what the
 * lines of its input say, {@code start}, {@code write}, {@code read}, {@code delete} and {@code
 * forwarded}, and answers each with a line: wall and processor time in ns, or a count.
 */
final class HdfsNode implements Node {
  /** The arguments: folder, variant, blocks of a file. */
  static final int BLOCK_BYTES = 128 << 20;

  private static final int BUFFER_BYTES = 1 << 20;
  private static final long DELETE_POLL_MS = 20;

  /** More than the plugin gathers commands for before its device's thread does them. */
  private static final long REST_MS = 300;

  private static final Path FILE = new Path("/file");
  private static final Path START = new Path("/start");

  private final MiniDFSCluster cluster;
  private final FileSystem fs;
  private final java.nio.file.Path home;
  private final long fileBytes;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private final OperatingSystemMXBean os =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private HdfsNode(String[] args) throws IOException {
    this.home = java.nio.file.Path.of(args[0]);
    this.cluster =
        new MiniDFSCluster.Builder(configuration(Variant.valueOf(args[1])), home.toFile())
            .numDataNodes(1)
            .storagesPerDatanode(1)
            .build();
    cluster.waitActive();
    this.fs = cluster.getFileSystem();
    this.fileBytes = Long.parseLong(args[2]) * BLOCK_BYTES;
    new Random(1).nextBytes(buffer);
  }

  public static void main(String[] args) {
    Node.serve(() -> new HdfsNode(args));
  }

  static Configuration configuration(Variant variant) {
    Configuration conf = new Configuration();
    conf.setInt("dfs.replication", 1);
    conf.setLong("dfs.blocksize", BLOCK_BYTES);
    // Nothing else reads or writes blocks.
    conf.setLong("dfs.block.scanner.volume.bytes.per.second", 0);
    // A client that asks for the next block, or closes the file, before the NameNode has heard of
    // the last one sleeps for 400 ms. Whether it does is a race, and more than half of a write.
    conf.setInt("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", 1);
    conf.setInt("dfs.client.block.write.locateFollowingBlock.max.delay.ms", 8);
    conf.setInt("dfs.client.block.write.locateFollowingBlock.retries", 1000);
    if (!variant.mode().isEmpty()) {
      conf.set("dfs.datanode.fsdataset.factory", MeldFsDatasetFactory.class.getName());
      conf.set("dfs.datanode.meld.mode", variant.mode());
    }
    return conf;
  }

  @Override
  public String answer(String command) throws IOException, JMException {
    return switch (command) {
      case "start" -> timed(() -> write(START, BLOCK_BYTES));
      case "write" -> timed(() -> write(FILE, fileBytes));
      case "read" -> timed(this::read);
      case "delete" -> Boolean.toString(delete());
      case "forwarded" -> Long.toString(forwarded());
      default -> throw new IllegalArgumentException(command);
    };
  }

  private interface Work {
    void run() throws IOException;
  }

  private String timed(Work work) throws IOException {
    long cpu = os.getProcessCpuTime();
    long start = System.nanoTime();
    work.run();
    return (System.nanoTime() - start) + " " + (os.getProcessCpuTime() - cpu);
  }

  private void write(Path file, long bytes) throws IOException {
    try (FSDataOutputStream out = fs.create(file, true)) {
      for (long written = 0; written < bytes; written += BUFFER_BYTES) {
        out.write(buffer);
      }
    }
  }

  private void read() throws IOException {
    long left = fileBytes;
    try (FSDataInputStream in = fs.open(FILE)) {
      int count = in.read(buffer);
      while (count >= 0) {
        left -= count;
        count = in.read(buffer);
      }
    }
    if (left != 0) {
      throw new IOException(FILE + " lacks " + left + " bytes");
    }
  }

  /**
   * Has the DataNode delete the blocks now, in nobody's time, and so that the next write finds the
   * memory that was freed: a virtual machine's host may take it back when it is free for seconds.
   * What the device's thread has left to do of them is in nobody's time either.
   */
  private boolean delete() throws IOException {
    boolean deleted = fs.delete(FILE, false) && fs.delete(START, false);
    try {
      while (hasBlocks()) {
        BlockManagerTestUtil.computeAllPendingWork(cluster.getNamesystem().getBlockManager());
        cluster.triggerHeartbeats();
        TimeUnit.MILLISECONDS.sleep(DELETE_POLL_MS);
      }
      TimeUnit.MILLISECONDS.sleep(REST_MS);
    } catch (InterruptedException e) {
      throw new InterruptedIOException("interrupted while blocks are deleted");
    }
    return deleted;
  }

  private boolean hasBlocks() throws IOException {
    try (Stream<java.nio.file.Path> files = Files.walk(home)) {
      return files.anyMatch(file -> file.getFileName().toString().matches("blk_\\d+"));
    } catch (UncheckedIOException e) {
      // A file went while the folders were listed.
      return true;
    }
  }

  private static long forwarded() throws JMException {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    long calls = 0;
    for (ObjectName name :
        server.queryNames(new ObjectName("Hadoop:service=DataNode,name=MeldVolume-*"), null)) {
      var counters = JMX.newMXBeanProxy(server, name, MeldVolumeMXBean.class).getCounters();
      calls += counters.get("forwarded_reads") + counters.get("forwarded_writes");
    }
    return calls;
  }

  @Override
  public void close() {
    cluster.shutdown(true);
  }
}
