package org.hdfsmeld.datanode.io;

import org.hdfsmeld.datanode.device.TicketQueue;
import org.hdfsmeld.datanode.device.TicketedIo;

/**
 * Turns a writer's packets, which are small and aligned to nothing, into device writes of the
 * request size in whole pages.
 *
 * <p>Only ranges are kept, never data. Short blocks are deferred until {@link Sink#defers} knows
 * how they should be written; whatever is left goes out on a sync and on close, its last page
 * filled up. Writes under way are bounded: the oldest is waited for when there are too many.
 * Allocates nothing after construction. Not thread-safe.
 */
final class WriteCoalescer {
  /** The device's side of a coalescer. */
  interface Sink extends TicketedIo {
    boolean defers(long blockBytes);

    /**
     * Writes whole pages of a block that has so many bytes: a ticket, or {@link
     * TicketedIo#NOTHING}.
     */
    long write(long offset, int length, long blockBytes);
  }

  private final Sink sink;
  private final long pageBytes;
  private final long requestBytes;
  private final TicketQueue tickets;

  /** What has been written to the file but not to the device: [start, end), start at a page. */
  private long start;

  private long end;

  /** Device writes are of whole pages, and at most {@code windowBytes} of them are under way. */
  WriteCoalescer(Sink sink, long pageBytes, long requestBytes, long windowBytes) {
    this.sink = sink;
    this.pageBytes = pageBytes;
    this.requestBytes = requestBytes;
    this.tickets = new TicketQueue((int) Math.max(1, windowBytes / requestBytes));
  }

  void write(long offset, int length) {
    if (length <= 0) {
      return;
    }
    if (start == end) {
      start = offset - offset % pageBytes;
    } else if (offset != end) {
      flush();
      start = offset - offset % pageBytes;
    }
    end = offset + length;
    if (sink.defers(end)) {
      return;
    }
    while (end - start >= requestBytes) {
      submit(requestBytes);
    }
  }

  /** Sends everything that is pending to the device. */
  void flush() {
    while (start < end) {
      long pages = (end - start + pageBytes - 1) / pageBytes;
      submit(Math.min(requestBytes, pages * pageBytes));
    }
    start = 0;
    end = 0;
  }

  void drain() {
    while (!tickets.isEmpty()) {
      tickets.awaitOldest(sink);
    }
  }

  private void submit(long length) {
    if (tickets.isFull()) {
      tickets.awaitOldest(sink);
    }
    long ticket = sink.write(start, (int) length, end);
    start += length;
    if (ticket != TicketedIo.NOTHING) {
      tickets.add(ticket, start);
    }
  }
}
