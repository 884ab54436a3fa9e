package org.hdfsmeld.datanode.layout;

import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.Directive;

/**
 * How the blocks of a volume are laid out. A block is decided on when it begins, and once more when
 * its hint comes late; its {@link BlockExtent} carries the decision.
 *
 * <p>The decision may leave it to the block's size. That is not known when a block is created, and
 * data cannot be melded after it has been programmed. So the device writes of such a block are
 * deferred until it is large enough, read, synced or closed. Nothing is held back but the commands:
 * the data is in the block's file already.
 */
public final class LayoutPolicy {
  private static final HintDecision OFF =
      new HintDecision(
          ReadPattern.NONE,
          HintDecision.Source.NONE,
          "no read pattern, and " + MeldKeys.HINT_FULL_BLOCK_SEQUENTIAL + " is false");

  private final Function<BlockHint, HintDecision> history;
  private final ToIntFunction<BlockHint> handles;
  private final long minBytes;
  private final int sequential;
  private final HintDecision fullBlock;
  private final HintDecision smallBlock;
  private volatile boolean fullBlockSequential;

  /**
   * A volume's policy.
   *
   * @param history decides, at once, where no attribute does; {@link HintDecision#BY_SIZE} where it
   *     knows too little
   * @param handles which reclaim unit handle a block belongs to; 0 where that is not known or the
   *     device has none
   * @param fullBlockSequential whether a block that goes by size is read sequentially once it is
   *     full-size
   * @param minBytes size past which a block counts as full-size
   * @param sequential the directive of blocks that are read sequentially
   */
  public LayoutPolicy(
      Function<BlockHint, HintDecision> history,
      ToIntFunction<BlockHint> handles,
      boolean fullBlockSequential,
      long minBytes,
      int sequential) {
    this.history = history;
    this.handles = handles;
    this.fullBlockSequential = fullBlockSequential;
    this.minBytes = minBytes;
    this.sequential = sequential;
    this.fullBlock =
        new HintDecision(
            ReadPattern.SEQUENTIAL,
            HintDecision.Source.FULL_BLOCK,
            "no read pattern, and more than " + minBytes + " bytes");
    this.smallBlock =
        new HintDecision(
            ReadPattern.NONE,
            HintDecision.Source.NONE,
            "no read pattern, and at most " + minBytes + " bytes");
  }

  public boolean isFullBlockSequential() {
    return fullBlockSequential;
  }

  public void setFullBlockSequential(boolean enabled) {
    fullBlockSequential = enabled;
  }

  /**
   * Decides on a block: its attribute, but for the value {@code auto}; then the history of reads.
   */
  public HintDecision decide(BlockHint hint) {
    HintDecision explicit = HintDecision.of(hint);
    // Of what is not known the history is not asked: streams may be opened under HDFS's locks.
    if (explicit.pattern() != ReadPattern.AUTO || !hint.isKnown()) {
      return explicit;
    }
    HintDecision read = history.apply(hint);
    return read.pattern() == ReadPattern.AUTO ? explicit : read;
  }

  /** What a decision comes to for a block of this length: nothing is left open. */
  HintDecision atSize(HintDecision decision, long blockBytes) {
    if (decision.pattern() != ReadPattern.AUTO) {
      return decision;
    }
    if (!fullBlockSequential) {
      return OFF;
    }
    return blockBytes > minBytes ? fullBlock : smallBlock;
  }

  /** Whether a block of this length is too short to know how it should be written. */
  boolean defers(HintDecision decision, long blockBytes) {
    return decision.pattern() == ReadPattern.AUTO && fullBlockSequential && blockBytes <= minBytes;
  }

  /** The reclaim unit handle that a block belongs to, 0 for none in particular. */
  int handle(BlockHint hint) {
    return hint.isKnown() ? handles.applyAsInt(hint) : 0;
  }

  /**
   * The directive of a write, which has one: of the handle if there is one, or else of a decision
   * that leaves nothing open.
   */
  int directive(int handle, HintDecision decision) {
    if (handle > 0) {
      return Directive.placement(handle);
    }
    return decision.pattern() == ReadPattern.SEQUENTIAL ? sequential : Directive.NONE;
  }
}
