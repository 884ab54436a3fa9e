package org.hdfsmeld.datanode.readahead;

import org.hdfsmeld.datanode.config.WindowConfiguration;

/**
 * What an unmodified Linux kernel requests from the device while a stock DataNode sends a block.
 *
 * <p>Two parties read ahead, as {@code docs/explanation/windows.md} has it: the kernel by the state
 * of the open file ({@code struct file_ra_state}, functions as of Linux 6.12), and the DataNode by
 * its advice, of which the kernel takes no more than one request or one window.
 *
 * <p>Requests end at {@code max_sectors_kb}. The page cache is cold: a stream finds what it has
 * itself requested since it last jumped, and nothing else.
 */
public final class KernelReadAhead extends ReadAhead {
  private static final long PAGE_BYTES = WindowConfiguration.PAGE_BYTES;

  /** Requests under way to one device, past which the kernel blocks: {@code nr_requests}. */
  private static final int MAX_REQUESTS = 1023;

  private final RequestedRange range;
  private final long deviceAlignment;
  private final long ioPages;

  /** {@code ra_pages}: the largest window. */
  private final long maxPages;

  /** What the DataNode reads ahead itself; 0 when it does not. */
  private final long willNeedBytes;

  private long lastWillNeed = NOWHERE;

  /** First cached page, where the last jump went. */
  private long cachedFrom;

  /** The page after the last cached or requested one. */
  private long cachedTo;

  /** {@code file_ra_state}: the newest window, and how much is left at its mark. */
  private long start;

  private long size;
  private long asyncSize;

  /** The page that carries {@code PG_readahead}. */
  private long marked = NOWHERE;

  /** The state of a file that was just opened. Requests cover whole pages of the device. */
  public KernelReadAhead(
      RequestedRange.Source source, long pageBytes, WindowConfiguration linux, boolean longRead) {
    boolean advised = longRead && linux.fadvise();
    this.deviceAlignment = pageBytes;
    this.ioPages = linux.maxRequestBytes() / PAGE_BYTES;
    this.maxPages = linux.readAheadBytes() / PAGE_BYTES * (advised ? 2 : 1);
    this.willNeedBytes = advised ? linux.dataNodeBytes() : 0;
    long most = Math.max(maxPages * 3 + ioPages, willNeedBytes / PAGE_BYTES);
    this.range = new RequestedRange(source, (int) Math.min(MAX_REQUESTS, most / ioPages + 64));
  }

  @Override
  public void read(long offset, int length) {
    if (length <= 0) {
      return;
    }
    if (offset < cachedFrom * PAGE_BYTES || offset > cachedTo * PAGE_BYTES) {
      jump(offset / PAGE_BYTES);
    }
    willNeed(offset);
    long end = offset + length;
    long endPage = pagesOf(end);
    for (long page = offset / PAGE_BYTES; page < endPage; page++) {
      if (page >= cachedTo) {
        miss(page, endPage - page);
        if (page >= cachedTo) {
          // The device does not have it.
          break;
        }
      }
      if (page == marked) {
        marked = NOWHERE;
        reachedMark(page, endPage - page);
      }
      awaitPage(page);
    }
    next = end;
  }

  @Override
  public boolean continues(long offset) {
    return next != NOWHERE && Math.abs(offset - next) <= CHUNK_BYTES;
  }

  @Override
  public RequestedRange range() {
    return range;
  }

  private void jump(long page) {
    long first = page * PAGE_BYTES;
    range.restart(first - first % deviceAlignment);
    cachedFrom = page;
    cachedTo = page;
    marked = NOWHERE;
  }

  /** {@code ReadaheadPool.readaheadStream}, which a thread of its own does a moment later. */
  private void willNeed(long offset) {
    if (willNeedBytes == 0
        || (lastWillNeed != NOWHERE && offset < lastWillNeed + willNeedBytes / 2)) {
      return;
    }
    lastWillNeed = offset;
    long first = offset / PAGE_BYTES;
    long wanted = pagesOf(offset + willNeedBytes) - first;
    submit(first, Math.min(wanted, Math.max(ioPages, maxPages)), 0);
  }

  /** {@code page_cache_sync_ra}: {@code page} is not cached, and {@code asked} pages are wanted. */
  private void miss(long page, long asked) {
    if (maxPages == 0) {
      submit(page, 1, 0);
      return;
    }
    long max = maxPages(asked);
    long sinceLast = page - next / PAGE_BYTES;
    boolean sequential = next != NOWHERE && (sinceLast == 0 || sinceLast == 1);
    long history = Math.min(page - cachedFrom, max);
    if (page == 0 || asked > max || sequential) {
      size = ReadAheadRamp.initialSize(asked, max);
      asyncSize = size > asked ? size - asked : size / 2;
    } else if (history <= asked) {
      submit(page, asked, 0);
      return;
    } else {
      size = Math.min((cachedFrom == 0 ? 2 * history : history) + asked, max);
      asyncSize = 1;
    }
    start = page;
    submit(start, size, asyncSize);
  }

  /** {@code page_cache_async_ra}: {@code page} is cached and says that more should be requested. */
  private void reachedMark(long page, long asked) {
    long max = maxPages(asked);
    if (page == start + size - asyncSize) {
      start += size;
      size = ReadAheadRamp.nextSize(size, max);
    } else {
      if (cachedTo - page > max) {
        return;
      }
      start = cachedTo;
      size = ReadAheadRamp.nextSize(cachedTo - page + asked, max);
    }
    asyncSize = size;
    submit(start, size, asyncSize);
  }

  /** {@code ractl_max_pages}: a large read may exceed the window, up to one request. */
  private long maxPages(long asked) {
    return asked > maxPages && ioPages > maxPages ? Math.min(asked, ioPages) : maxPages;
  }

  /**
   * {@code page_cache_ra_unbounded}: requests those of the pages that are not cached. The mark goes
   * {@code lookahead} pages before the end, if that page is requested here.
   */
  private void submit(long first, long pages, long lookahead) {
    long end = Math.min(first + pages, pagesOf(range.readableBytes()));
    long mark = first + pages - lookahead;
    if (lookahead > 0 && mark >= cachedTo && mark < end) {
      marked = mark;
    }
    while (cachedTo < end) {
      if (range.isFull()) {
        range.awaitOldest();
      }
      cachedTo = Math.min(cachedTo + ioPages, end);
      long alignedEnd = roundUp(cachedTo * PAGE_BYTES, deviceAlignment);
      if (alignedEnd > range.requested()) {
        range.request(alignedEnd);
      }
    }
  }

  private void awaitPage(long page) {
    while (range.arrived() < (page + 1) * PAGE_BYTES && !range.isIdle()) {
      range.awaitOldest();
    }
  }

  private static long pagesOf(long bytes) {
    return roundUp(bytes, PAGE_BYTES) / PAGE_BYTES;
  }
}
