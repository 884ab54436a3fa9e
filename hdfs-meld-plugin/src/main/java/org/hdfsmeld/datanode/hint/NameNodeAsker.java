package org.hdfsmeld.datanode.hint;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
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
 * Puts questions to the NameNodes' {@link org.hdfsmeld.namenode.ReadPatternService}, over
 * connections of a DataNode: who may connect as one may ask.
 *
 * <p>Of an HA pair the active one answers, of a federation the one whose pool it is. Who answered
 * last is asked first. For one thread.
 */
public final class NameNodeAsker implements NameNodeHints.Asker {
  private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(5);
  private static final int MIN_RPC_TIMEOUT_MS = 1000;

  private final Configuration conf;
  private final int timeoutMs;
  private final List<InetSocketAddress> nameNodes = new ArrayList<>();
  private final Map<InetSocketAddress, MeldRpc<ReadPatternProtocolPB>> connections =
      new HashMap<>();

  /**
   * Connects with the first question.
   *
   * @param timeoutMs longest wait for one NameNode
   */
  NameNodeAsker(Configuration conf, int timeoutMs) {
    this.conf = new Configuration(conf);
    this.timeoutMs = timeoutMs;
    this.conf.setInt("ipc.client.connect.max.retries", 0);
    this.conf.setInt("ipc.client.connect.max.retries.on.timeouts", 0);
    this.conf.setInt("ipc.client.connect.timeout", timeoutMs);
  }

  /** Hints from the NameNodes of the configuration, or from nobody where the timeout is 0. */
  public static HintSource of(Configuration conf, HintConfiguration config, String dataNodeUuid) {
    if (config.timeoutNs() == 0) {
      return HintSource.NONE;
    }
    int rpcTimeoutMs =
        (int)
            Math.min(
                Integer.MAX_VALUE,
                Math.max(MIN_RPC_TIMEOUT_MS, TimeUnit.NANOSECONDS.toMillis(config.timeoutNs())));
    return new NameNodeHints(new NameNodeAsker(conf, rpcTimeoutMs), config, dataNodeUuid, PAUSE_NS);
  }

  @Override
  public List<BlockHint> ask(String pool, List<Long> blockIds) throws IOException {
    if (nameNodes.isEmpty()) {
      for (Map<String, InetSocketAddress> service :
          DFSUtil.getNNServiceRpcAddressesForCluster(conf).values()) {
        nameNodes.addAll(service.values());
      }
    }
    IOException failure = null;
    List<BlockHint> answer = null;
    for (int i = 0; i < nameNodes.size(); i++) {
      InetSocketAddress nameNode = nameNodes.get(i);
      try {
        answer = ask(nameNode, pool, blockIds);
        if (answer.isEmpty() || answer.stream().anyMatch(hint -> hint.fileId() != 0)) {
          nameNodes.remove(i);
          nameNodes.add(0, nameNode);
          return answer;
        }
      } catch (StandbyException e) {
        failure = failure == null ? e : failure;
      } catch (IOException e) {
        failure = e;
        disconnect(nameNode);
      }
    }
    if (answer == null) {
      // Their addresses may have changed: found out anew for the next question.
      close();
      throw failure == null ? new IOException("no NameNode is configured") : failure;
    }
    return answer;
  }

  private List<BlockHint> ask(InetSocketAddress nameNode, String pool, List<Long> blockIds)
      throws IOException {
    MeldRpc<ReadPatternProtocolPB> connection = connections.get(nameNode);
    if (connection == null) {
      connection =
          new MeldRpc<>(
              conf, DatanodeProtocolPB.class, ReadPatternProtocolPB.class, nameNode, timeoutMs);
      connections.put(nameNode, connection);
    }
    long[] ids = blockIds.stream().mapToLong(Long::longValue).toArray();
    return connection.call(
        ReadPatternProtocolPB::readPatterns,
        out -> ReadPatterns.writeQuestion(new ReadPatterns.Question(pool, ids), out),
        in -> ReadPatterns.readAnswer(ids.length, in));
  }

  private void disconnect(InetSocketAddress nameNode) {
    MeldRpc<ReadPatternProtocolPB> connection = connections.remove(nameNode);
    if (connection != null) {
      connection.close();
    }
  }

  @Override
  public void close() {
    nameNodes.clear();
    connections.values().forEach(MeldRpc::close);
    connections.clear();
  }
}
