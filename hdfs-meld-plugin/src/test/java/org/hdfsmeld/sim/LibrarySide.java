package org.hdfsmeld.sim;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** What the library does with a ring, for devices that are not the library's. */
final class LibrarySide {
  private final CommandRing ring;
  private final ByteBuffer memory;

  LibrarySide(CommandRing ring) {
    this.ring = ring;
    this.memory = ring.memory();
  }

  /** The entry at the head. */
  ByteBuffer next() {
    return memory
        .slice(CommandRing.entry(ring.taken()), CommandRing.LINE)
        .order(ByteOrder.nativeOrder());
  }

  void full(boolean isFull) {
    memory.putLong(CommandRing.FULL, isFull ? 1 : 0);
  }

  void due(long ns) {
    memory.putLong(CommandRing.DUE, ns);
  }

  /** Ends a ticket; whether a thread sleeps for it. */
  boolean complete(long ticket) {
    if (!ring.isPending(ticket)) {
      return false;
    }
    ring.end(ticket);
    return memory.getLong(CommandRing.slotAt(ticket) + CommandRing.WAITER) != 0;
  }

  /** Whether there was room. */
  boolean post(long ticket, long outcome) {
    int posted = (int) memory.getLong(CommandRing.POSTED);
    if (posted == 64) {
      return false;
    }
    memory.putLong(CommandRing.POSTS + 16 * posted, ticket);
    memory.putLong(CommandRing.POSTS + 16 * posted + 8, outcome);
    memory.putLong(CommandRing.POSTED, posted + 1);
    return true;
  }
}
