package org.hdfsmeld.demo.volumes;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The counters of one volume at an instant, or what they grew by between two. */
public record Counters(Map<String, Long> values) {
  // Sizes of the device, which do not grow.
  private static final Set<String> SIZES = Set.of("channels", "dies", "capacity_pages");

  public Counters {
    values = new TreeMap<>(values);
  }

  /** A counter; fails if the plugin has none of that name. */
  public long get(String name) {
    Long value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("the plugin has no counter " + name);
    }
    return value;
  }

  /** What they grew by; sizes of the device stay. */
  public Counters since(Counters before) {
    Map<String, Long> grown = new TreeMap<>();
    values.forEach(
        (name, value) ->
            grown.put(
                name, SIZES.contains(name) ? value : value - before.values.getOrDefault(name, 0L)));
    return new Counters(grown);
  }

  /** One counter of all volumes together. */
  public static long sum(List<Counters> volumes, String name) {
    return volumes.stream().mapToLong(volume -> volume.get(name)).sum();
  }
}
