package org.hdfsmeld.datanode.hint;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map with a bound: the entry that was used longest ago goes. Not thread-safe. */
final class LeastRecentlyUsed<K, V> extends LinkedHashMap<K, V> {
  private static final long serialVersionUID = 1L;

  private final int maxEntries;

  LeastRecentlyUsed(int maxEntries) {
    super(16, 0.75f, true);
    this.maxEntries = maxEntries;
  }

  @Override
  protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
    return size() > maxEntries;
  }
}
