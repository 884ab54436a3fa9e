package org.hdfsmeld.datanode;

import org.hdfsmeld.sim.Directive;

/**
 * The automatic hint: a block that grows past {@code minBytes} is full-size and will be read
 * sequentially.
 *
 * <p>A block's size is not known when it is created, and data cannot be melded after it has been
 * programmed. So the device writes of a block are deferred until it is large enough, synced or
 * closed. Nothing is held back but the commands: the data is in the block's file already.
 */
final class HintRule {
  private final long minBytes;
  private final int sequential;
  private volatile boolean enabled;

  /**
   * The rule.
   *
   * @param enabled whether large blocks get the directive
   * @param minBytes size past which a block counts as full-size
   * @param expectedReadBytes what a sequential reader keeps requested
   */
  HintRule(boolean enabled, long minBytes, long expectedReadBytes) {
    this.enabled = enabled;
    this.minBytes = minBytes;
    this.sequential = Directive.sequential(expectedReadBytes);
  }

  boolean isEnabled() {
    return enabled;
  }

  void setEnabled(boolean enabled) {
    this.enabled = enabled;
  }

  /** Whether a block of this length is too short to know how it should be written. */
  boolean defers(long blockBytes) {
    return enabled && blockBytes <= minBytes;
  }

  /** The directive for writes of a block that has this length. */
  int directive(long blockBytes) {
    return enabled && blockBytes > minBytes ? sequential : Directive.NONE;
  }
}
