package org.hdfsmeld.datanode.metrics;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.util.StringUtils;

/** Counters that any thread adds to, without a lock; published by their names in lower case. */
public final class Counters<C extends Enum<C>> {
  private final Map<C, LongAdder> adders;

  public Counters(Class<C> type) {
    adders = new EnumMap<>(type);
    for (C counter : type.getEnumConstants()) {
      adders.put(counter, new LongAdder());
    }
  }

  public void increment(C counter) {
    adders.get(counter).increment();
  }

  public void add(C counter, long amount) {
    adders.get(counter).add(amount);
  }

  /** What goes up and down has this value now. By one thread. */
  public void set(C counter, long value) {
    add(counter, value - get(counter));
  }

  public long get(C counter) {
    return adders.get(counter).sum();
  }

  public Map<String, Long> values() {
    Map<String, Long> values = new LinkedHashMap<>();
    adders.forEach((key, sum) -> values.put(StringUtils.toLowerCase(key.name()), sum.sum()));
    return values;
  }
}
