package org.hdfsmeld.datanode.readahead;

/**
 * The plugin's own read-ahead, of more bytes than a kernel's.
 *
 * <p>Adaptive: a read at the block's start opens a small window, one from elsewhere requests just
 * the pages it needs; from there the window grows as {@link ReadAheadRamp} has it, each time half
 * of it has been read sequentially, and it collapses when the reader jumps. Fixed: always whole.
 *
 * <p>The first request after a jump is whole pages; the following ones are of the request size and
 * end at whole wordlines. Nothing is requested past what the device has of the block. Reads within
 * what has arrived touch no device, so 4 KiB reads cost a few comparisons.
 */
public final class ReadAheadWindow extends ReadAhead {
  private final RequestedRange range;
  private final boolean adaptive;
  private final long pageBytes;
  private final long wordlineBytes;
  private final long requestBytes;
  private final long windowBytes;

  /** The window's present size: requested bytes ahead of the reader. */
  private long span;

  /** A read that ends past this looks whether more should be requested. */
  private long topUpAt;

  /**
   * A window without requests. Sizes are rounded up: of a request to whole wordlines, of the window
   * to whole requests.
   */
  public ReadAheadWindow(
      RequestedRange.Source source,
      boolean adaptive,
      long pageBytes,
      long wordlineBytes,
      long requestBytes,
      long windowBytes) {
    this.adaptive = adaptive;
    this.pageBytes = pageBytes;
    this.wordlineBytes = wordlineBytes;
    this.requestBytes = roundUp(requestBytes, wordlineBytes);
    this.windowBytes = roundUp(windowBytes, this.requestBytes);
    // The ramp leaves a few short requests in the queue beside the full-size ones.
    this.range = new RequestedRange(source, (int) (this.windowBytes / this.requestBytes) + 8);
  }

  @Override
  public void read(long offset, int length) {
    long end = offset + length;
    if (offset == next && end <= range.arrived() && end <= topUpAt) {
      next = end;
      return;
    }
    if (length <= 0) {
      return;
    }
    advance(offset, end);
    while (range.arrived() < end) {
      if (range.isIdle()) {
        // The read is longer than the window, or than what the device has of the block.
        request(end, end);
        if (range.isIdle()) {
          break;
        }
      }
      range.awaitOldest();
    }
    next = end;
  }

  @Override
  public boolean continues(long offset) {
    return next != NOWHERE && offset >= next - CHUNK_BYTES && offset <= range.requested();
  }

  @Override
  public RequestedRange range() {
    return range;
  }

  private void advance(long offset, long end) {
    if (!continues(offset)) {
      jump(offset, end);
    } else if (end > topUpAt && end > next) {
      span = adaptive ? ReadAheadRamp.nextSize(span, windowBytes) : windowBytes;
      request(end, end + span);
    }
  }

  private void jump(long offset, long end) {
    next = NOWHERE;
    range.restart(offset - offset % pageBytes);
    long needed = roundUp(end - range.requested(), pageBytes);
    if (!adaptive) {
      span = windowBytes;
    } else if (offset == 0) {
      span = roundUp(ReadAheadRamp.initialSize(needed, windowBytes), wordlineBytes);
    } else {
      span = needed;
    }
    request(end, range.requested() + span);
    if (span == needed) {
      topUpAt = range.arrived();
    }
  }

  /**
   * Requests what the present read needs, and ahead to the goal but for less than a step, as far as
   * the block is readable.
   */
  private void request(long need, long goal) {
    long readable = roundUp(range.readableBytes(), pageBytes);
    long last = Math.min(Math.max(goal, need), readable);
    long step = step();
    while (range.requested() < last && !range.isFull()) {
      if (last - range.requested() < step && last < readable && range.requested() >= need) {
        break;
      }
      long end = range.requested() + requestBytes;
      end -= end % wordlineBytes;
      range.request(Math.min(Math.min(end, ramped(last)), readable));
    }
    // At the block's end there is nothing to top up until the reader gets past it.
    long requested = range.requested();
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
}
