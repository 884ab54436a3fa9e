package org.hdfsmeld.datanode.device;

/**
 * Tickets of consecutive device commands with the block offset each one reaches to, oldest first.
 * Fixed capacity, so that queueing allocates nothing.
 */
public final class TicketQueue {
  private final long[] tickets;
  private final long[] ends;
  private int head;
  private int size;

  public TicketQueue(int capacity) {
    tickets = new long[capacity];
    ends = new long[capacity];
  }

  public boolean isEmpty() {
    return size == 0;
  }

  public boolean isFull() {
    return size == tickets.length;
  }

  public void add(long ticket, long end) {
    if (isFull()) {
      throw new IllegalStateException("queue of " + size + " tickets is full");
    }
    int at = (head + size) % tickets.length;
    tickets[at] = ticket;
    ends[at] = end;
    size++;
  }

  /** Waits for the oldest ticket, which leaves; where its command ends. */
  public long awaitOldest(TicketedIo device) {
    if (size == 0) {
      throw new IllegalStateException("no ticket to await");
    }
    device.await(tickets[head]);
    long end = ends[head];
    head = (head + 1) % tickets.length;
    size--;
    return end;
  }

  /** Nobody waits for them any more; their commands run on. */
  public void clear() {
    size = 0;
  }
}
