package org.hdfsmeld.sim;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What one {@link SimDevice#reap} took from a device's completion queue, in native memory so that
 * nothing is copied or converted on the way. Reusable; not thread-safe.
 */
public final class Completions {
  /** The most in one call. */
  public static final int MAX = 64;

  /** {@link #dueNs} when nothing is scheduled. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final int PAIR_BYTES = 16;

  /** The time until more may follow, then a ticket and an outcome for each. */
  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(Long.BYTES + MAX * PAIR_BYTES).order(ByteOrder.nativeOrder());

  /** 0 until it is asked for: JNA must not be used before {@link NativeLoader} has prepared it. */
  private long address;

  /** Wall nanoseconds until more may follow, or {@link #NEVER}. */
  public long dueNs() {
    long ns = memory.getLong(0);
    return ns < 0 ? NEVER : ns;
  }

  /** The ticket of {@link SimDevice#post} that is done. */
  public long ticket(int index) {
    return memory.getLong(Long.BYTES + index * PAIR_BYTES);
  }

  /** Its latency in simulated picoseconds, or a status below 0. */
  public long outcome(int index) {
    return memory.getLong(2 * Long.BYTES + index * PAIR_BYTES);
  }

  /** For devices that are not the library's: sets {@link #dueNs}. */
  public void due(long ns) {
    memory.putLong(0, ns);
  }

  /** For devices that are not the library's: sets one. */
  public void set(int index, long ticket, long outcome) {
    memory.putLong(Long.BYTES + index * PAIR_BYTES, ticket);
    memory.putLong(2 * Long.BYTES + index * PAIR_BYTES, outcome);
  }

  /** Where the library puts the time. */
  long dueAddress() {
    if (address == 0) {
      address = Pointer.nativeValue(Native.getDirectBufferPointer(memory));
    }
    return address;
  }

  /** Where the library puts tickets and outcomes. */
  long pairsAddress() {
    return dueAddress() + Long.BYTES;
  }
}
