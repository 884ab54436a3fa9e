package org.hdfsmeld.datanode.hint;

import java.util.Map;
import java.util.function.Consumer;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;

/** The decisions of a DataNode how its blocks will be read. */
public final class BlockHints implements AutoCloseable {
  /** Every block by its size. */
  public static final BlockHints BY_SIZE = new BlockHints(HintSource.NONE, AutomaticHints.BY_SIZE);

  private final HintSource source;
  private final AutomaticHints automatic;

  public BlockHints(HintSource source, AutomaticHints automatic) {
    this.source = source;
    this.automatic = automatic;
  }

  /** The same, but that {@code first} is asked before the automatic rule. */
  public BlockHints after(AutomaticHints first) {
    return new BlockHints(
        source,
        (block, hint) -> {
          HintDecision decision = first.decide(block, hint);
          return decision.pattern() == ReadPattern.AUTO ? automatic.decide(block, hint) : decision;
        });
  }

  /** What is known of a block that is about to be created. Waits for a bounded time. */
  public BlockHint of(String pool, long blockId) {
    return source.of(pool, blockId);
  }

  /** What is known without asking; see {@link HintSource#known}. */
  public BlockHint known(BlockKey block) {
    return source.known(block);
  }

  /** Asks without waiting; see {@link HintSource#ask}. */
  public void ask(BlockKey block, Consumer<BlockHint> then) {
    source.ask(block, then);
  }

  /** Takes a question back; see {@link HintSource#forget}. */
  public void forget(BlockKey block, Consumer<BlockHint> then) {
    source.forget(block, then);
  }

  /** What the source counts. */
  public Map<String, Long> counters() {
    return source.counters();
  }

  /** An attribute decides, but for the value {@code auto}; then the automatic rule. */
  public HintDecision decide(BlockKey block, BlockHint hint) {
    return switch (hint.pattern()) {
      case SEQUENTIAL, RANDOM, NONE -> HintDecision.explicit(hint);
      case AUTO, UNKNOWN -> {
        HintDecision decision = automatic.decide(block, hint);
        boolean tell = hint.isInvalid() && decision.pattern() == ReadPattern.AUTO;
        yield tell ? HintDecision.invalid(hint) : decision;
      }
    };
  }

  @Override
  public void close() {
    source.close();
  }
}
