package org.hdfsmeld.sim;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Commands for one {@link SimDevice#submitBatch}, in native memory so that nothing is copied or
 * converted on the way. Reusable; not thread-safe.
 */
public final class CommandBatch {
  /** The most commands in one batch: what a device keeps outstanding. */
  public static final int MAX_COMMANDS = 1024;

  private static final int COMMAND_BYTES = 40;

  private final ByteBuffer memory;
  private int size;

  /**
   * An empty batch.
   *
   * @param capacity commands it can hold, 1 to {@link #MAX_COMMANDS}
   */
  public CommandBatch(int capacity) {
    if (capacity < 1 || capacity > MAX_COMMANDS) {
      throw new IllegalArgumentException(
          "capacity " + capacity + " is outside 1 to " + MAX_COMMANDS);
    }
    memory = ByteBuffer.allocateDirect(capacity * COMMAND_BYTES).order(ByteOrder.nativeOrder());
  }

  /** Empties the batch. */
  public void clear() {
    size = 0;
  }

  /** Commands in the batch. */
  public int size() {
    return size;
  }

  /** Whether no further command fits. */
  public boolean isFull() {
    return size * COMMAND_BYTES == memory.capacity();
  }

  /**
   * Adds a command; arguments as of {@link SimDevice#submit}.
   *
   * @throws IllegalStateException when the batch is full
   */
  public void add(int opcode, int nsid, long slba, int nlb, int directive) {
    add(opcode, nsid, slba, nlb, directive, Directive.NO_DSM);
  }

  /**
   * Adds a command with a DSM field.
   *
   * @param dsm such as {@link Directive#DSM_SEQUENTIAL_READS}; of a write, which then needs no
   *     directive for it, or may carry that of a stream
   * @throws IllegalStateException when the batch is full
   */
  public void add(int opcode, int nsid, long slba, int nlb, int directive, int dsm) {
    if (isFull()) {
      throw new IllegalStateException("the batch holds " + size + " commands and is full");
    }
    int at = size * COMMAND_BYTES;
    memory.putInt(at, COMMAND_BYTES);
    memory.putInt(at + 4, opcode);
    memory.putInt(at + 8, nsid);
    memory.putInt(at + 12, nlb);
    memory.putLong(at + 16, slba);
    memory.putInt(at + 24, directive);
    memory.putInt(at + 28, dsm);
    // The submission queue that is always there, and a reserved field, stay 0.
    size++;
  }

  /** The commands as the C ABI lays them out. */
  ByteBuffer memory() {
    return memory;
  }
}
