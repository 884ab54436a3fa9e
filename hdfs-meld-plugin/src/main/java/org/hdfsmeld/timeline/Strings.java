package org.hdfsmeld.timeline;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Strings as numbers, in records that have numbers only. There are few different ones. */
final class Strings {
  private static final int MOST = 4096;
  private static final String OTHERS = "(others)";

  private final Map<String, Integer> numbers = new ConcurrentHashMap<>();
  private final List<String> strings = new ArrayList<>(List.of(OTHERS));

  int number(String text) {
    Integer known = numbers.computeIfAbsent(text, this::add);
    return known == null ? 0 : known;
  }

  /** Null when there is no room: the map keeps nothing then. */
  private synchronized Integer add(String fresh) {
    return strings.size() < MOST && strings.add(fresh) ? strings.size() - 1 : null;
  }

  synchronized String get(int number) {
    return strings.get(number);
  }
}
