package org.hdfsmeld.datanode.device;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.hdfsmeld.datanode.device.CommandQueue.Origin;

/**
 * The tickets of a device's commands: who awaits them, and what the simulator holds for them.
 *
 * <p>A ticket is a number in its upper half, and has the slot of that number. There are {@value
 * #SLOTS} slots, which take 3 MiB: a ticket given out before so many others loses its own. To give
 * one out allocates nothing.
 *
 * <p>Any thread may await a ticket. What is held is the device's thread's alone.
 */
final class Tickets {
  private static final int SLOTS = 1 << 16;

  /** No slot. */
  static final int NONE = -1;

  /** In a ticket's lower half, which is 0 while its command is pending. */
  private static final long DONE = 1;

  private int last;

  /** By slot: the ticket, pending or done. */
  private final AtomicLongArray states = new AtomicLongArray(SLOTS);

  /** By slot: the thread that awaits the ticket. */
  private final AtomicReferenceArray<Thread> waiters = new AtomicReferenceArray<>(SLOTS);

  // By slot: the ticket whose command the simulator has, 0 for none; the simulator's ticket; and
  // what is said of a failure, to whom.
  private final long[] held = new long[SLOTS];
  private final long[] simulators = new long[SLOTS];
  private final Origin[] origins = new Origin[SLOTS];
  private final WrittenExtent[] extents = new WrittenExtent[SLOTS];
  private final int[] opcodes = new int[SLOTS];
  private final long[] slbas = new long[SLOTS];

  /** Slots by the lower halves of the simulator's tickets, which count up from 1. */
  private int[] slots = new int[1024];

  /** A new ticket. By one thread at a time. */
  long issue() {
    last = last == Integer.MAX_VALUE ? 1 : last + 1;
    long ticket = (long) last << Integer.SIZE;
    states.set(slot(ticket), ticket);
    return ticket;
  }

  /**
   * Waits until a ticket is done.
   *
   * @return whether it is; false after {@code timeoutNs}, or when the thread is interrupted
   */
  boolean await(long ticket, long timeoutNs) {
    int slot = slot(ticket);
    if (isDone(ticket)) {
      return true;
    }
    waiters.set(slot, Thread.currentThread());
    long begin = System.nanoTime();
    long left = timeoutNs;
    while (!isDone(ticket) && left > 0 && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(this, left);
      left = timeoutNs - (System.nanoTime() - begin);
    }
    waiters.set(slot, null);
    return isDone(ticket);
  }

  private boolean isDone(long ticket) {
    return states.get(slot(ticket)) != ticket;
  }

  /** Who awaits the ticket goes on. Does nothing for that of a detached command. */
  void complete(long ticket) {
    int slot = slot(ticket);
    if (ticket != TicketedIo.NOTHING && states.compareAndSet(slot, ticket, ticket | DONE)) {
      LockSupport.unpark(waiters.get(slot));
    }
  }

  /**
   * The simulator has the command of a ticket. Its slot must be free.
   *
   * @param simulator the simulator's ticket
   */
  void hold(
      long ticket, long simulator, Origin origin, WrittenExtent extent, int opcode, long slba) {
    int slot = slot(ticket);
    held[slot] = ticket;
    simulators[slot] = simulator;
    origins[slot] = origin;
    extents[slot] = extent;
    opcodes[slot] = opcode;
    slbas[slot] = slba;
    int index = index(simulator);
    if (index >= slots.length && index <= 2 * SLOTS) {
      slots = Arrays.copyOf(slots, Math.max(2 * slots.length, index + 1));
    }
    if (index < slots.length) {
      slots[index] = slot;
    }
  }

  /** The slot of a ticket, whatever is held there. */
  static int slot(long ticket) {
    return (int) (ticket >>> Integer.SIZE) % SLOTS;
  }

  /** The slot in which a ticket is held; {@link #NONE} when it is not. */
  int find(long ticket) {
    int slot = slot(ticket);
    return held[slot] == ticket ? slot : NONE;
  }

  /** The slot in which a ticket of the simulator is held; {@link #NONE} when it is not. */
  int findSimulators(long simulator) {
    int index = index(simulator);
    int slot = index < slots.length ? slots[index] : 0;
    return isHeld(slot) && simulators[slot] == simulator ? slot : NONE;
  }

  private static int index(long simulator) {
    return (int) simulator & Integer.MAX_VALUE;
  }

  boolean isHeld(int slot) {
    return held[slot] != 0;
  }

  /** The simulator's ticket of a slot that is held. */
  long simulator(int slot) {
    return simulators[slot];
  }

  /** Who gave the command of a slot that is held. */
  Origin origin(int slot) {
    return origins[slot];
  }

  /** The simulator holds the slot's ticket no more: who awaits it goes on. */
  void end(int slot) {
    long ticket = held[slot];
    held[slot] = 0;
    origins[slot] = null;
    extents[slot] = null;
    complete(ticket);
  }

  /** As {@link #end}, of a command that failed: its origin hears first. */
  void fail(int slot, long status, String error) {
    origins[slot].failed(extents[slot], opcodes[slot], slbas[slot], status, error);
    end(slot);
  }

  /** Does something with each slot that is held. */
  void forEachHeld(IntConsumer action) {
    for (int slot = 0; slot < SLOTS; slot++) {
      if (isHeld(slot)) {
        action.accept(slot);
      }
    }
  }
}
