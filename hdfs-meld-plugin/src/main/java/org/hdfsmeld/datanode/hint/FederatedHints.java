package org.hdfsmeld.datanode.hint;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.Publisher;
import org.hdfsmeld.datanode.metrics.SimMetricsSource;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;

/**
 * Hints of all block pools of a DataNode. Each pool has a line, a breaker and a cache of its own,
 * so a nameservice that is down keeps no block of another one waiting.
 */
final class FederatedHints implements HintSource {
  private final Map<String, NameNodeHints> pools = new ConcurrentHashMap<>();
  private final Function<String, NameNodeHints> ofPool;
  private final Publisher metrics;
  private volatile boolean closed;

  /** Asks nobody yet; {@code ofPool} makes the hints of a block pool. */
  FederatedHints(Function<String, NameNodeHints> ofPool, String dataNodeUuid) {
    this.ofPool = ofPool;
    this.metrics =
        Publisher.ofSource(
            "MeldHints-" + dataNodeUuid,
            "Hints how blocks will be read",
            (collector, all) ->
                SimMetricsSource.addCounters(
                    collector.addRecord("MeldHints").setContext("dfs"), counters()));
  }

  private NameNodeHints pool(String pool) {
    NameNodeHints hints = pools.computeIfAbsent(pool, ofPool);
    if (closed) {
      hints.close();
    }
    return hints;
  }

  @Override
  public void serve(String pool) {
    pool(pool);
  }

  @Override
  public BlockHint of(String pool, long blockId) {
    return pool(pool).of(pool, blockId);
  }

  @Override
  public BlockHint known(BlockKey block) {
    return pool(block.pool()).known(block);
  }

  @Override
  public void ask(BlockKey block, Consumer<BlockHint> then) {
    pool(block.pool()).ask(block, then);
  }

  @Override
  public void renew(BlockKey block, Consumer<BlockHint> then) {
    pool(block.pool()).renew(block, then);
  }

  @Override
  public void forget(BlockKey block, Consumer<BlockHint> then) {
    pool(block.pool()).forget(block, then);
  }

  /** The sums over the pools: {@code breaker_open} counts those whose blocks wait for no hint. */
  @Override
  public Map<String, Long> counters() {
    Map<String, Long> sums = new Counters<>(NameNodeHints.HintCounter.class).values();
    sums.put("breaker_open", 0L);
    pools
        .values()
        .forEach(hints -> hints.counters().forEach((k, v) -> sums.merge(k, v, Long::sum)));
    return sums;
  }

  @Override
  public void close() {
    closed = true;
    metrics.close();
    pools.values().forEach(NameNodeHints::close);
  }
}
