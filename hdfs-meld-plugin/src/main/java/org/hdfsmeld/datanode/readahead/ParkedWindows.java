package org.hdfsmeld.datanode.readahead;

import java.util.LinkedHashMap;
import java.util.Map;
import org.hdfsmeld.datanode.config.WindowConfiguration;
import org.hdfsmeld.model.BlockKey;

/**
 * Windows of streams that were closed or have jumped, kept for a reader that goes on there.
 *
 * <p>Every positional read of a client is a stream of its own on the DataNode. A kernel recognises
 * a sequence of them, also when several are interleaved, by what earlier ones left in the page
 * cache; here the reader takes over the window, with what it has requested ahead.
 *
 * <p>Bounded: {@value #MAX} windows of a volume, under 2 KiB each where windows are 16 MiB; the one
 * parked longest ago goes. Locked when streams are opened, jump and are closed, never for a packet.
 */
public final class ParkedWindows {
  private static final int MAX = 1024;

  /** Where a window stands, in pages of the kernel's size. */
  private record Place(BlockKey block, long page) {}

  private final Map<Place, ReadAhead> windows = new LinkedHashMap<>();

  /** Takes the window that a read goes on with, which reads further than that one was; or null. */
  public ReadAhead take(BlockKey block, long offset, int length) {
    long page = offset / WindowConfiguration.PAGE_BYTES;
    synchronized (windows) {
      ReadAhead window = take(new Place(block, page), offset, length);
      // The chunk that is read again may be in the page before.
      return window == null ? take(new Place(block, page + 1), offset, length) : window;
    }
  }

  private ReadAhead take(Place place, long offset, int length) {
    ReadAhead window = windows.get(place);
    if (window == null || !window.continues(offset) || offset + length <= window.next()) {
      return null;
    }
    return windows.remove(place);
  }

  /** Keeps a window that has been read through, and nothing of its reader. */
  public void park(BlockKey block, ReadAhead window) {
    window.range().detach();
    Place place = new Place(block, window.next() / WindowConfiguration.PAGE_BYTES);
    synchronized (windows) {
      if (windows.put(place, window) == null && windows.size() > MAX) {
        windows.remove(windows.keySet().iterator().next());
      }
    }
  }
}
