package org.hdfsmeld.benchmarks;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocolPB.DatanodeProtocolPB;
import org.apache.hadoop.hdfs.server.protocol.NamenodeProtocols;
import org.apache.hadoop.io.EnumSetWritable;
import org.apache.hadoop.metrics2.AbstractMetric;
import org.apache.hadoop.metrics2.impl.MetricsCollectorImpl;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.hdfsmeld.namenode.ReadPatternService;
import org.hdfsmeld.rpc.MeldRpc;
import org.hdfsmeld.rpc.ReadPatternProtocolPB;
import org.hdfsmeld.rpc.ReadPatterns;

/**
 * The JVM of a NameNode with three DataNodes, which write nothing. It does what the lines of its
 * input say, {@code create BLOCKS} and {@code path LENGTH}, and answers each with nanoseconds.
 */
final class LockedNameNode implements Node {
  private static final short REPLICATION = 3;
  private static final int TIMEOUT_MS = 60_000;

  /** What is promised to blocks that nobody writes must not fill the DataNodes. */
  private static final int BLOCK_BYTES = 4 << 10;

  private static final int NAME_CHARACTERS = 250;
  private static final int ASKED = 40;
  private static final String CLIENT = "benchmark";
  private static final String TABLE = "/warehouse/lineitem/date=2026-11-28";

  private final MiniDFSCluster cluster;
  private final NamenodeProtocols nameNode;
  private final String pool;
  private final MeldRpc<ReadPatternProtocolPB> service;
  private final long[] asked = new long[ReadPatterns.MAX_BLOCKS];

  private final Map<String, Long> lockOperations = new HashMap<>();

  private LockedNameNode(String[] args) throws IOException {
    boolean asks = args[1].equals("service");
    Configuration conf = new Configuration();
    conf.setInt("dfs.replication", REPLICATION);
    conf.setInt("dfs.namenode.fs-limits.min-block-size", 0);
    conf.setBoolean("dfs.namenode.lock.detailed-metrics.enabled", true);
    // What a disk does to the edit log is outside of the lock.
    conf.setBoolean("dfs.namenode.edits.noeditlogchannelflush", true);
    if (asks) {
      conf.set("dfs.namenode.plugins", ReadPatternService.class.getName());
    }
    cluster = new MiniDFSCluster.Builder(conf, new File(args[0])).numDataNodes(REPLICATION).build();
    cluster.waitActive();
    nameNode = cluster.getNameNodeRpc();
    pool = cluster.getNamesystem().getBlockPoolId();
    service =
        asks
            ? new MeldRpc<>(
                conf,
                DatanodeProtocolPB.class,
                ReadPatternProtocolPB.class,
                cluster.getNameNode().getNameNodeAddress(),
                TIMEOUT_MS)
            : null;
  }

  /** The arguments: the folder, and {@code stock} or {@code service}. */
  public static void main(String[] args) {
    Node.serve(() -> new LockedNameNode(args));
  }

  @Override
  public String answer(String command) throws IOException {
    String[] words = command.split(" ");
    int number = Integer.parseInt(words[1]);
    return Long.toString(words[0].equals("create") ? create(number) : path(number));
  }

  @Override
  public void close() {
    cluster.shutdown(true);
  }

  private long create(int blocks) throws IOException {
    lockedNs();
    for (int i = 0; i < blocks; i++) {
      asked[i % asked.length] = block(TABLE + "/part-" + i + "-" + UUID.randomUUID() + ".parquet");
      if (service != null && (i + 1) % asked.length == 0) {
        for (int replica = 0; replica < REPLICATION; replica++) {
          ask();
        }
      }
    }
    long ns = lockedNs();
    nameNode.delete("/warehouse", true);
    return ns;
  }

  private long path(int length) throws IOException {
    StringBuilder path = new StringBuilder();
    while (path.length() < length) {
      int name = Math.min(NAME_CHARACTERS, length - path.length() - 1);
      path.append('/').append("a".repeat(Math.max(1, name)));
    }
    Arrays.fill(asked, block(path.toString()));
    long least = Long.MAX_VALUE;
    for (int i = 0; i < ASKED; i++) {
      long begin = System.nanoTime();
      ask();
      least = Math.min(least, (System.nanoTime() - begin) / asked.length);
    }
    nameNode.delete(path.substring(0, path.indexOf("/", 1)), true);
    return least;
  }

  /** A file that begins, with its first block. */
  private long block(String file) throws IOException {
    nameNode.create(
        file,
        FsPermission.getFileDefault(),
        CLIENT,
        new EnumSetWritable<>(EnumSet.of(CreateFlag.CREATE)),
        true,
        REPLICATION,
        BLOCK_BYTES,
        null,
        null,
        null);
    LocatedBlock block =
        nameNode.addBlock(file, CLIENT, null, null, 0, null, EnumSet.noneOf(AddBlockFlag.class));
    return block.getBlock().getBlockId();
  }

  private void ask() throws IOException {
    service.call(
        ReadPatternProtocolPB::readPatterns,
        out -> {
          ReadPatterns.writeQuestion(new ReadPatterns.Question(pool, asked), out);
          out.writeBoolean(true);
        },
        in -> ReadPatterns.readAnswer(asked.length, in));
  }

  /** Time in the namesystem's lock since this was last asked, for reading and for writing. */
  private long lockedNs() {
    MetricsCollectorImpl collector = new MetricsCollectorImpl();
    DefaultMetricsSystem.instance().getSource("FSNamesystem").getMetrics(collector, true);
    Map<String, Number> values = new HashMap<>();
    for (var record : collector.getRecords()) {
      for (AbstractMetric metric : record.metrics()) {
        values.put(metric.name(), metric.value());
      }
    }
    double ns = 0;
    for (String lock : new String[] {"FSNReadLockOverallNanos", "FSNWriteLockOverallNanos"}) {
      // The mean is over what was since the last time, the number since the start.
      long operations = values.get(lock + "NumOps").longValue();
      long before = lockOperations.getOrDefault(lock, 0L);
      ns += (operations - before) * values.get(lock + "AvgTime").doubleValue();
      lockOperations.put(lock, operations);
    }
    return Math.round(ns);
  }
}
