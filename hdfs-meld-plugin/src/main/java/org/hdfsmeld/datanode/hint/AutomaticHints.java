package org.hdfsmeld.datanode.hint;

import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;

/** Decides how a block will be read where no attribute says it. */
public interface AutomaticHints {
  /** Leaves it to the block's size. */
  AutomaticHints BY_SIZE = (block, hint) -> HintDecision.BY_SIZE;

  /**
   * Decides at once: neither waits nor does I/O. Called once for a block that begins, and once more
   * when its hint comes late.
   *
   * @param block the block
   * @param hint what is known of the block; {@link BlockHint#NONE} when the NameNode did not answer
   */
  HintDecision decide(BlockKey block, BlockHint hint);
}
