package org.hdfsmeld.datanode.hint;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSUtil;
import org.apache.hadoop.hdfs.protocolPB.DatanodeProtocolPB;
import org.apache.hadoop.ipc.StandbyException;
import org.hdfsmeld.datanode.config.HintConfiguration;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.rpc.MeldRpc;
import org.hdfsmeld.rpc.ReadPatternProtocolPB;
import org.hdfsmeld.rpc.ReadPatterns;

/**
 * Puts questions about the blocks of one pool to its NameNodes' {@code ReadPatternService}, over
 * connections of a DataNode: who may connect as one may ask.
 *
 * <p>Of a federation all nameservices are asked until one knows a block; from then on that one
 * alone. "Not mine" is no answer: until the pool's nameservice is known, a question fails with any
 * nameservice that does. Of an HA pair the active NameNode answers. Who answered last is asked
 * first. For one thread.
 */
public final class NameNodeAsker implements NameNodeHints.Asker {
  private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(5);
  private static final int MIN_RPC_TIMEOUT_MS = 1000;

  private final Supplier<Configuration> source;
  private final String pool;
  private final int timeoutMs;
  private final boolean kinds;

  /** As of when the addresses were looked up: nameservices may be added. */
  private Configuration conf;

  /** Addresses of the NameNodes by nameservice; of the pool's alone once it is known. */
  private final Map<String, List<InetSocketAddress>> nameservices = new LinkedHashMap<>();

  /** The pool's nameservice; null while it is not known. */
  private String owner;

  /** Connects with the first question, as the DataNode is configured then. */
  NameNodeAsker(Supplier<Configuration> source, String pool, int timeoutMs, boolean kinds) {
    this.source = source;
    this.pool = pool;
    this.timeoutMs = timeoutMs;
    this.kinds = kinds;
  }

  /** Hints from the NameNodes of the configuration, or from nobody where the timeout is 0. */
  public static HintSource of(
      Supplier<Configuration> conf, HintConfiguration config, boolean kinds, String dataNodeUuid) {
    if (config.timeoutNs() == 0) {
      return HintSource.NONE;
    }
    long timeoutMs = TimeUnit.NANOSECONDS.toMillis(config.timeoutNs());
    int rpcTimeoutMs = (int) Math.min(Integer.MAX_VALUE, Math.max(MIN_RPC_TIMEOUT_MS, timeoutMs));
    return new FederatedHints(
        pool ->
            new NameNodeHints(new NameNodeAsker(conf, pool, rpcTimeoutMs, kinds), config, PAUSE_NS),
        dataNodeUuid);
  }

  @Override
  public List<BlockHint> ask(List<Long> blockIds) throws IOException {
    if (nameservices.isEmpty()) {
      conf = new Configuration(source.get());
      conf.setInt("ipc.client.connect.max.retries", 0);
      conf.setInt("ipc.client.connect.max.retries.on.timeouts", 0);
      conf.setInt("ipc.client.connect.timeout", timeoutMs);
      // Without federation the only nameservice has no name.
      DFSUtil.getNNServiceRpcAddressesForCluster(conf)
          .forEach((id, nodes) -> nameservices.put("" + id, new ArrayList<>(nodes.values())));
      nameservices.keySet().removeIf(id -> owner != null && !owner.equals(id));
    }
    IOException failure = null;
    List<BlockHint> unknown = null;
    for (String nameservice : List.copyOf(nameservices.keySet())) {
      try {
        List<BlockHint> answer = askActive(nameservices.get(nameservice), blockIds);
        // One of an older plugin knows no block of a pool that is not its own.
        if (answer.stream().anyMatch(BlockHint::isKnown)) {
          owner = nameservice;
          nameservices.keySet().retainAll(List.of(owner));
          return answer;
        }
        unknown = answer;
      } catch (IOException e) {
        failure =
            failure == null || failure instanceof ReadPatterns.NotMyPoolException ? e : failure;
        // Asked last the next time.
        nameservices.put(nameservice, nameservices.remove(nameservice));
      }
    }
    boolean missed = failure != null && !(failure instanceof ReadPatterns.NotMyPoolException);
    if (unknown != null && (blockIds.isEmpty() || !missed)) {
      return unknown;
    }
    // Their addresses may have changed: found out anew for the next question.
    nameservices.clear();
    throw failure == null ? new IOException("no NameNode is configured") : failure;
  }

  private List<BlockHint> askActive(List<InetSocketAddress> nameNodes, List<Long> blockIds)
      throws IOException {
    IOException failure = null;
    for (InetSocketAddress nameNode : List.copyOf(nameNodes)) {
      try {
        List<BlockHint> answer = ask(nameNode, blockIds);
        nameNodes.remove(nameNode);
        nameNodes.add(0, nameNode);
        return answer;
      } catch (ReadPatterns.NotMyPoolException e) {
        throw e;
      } catch (IOException e) {
        failure = failure == null || !(e instanceof StandbyException) ? e : failure;
      }
    }
    throw failure == null ? new IOException("no NameNode is configured") : failure;
  }

  /** Hadoop's client keeps the connection. */
  private List<BlockHint> ask(InetSocketAddress nameNode, List<Long> blockIds) throws IOException {
    long[] ids = blockIds.stream().mapToLong(Long::longValue).toArray();
    try (MeldRpc<ReadPatternProtocolPB> rpc =
        new MeldRpc<>(
            conf, DatanodeProtocolPB.class, ReadPatternProtocolPB.class, nameNode, timeoutMs)) {
      return rpc.call(
          ReadPatternProtocolPB::readPatterns,
          out -> {
            ReadPatterns.writeQuestion(new ReadPatterns.Question(pool, ids), out);
            out.writeBoolean(kinds);
          },
          in -> ReadPatterns.readAnswer(ids.length, in));
    }
  }
}
