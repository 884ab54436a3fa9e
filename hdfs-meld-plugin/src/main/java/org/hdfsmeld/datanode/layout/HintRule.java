package org.hdfsmeld.datanode.layout;

import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.Directive;

/**
 * From decisions to directives. Where the decision leaves it open, a block that grows past {@code
 * minBytes} is full-size and will be read sequentially.
 *
 * <p>A block's size is not known when it is created, and data cannot be melded after it has been
 * programmed. So the device writes of a block that goes by size are deferred until it is large
 * enough, synced or closed. Nothing is held back but the commands: the data is in the block's file
 * already.
 */
public final class HintRule {
  private static final HintDecision OFF =
      new HintDecision(
          ReadPattern.NONE,
          HintDecision.Source.NONE,
          "no read pattern, and " + MeldKeys.HINT_FULL_BLOCK_SEQUENTIAL + " is false");

  private final long minBytes;
  private final int sequential;
  private final HintDecision fullBlock;
  private final HintDecision smallBlock;
  private volatile boolean enabled;

  /**
   * The rule.
   *
   * @param enabled whether large blocks that nobody has decided on get the directive
   * @param minBytes size past which a block counts as full-size
   * @param expectedReadBytes what a sequential reader keeps requested
   */
  public HintRule(boolean enabled, long minBytes, long expectedReadBytes) {
    this.enabled = enabled;
    this.minBytes = minBytes;
    this.sequential = Directive.sequential(expectedReadBytes);
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

  public boolean isEnabled() {
    return enabled;
  }

  public void setEnabled(boolean enabled) {
    this.enabled = enabled;
  }

  /** Whether a block of this length is too short to know how it should be written. */
  public boolean defers(HintDecision decision, long blockBytes) {
    return decision.pattern() == ReadPattern.AUTO && enabled && blockBytes <= minBytes;
  }

  /** The decision for a block of this length, in which nothing is left open. */
  public HintDecision settle(HintDecision decision, long blockBytes) {
    if (decision.pattern() != ReadPattern.AUTO) {
      return decision;
    }
    if (!enabled) {
      return OFF;
    }
    return blockBytes > minBytes ? fullBlock : smallBlock;
  }

  /** The directive that a settled decision stands for. */
  public int directive(HintDecision settled) {
    return settled.pattern() == ReadPattern.SEQUENTIAL ? sequential : Directive.NONE;
  }
}
