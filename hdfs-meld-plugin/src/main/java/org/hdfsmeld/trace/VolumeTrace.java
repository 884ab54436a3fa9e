package org.hdfsmeld.trace;

import org.hdfsmeld.record.RecordRing;

/** Where a volume's block I/O is recorded, while a trace is. Costs one volatile read otherwise. */
public final class VolumeTrace {
  private final BlockTrace trace;
  private final int volume;

  VolumeTrace(BlockTrace trace, int volume) {
    this.trace = trace;
    this.volume = volume;
  }

  /** Whether records go anywhere; before work that only they need. */
  public boolean isRecording() {
    return trace.ring() != null;
  }

  /** The volume has left the DataNode: the headers of later traces do not mention it. */
  public void left() {
    trace.left(volume);
  }

  /**
   * Records an I/O that the device took just now. Never blocks, never throws, allocates nothing.
   *
   * @param pool a hash of the block's pool
   * @param directory inode of the directory of its file, 0 when that is not known
   * @param offset first byte in the block; the new length with {@link TraceOp#TRUNCATE}
   * @param length bytes; 0 with operations on the whole block
   * @param pattern how the block is said to be read, by the simulator's number: 0 not, 1
   *     sequentially, 2 at random
   */
  public void record(
      TraceOp op,
      int pool,
      long block,
      long directory,
      long offset,
      int length,
      int pattern,
      ClientKind client) {
    RecordRing ring = trace.ring();
    if (ring != null) {
      ring.add(
          System.nanoTime(),
          block,
          offset,
          TraceWriter.poolAndLength(pool, length),
          TraceWriter.kind(volume, op, pattern, client),
          directory,
          0);
    }
  }
}
