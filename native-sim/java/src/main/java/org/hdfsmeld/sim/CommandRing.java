package org.hdfsmeld.sim;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The memory that a device shares with the simulator: commands are put in and seen to be done
 * without a call. {@code docs/reference/c-abi.md} has each word of it.
 *
 * <p>Any thread puts in: it {@link #claim claims} a position, has that position's slot for itself,
 * and {@link #publish publishes}. One thread runs the device, by {@link SimDevice#runRing}. A
 * command's ticket is its position plus one; its slot is that of the next ticket {@value #SLOTS}
 * commands later. Nothing here waits or allocates.
 */
public final class CommandRing {
  /** Entries that are put in and not taken. */
  public static final int ENTRIES = 4096;

  /** Tickets that are known. */
  public static final int SLOTS = 2 * ENTRIES;

  /** Opcode of data that is placed as if long since written. */
  public static final int PRELOAD = 256;

  /** Opcode of a wait in account mode: time moves until the ticket is done. */
  public static final int WAIT = 257;

  /** {@link #dueNs} when nothing is scheduled. */
  public static final long NEVER = Long.MAX_VALUE;

  static final int LINE = 64;
  private static final int COMMAND_BYTES = 40;

  // Of the header, in bytes.
  private static final int TAIL = 0;
  private static final int HEAD = LINE;
  static final int FULL = 2 * LINE;
  static final int DUE = FULL + 8;
  static final int POSTED = FULL + 16;
  static final int POSTS = 4 * LINE;
  private static final int POSTS_MAX = 64;
  private static final int HEADER = POSTS + 16 * POSTS_MAX;

  // Of an entry: a command of the C ABI, then these.
  private static final int FLAGS = COMMAND_BYTES;
  private static final int AWAITED = 48;
  private static final int TURN = 56;

  // Of a slot; what is behind the waiter is the caller's own.
  private static final int STATE = 0;
  private static final int OUTCOME = 8;
  static final int WAITER = 16;
  private static final int OPCODE = 24;
  private static final int OPCODE_BITS = 16;
  private static final int SLBA = 32;

  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(HEADER + LINE * (ENTRIES + SLOTS + 1))
          .alignedSlice(LINE)
          .order(ByteOrder.nativeOrder());

  public CommandRing() {
    for (int at = 0; at < ENTRIES; at++) {
      memory.putLong(entry(at) + TURN, at);
    }
  }

  static int entry(long position) {
    return HEADER + LINE * (int) (position % ENTRIES);
  }

  static int slotAt(long ticket) {
    return HEADER + LINE * (ENTRIES + slot(ticket));
  }

  private long acquire(int at) {
    return (long) WORDS.getAcquire(memory, at);
  }

  public static int slot(long ticket) {
    return (int) ((ticket - 1) % SLOTS);
  }

  /**
   * Claims the next position for an entry; below 0 when there is no room. A ticket that had the
   * entry's slot before is given up: a caller that never comes for one must not stop the others.
   */
  public long claim() {
    while (true) {
      long at = acquire(TAIL);
      long turn = acquire(entry(at) + TURN);
      if (turn < at) {
        return -1;
      }
      if (turn == at && WORDS.compareAndSet(memory, TAIL, at, at + 1)) {
        return at;
      }
      Thread.onSpinWait();
    }
  }

  /**
   * Puts in a command at a position that was claimed.
   *
   * @param slba its first logical block; of a {@link #WAIT}, the ticket that it is for
   * @param detached whether nobody will wait for it
   */
  public void publish(
      long position, int opcode, int nsid, long slba, int nlb, int directive, boolean detached) {
    long ticket = position + 1;
    int slot = slotAt(ticket);
    memory.putLong(slot + WAITER, 0);
    memory.putLong(slot + OPCODE, ticket << OPCODE_BITS | opcode);
    memory.putLong(slot + SLBA, slba);
    // Of what nobody waits for it is seen too whether the device has done it.
    if (opcode < PRELOAD) {
      WORDS.setRelease(memory, slot + STATE, pending(ticket));
    }
    int at = entry(position);
    memory.putInt(at, COMMAND_BYTES);
    memory.putInt(at + 4, opcode);
    memory.putInt(at + 8, nsid);
    memory.putInt(at + 12, nlb);
    memory.putLong(at + 16, slba);
    memory.putInt(at + 24, directive);
    memory.putInt(at + 28, 0);
    memory.putLong(at + 32, 0);
    memory.putLong(at + FLAGS, detached ? LibMeldsim.FLAG_DETACHED : 0);
    memory.putLong(at + AWAITED, opcode == WAIT ? slba : 0);
    // Who puts in sees that the device's thread sleeps, or is seen by it.
    WORDS.setVolatile(memory, at + TURN, ticket);
  }

  /** Positions claimed so far. */
  public long claimed() {
    return acquire(TAIL);
  }

  /** Entries taken so far. */
  public long taken() {
    return acquire(HEAD);
  }

  /** Whether there is an entry to take. */
  public boolean isReady() {
    long head = taken();
    return (long) WORDS.getVolatile(memory, entry(head) + TURN) == head + 1;
  }

  /** Takes an entry out that nobody performs. By the device's thread. */
  public void skip() {
    long head = taken();
    WORDS.setRelease(memory, entry(head) + TURN, head + ENTRIES);
    WORDS.setRelease(memory, HEAD, head + 1);
  }

  private static long pending(long ticket) {
    return ticket << 1;
  }

  private static long done(long ticket) {
    return ticket << 1 | 1;
  }

  /** Whether a ticket's command is not done, and not given up. */
  public boolean isPending(long ticket) {
    // In one order with sleeps: who sleeps has seen this after it, or is seen and woken.
    return (long) WORDS.getVolatile(memory, slotAt(ticket) + STATE) == pending(ticket);
  }

  /** A thread sleeps until the ticket is done, if it still {@link #isPending} after this. */
  public void sleeps(long ticket) {
    WORDS.setVolatile(memory, slotAt(ticket) + WAITER, 1L);
  }

  /** Nobody waits for the ticket any more. */
  public void end(long ticket) {
    WORDS.compareAndSet(memory, slotAt(ticket) + STATE, pending(ticket), done(ticket));
  }

  /** The ticket that has a slot, 0 for none, when it is pending; else a number below 0. */
  public long pendingIn(int slot) {
    long state = acquire(HEADER + LINE * (ENTRIES + slot) + STATE);
    return (state & 1) == 0 ? state >>> 1 : -1;
  }

  /** What a ticket's command took, in simulated picoseconds, when it is done. */
  public long latencyPs(long ticket) {
    return memory.getLong(slotAt(ticket) + OUTCOME);
  }

  /** Whether a ticket has its slot still. */
  public boolean isKnown(long ticket) {
    return memory.getLong(slotAt(ticket) + OPCODE) >>> OPCODE_BITS == ticket;
  }

  public int opcode(long ticket) {
    return (int) memory.getLong(slotAt(ticket) + OPCODE) & (1 << OPCODE_BITS) - 1;
  }

  public long slba(long ticket) {
    return memory.getLong(slotAt(ticket) + SLBA);
  }

  /** Whether the device has no room for the next entry. */
  public boolean isFull() {
    return memory.getLong(FULL) != 0;
  }

  /** When the device goes on, by {@link System#nanoTime}; {@link #NEVER} when nothing is due. */
  public long dueNs() {
    return acquire(DUE);
  }

  /** How many outcomes the last {@link SimDevice#runRing} has posted, once. */
  public int takePosted() {
    int posted = (int) Math.max(0, Math.min(POSTS_MAX, memory.getLong(POSTED)));
    memory.putLong(POSTED, 0);
    return posted;
  }

  public long postedTicket(int index) {
    return memory.getLong(POSTS + 16 * index);
  }

  /** An outcome: a latency in simulated picoseconds, or a status below 0. */
  public long outcome(int index) {
    return memory.getLong(POSTS + 16 * index + 8);
  }

  ByteBuffer memory() {
    return memory;
  }
}
