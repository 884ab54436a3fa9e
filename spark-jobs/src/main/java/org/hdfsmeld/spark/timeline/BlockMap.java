package org.hdfsmeld.spark.timeline;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/**
 * The blocks of one open file, or its block groups if it is erasure-coded. They are asked for once.
 */
final class BlockMap {
  private final Source source;
  private volatile List<LocatedBlock> blocks;

  BlockMap(Source source) {
    this.source = source;
  }

  /** Where the blocks are known. */
  interface Source {
    /** All blocks of the file, in order. */
    List<LocatedBlock> blocks() throws IOException;
  }

  /** Asks for the blocks unless that was done. */
  void load() throws IOException {
    if (blocks == null) {
      ask();
    }
  }

  private synchronized void ask() throws IOException {
    if (blocks == null) {
      List<LocatedBlock> found = List.of(); // If that fails, a later read does not ask again.
      try {
        found = source.blocks();
      } finally {
        blocks = found;
      }
    }
  }

  /** The block with that position of the file, or null. */
  LocatedBlock at(long position) {
    List<LocatedBlock> known = blocks == null ? List.of() : blocks;
    int low = 0;
    int high = known.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      LocatedBlock block = known.get(middle);
      if (position < block.getStartOffset()) {
        high = middle - 1;
      } else if (position >= block.getStartOffset() + block.getBlockSize()) {
        low = middle + 1;
      } else {
        return block;
      }
    }
    return null;
  }
}
