package org.hdfsmeld.datanode;

/** Whoever knows how a new block will be read. */
public interface HintSource extends AutoCloseable {
  /** Knows of no block. */
  HintSource NONE = (pool, blockId) -> BlockHint.NONE;

  /** The hint of a block that is about to be created. Bounded in time; never throws. */
  BlockHint of(String pool, long blockId);

  @Override
  default void close() {}
}
