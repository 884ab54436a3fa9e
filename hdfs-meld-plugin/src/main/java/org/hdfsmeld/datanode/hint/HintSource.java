package org.hdfsmeld.datanode.hint;

import java.util.Map;
import java.util.function.Consumer;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;

/** Whoever knows how blocks will be read. Nothing here throws. */
public interface HintSource extends AutoCloseable {
  /** Knows of no block. */
  HintSource NONE =
      new HintSource() {
        @Override
        public BlockHint of(String pool, long blockId) {
          return BlockHint.NONE;
        }

        @Override
        public void ask(BlockKey block, Consumer<BlockHint> then) {}
      };

  /** Blocks of this pool will be asked about. */
  default void serve(String pool) {}

  /**
   * The hint of a block of which a replica is about to be made, as of now: what was kept of it
   * counts only where nobody answers. May wait, for a bounded time.
   */
  BlockHint of(String pool, long blockId);

  /** What is known of the block; null where somebody would have to be asked. */
  default BlockHint known(BlockKey block) {
    return BlockHint.NONE;
  }

  /**
   * Asks without waiting.
   *
   * @param then gets the hint: at once, on this thread, when it is known already; later and on
   *     another thread otherwise; never when nobody knows
   */
  void ask(BlockKey block, Consumer<BlockHint> then);

  /** Asks as {@link #ask} does, whatever is kept: the block's path may have changed since. */
  default void renew(BlockKey block, Consumer<BlockHint> then) {
    ask(block, then);
  }

  /**
   * The block is gone: takes back a question that was not answered yet, so that it takes no room.
   * {@code then} equals what {@link #ask} was given.
   */
  default void forget(BlockKey block, Consumer<BlockHint> then) {}

  /** What it counts; empty where it asks nobody. */
  default Map<String, Long> counters() {
    return Map.of();
  }

  @Override
  default void close() {}
}
