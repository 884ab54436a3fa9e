package org.hdfsmeld.datanode;

/**
 * Turns a reader's packets into device reads that run ahead of it.
 *
 * <p>A read at the block's start opens the full window: whoever starts there reads on. A read from
 * elsewhere requests just the pages it needs, and the window grows by factors of {@value #RAMP} as
 * the reader goes on sequentially. The first request after a jump is whole pages; the following
 * ones are of the request size and end at whole wordlines. Nothing is requested past what the
 * device has of the block.
 *
 * <p>The reader waits only for the requests that cover its bytes, oldest first. Reads within what
 * has arrived touch no device, so 4 KiB reads cost a few comparisons. Allocates nothing after
 * construction. Not thread-safe.
 */
final class ReadAheadWindow {
  static final int RAMP = 4;

  /** The device's side of a window. */
  interface Source extends TicketedIo {
    /** Bytes of the block, from its start, that the device can read at present. */
    long readableBytes();

    /**
     * Requests a range of the block.
     *
     * @return a ticket, or {@link TicketedIo#NOTHING}
     */
    long request(long offset, int length);
  }

  private static final long NOWHERE = -1;

  private final Source source;
  private final long pageBytes;
  private final long wordlineBytes;
  private final long requestBytes;
  private final long windowBytes;
  private final TicketQueue tickets;

  /** Where the reader will be if it goes on sequentially. */
  private long next = NOWHERE;

  /** The window's present size: requested bytes ahead of the reader. */
  private long span;

  /** All before this has been requested, since the last jump. */
  private long requested;

  /** All before this has arrived. */
  private long arrived;

  /** A read that ends past this looks whether more should be requested. */
  private long topUpAt;

  /**
   * A window without requests.
   *
   * @param pageBytes the device's page
   * @param wordlineBytes the device's wordline, whole pages
   * @param requestBytes size of a request; rounded up to whole wordlines
   * @param windowBytes size of the full window; rounded up to whole requests
   */
  ReadAheadWindow(
      Source source, long pageBytes, long wordlineBytes, long requestBytes, long windowBytes) {
    this.source = source;
    this.pageBytes = pageBytes;
    this.wordlineBytes = wordlineBytes;
    this.requestBytes = roundUp(requestBytes, wordlineBytes);
    this.windowBytes = roundUp(windowBytes, this.requestBytes);
    // The ramp leaves a few short requests in the queue beside the full-size ones.
    this.tickets = new TicketQueue((int) (this.windowBytes / this.requestBytes) + 8);
  }

  /** The reader takes these bytes: returns when the device has them. */
  void read(long offset, int length) {
    long end = offset + length;
    if (offset == next && end <= arrived && end <= topUpAt) {
      next = end;
      return;
    }
    if (length <= 0) {
      return;
    }
    advance(offset, end);
    while (arrived < end) {
      if (tickets.isEmpty()) {
        // The read is longer than the window, or than what the device has of the block.
        request(end, end);
        if (tickets.isEmpty()) {
          break;
        }
      }
      source.await(tickets.ticket());
      arrived = tickets.end();
      tickets.remove();
    }
    next = end;
  }

  /** Gives up what has been requested and not waited for. */
  void release() {
    while (!tickets.isEmpty()) {
      source.forget(tickets.ticket());
      tickets.remove();
    }
    next = NOWHERE;
  }

  private void advance(long offset, long end) {
    boolean sequential = next != NOWHERE && offset >= next && offset <= requested;
    if (!sequential) {
      jump(offset, end);
    } else if (end > topUpAt) {
      span = Math.min(windowBytes, span * RAMP);
      request(end, end + span);
    }
  }

  private void jump(long offset, long end) {
    release();
    requested = offset - offset % pageBytes;
    arrived = requested;
    if (offset == 0) {
      span = windowBytes;
      request(end, span);
    } else {
      span = roundUp(end - requested, pageBytes);
      request(end, requested + span);
      topUpAt = requested;
    }
  }

  /**
   * Requests ahead, as far as the block is readable.
   *
   * @param need where the present read ends
   * @param goal where the window ends; reached but for less than a step
   */
  private void request(long need, long goal) {
    long readable = roundUp(source.readableBytes(), pageBytes);
    long last = Math.min(Math.max(goal, need), readable);
    long step = step();
    while (requested < last && !tickets.isFull()) {
      if (last - requested < step && last < readable && requested >= need) {
        break;
      }
      long end = requested + requestBytes;
      end -= end % wordlineBytes;
      end = Math.min(Math.min(end, ramped(last)), readable);
      tickets.add(source.request(requested, (int) (end - requested)), end);
      requested = end;
    }
    // At the block's end there is nothing to top up until the reader gets past it.
    topUpAt = requested >= readable ? requested : requested - span + step;
  }

  /** How much must have been consumed before the window is topped up. */
  private long step() {
    return Math.min(requestBytes, roundUp(span / 2, wordlineBytes));
  }

  /** The end of a window that still grows: whole pages after a jump, whole wordlines later. */
  private long ramped(long end) {
    return roundUp(end, next == NOWHERE ? pageBytes : wordlineBytes);
  }

  private static long roundUp(long value, long unit) {
    return (value + unit - 1) / unit * unit;
  }
}
