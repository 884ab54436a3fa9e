package org.hdfsmeld.datanode;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSUtil;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.VolumeChoosingPolicy;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RefreshResponse;
import org.apache.hadoop.ipc.protocolPB.GenericRefreshProtocolClientSideTranslatorPB;
import org.apache.hadoop.ipc.protocolPB.GenericRefreshProtocolPB;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.hdfsmeld.namenode.ReadPatternService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hints from the NameNodes' {@link ReadPatternService}.
 *
 * <p>A question waits for a bounded time. After one that failed or was not answered in time, none
 * is asked for a while: a NameNode without the service, or a slow one, costs no write anything.
 */
final class NameNodeHints implements HintSource {
  private static final Logger LOG = LoggerFactory.getLogger(NameNodeHints.class);
  private static final String POLICY_KEY = "dfs.datanode.fsdataset.volume.choosing.policy";
  private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(5);
  private static final int THREADS = 4;

  /** Puts a question to all NameNodes; the answer of the one that knows the block. */
  interface Asker {
    BlockHint ask(String pool, long blockId) throws IOException;
  }

  private final Asker asker;
  private final long timeoutNs;
  private final ExecutorService executor =
      Executors.newFixedThreadPool(
          THREADS,
          task -> {
            Thread thread = new Thread(task, "meld-hints");
            thread.setDaemon(true);
            return thread;
          });
  private volatile long silentUntilNs;
  private volatile boolean silent;

  NameNodeHints(Asker asker, long timeoutNs) {
    this.asker = asker;
    this.timeoutNs = timeoutNs;
  }

  /** Hints where the policy that uses them is configured; elsewhere none, which costs nothing. */
  static HintSource of(Configuration conf, PlacementConfiguration placement) {
    Class<?> policy = conf.getClass(POLICY_KEY, null, VolumeChoosingPolicy.class);
    if (policy != ContractVolumeChoosingPolicy.class || placement.hintTimeoutNs() == 0) {
      return NONE;
    }
    Configuration bounded = bounded(conf, placement.hintTimeoutNs());
    NameNodeHints hints =
        new NameNodeHints(
            (pool, blockId) -> askAll(bounded, pool, blockId), placement.hintTimeoutNs());
    hints.warmUp();
    return hints;
  }

  /** The first question takes long, for classes and a connection: nobody shall wait for it. */
  private void warmUp() {
    var unused =
        executor.submit(
            () -> {
              try {
                asker.ask("", 0);
              } catch (IOException | RuntimeException e) {
                LOG.debug("no hints from a NameNode yet", e);
              }
            });
  }

  @Override
  public BlockHint of(String pool, long blockId) {
    if (silent && System.nanoTime() - silentUntilNs < 0) {
      return BlockHint.NONE;
    }
    try {
      Future<BlockHint> answer = executor.submit(() -> asker.ask(pool, blockId));
      try {
        BlockHint hint = answer.get(timeoutNs, TimeUnit.NANOSECONDS);
        silent = false;
        return hint;
      } finally {
        answer.cancel(true);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      pause(e.getCause());
    } catch (TimeoutException | RejectedExecutionException e) {
      pause(e);
    }
    return BlockHint.NONE;
  }

  @Override
  public void ask(BlockKey block, Consumer<BlockHint> then) {
    try {
      var unused = executor.submit(() -> then.accept(of(block.pool(), block.id())));
    } catch (RejectedExecutionException e) {
      LOG.debug("closed before {} was asked for", block, e);
    }
  }

  private void pause(Throwable reason) {
    silentUntilNs = System.nanoTime() + PAUSE_NS;
    if (!silent) {
      silent = true;
      LOG.info(
          "No hint how new blocks will be read; going by their size. Is {} among the"
              + " dfs.namenode.plugins?",
          ReadPatternService.class.getName(),
          reason);
    }
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }

  private static Configuration bounded(Configuration conf, long timeoutNs) {
    Configuration bounded = new Configuration(conf);
    int timeoutMs = (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(timeoutNs));
    bounded.setInt("ipc.client.connect.max.retries", 0);
    bounded.setInt("ipc.client.connect.max.retries.on.timeouts", 0);
    bounded.setInt("ipc.client.connect.timeout", Math.max(1000, timeoutMs));
    return bounded;
  }

  private static BlockHint askAll(Configuration conf, String pool, long blockId)
      throws IOException {
    IOException failure = null;
    for (InetSocketAddress nameNode : nameNodes(conf)) {
      try (GenericRefreshProtocolClientSideTranslatorPB proxy = connect(conf, nameNode)) {
        for (RefreshResponse response :
            proxy.refresh(
                ReadPatternService.IDENTIFIER, new String[] {pool, Long.toString(blockId)})) {
          if (response.getReturnCode() == ReadPatternService.KNOWN) {
            return parse(response.getMessage());
          }
        }
      } catch (IOException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
    return BlockHint.NONE;
  }

  /** Reads an answer; what it cannot read says nothing. */
  static BlockHint parse(String message) {
    String[] words = message.trim().split(" ", -1);
    long bytes = 0;
    try {
      bytes = words.length > 1 ? Math.max(0, Long.parseLong(words[1])) : 0;
    } catch (NumberFormatException e) {
      // A service of another version.
    }
    return new BlockHint(
        ReadPattern.parse(words[0]).orElse(ReadPattern.UNKNOWN), bytes, 0, 0, BlockHint.NOBODY);
  }

  private static List<InetSocketAddress> nameNodes(Configuration conf) throws IOException {
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (Map<String, InetSocketAddress> service :
        DFSUtil.getNNServiceRpcAddressesForCluster(conf).values()) {
      addresses.addAll(service.values());
    }
    return addresses;
  }

  /** Cheap: proxies of one NameNode share a connection, which Hadoop keeps open between calls. */
  private static GenericRefreshProtocolClientSideTranslatorPB connect(
      Configuration conf, InetSocketAddress nameNode) throws IOException {
    RPC.setProtocolEngine(conf, GenericRefreshProtocolPB.class, ProtobufRpcEngine2.class);
    return new GenericRefreshProtocolClientSideTranslatorPB(
        RPC.getProxy(
            GenericRefreshProtocolPB.class,
            RPC.getProtocolVersion(GenericRefreshProtocolPB.class),
            nameNode,
            UserGroupInformation.getLoginUser(),
            conf,
            NetUtils.getDefaultSocketFactory(conf)));
  }
}
