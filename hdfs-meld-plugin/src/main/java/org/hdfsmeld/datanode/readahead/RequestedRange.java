package org.hdfsmeld.datanode.readahead;

import org.hdfsmeld.datanode.device.TicketQueue;
import org.hdfsmeld.datanode.device.TicketedIo;

/**
 * The range of a block that has been requested from the device for one reader, in order, and how
 * much of it has arrived.
 *
 * <p>Allocates nothing after construction. Not thread-safe.
 */
public final class RequestedRange {
  public interface Source extends TicketedIo {
    /** Bytes of the block, from its start, that the device can read at present. */
    long readableBytes();

    /** Requests a range of the block: a ticket, or {@link TicketedIo#NOTHING}. */
    long request(long offset, int length);
  }

  private final TicketQueue tickets;

  /** Null while nobody reads. */
  private Source source;

  private long requested;
  private long arrived;
  private long waits;
  private long outstandingSum;

  /** An empty range at 0, with room for {@code capacity} requests under way. */
  RequestedRange(Source source, int capacity) {
    this.source = source;
    this.tickets = new TicketQueue(capacity);
  }

  /** Another stream reads on, through {@code next}. */
  public void attach(Source next) {
    source = next;
  }

  /** Nobody reads on for now: keeps nothing of the stream. */
  void detach() {
    source = null;
  }

  long readableBytes() {
    return source.readableBytes();
  }

  /** All before this has been requested, since the last restart. */
  long requested() {
    return requested;
  }

  long arrived() {
    return arrived;
  }

  boolean isIdle() {
    return tickets.isEmpty();
  }

  boolean isFull() {
    return tickets.isFull();
  }

  void request(long end) {
    tickets.add(source.request(requested, (int) (end - requested)), end);
    requested = end;
  }

  void awaitOldest() {
    waits++;
    outstandingSum += requested - arrived;
    arrived = tickets.awaitOldest(source);
  }

  /** Gives up what is under way, and goes on at {@code offset}. */
  void restart(long offset) {
    tickets.clear();
    requested = offset;
    arrived = offset;
  }

  /** Mean bytes that were outstanding when the reader came to wait; 0 when it never did. */
  public long meanOutstandingBytes() {
    return waits == 0 ? 0 : outstandingSum / waits;
  }
}
