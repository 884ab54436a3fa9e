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
    Integer known = numbers.get(text);
    return known != null ? known : add(text);
  }

  private synchronized int add(String text) {
    if (strings.size() >= MOST) {
      return 0;
    }
    return numbers.computeIfAbsent(
        text,
        fresh -> {
          strings.add(fresh);
          return strings.size() - 1;
        });
  }

  synchronized String get(int number) {
    return strings.get(number);
  }
}
