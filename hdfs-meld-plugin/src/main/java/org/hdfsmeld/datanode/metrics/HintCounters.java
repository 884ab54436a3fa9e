package org.hdfsmeld.datanode.metrics;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What a DataNode counts of its questions to the NameNodes. */
public final class HintCounters {
  /** Hints that were wanted. */
  public final LongAdder asked = new LongAdder();

  /** Of those, the ones that were here already. */
  public final LongAdder hits = new LongAdder();

  /** Blocks that were created without waiting any longer. */
  public final LongAdder timeouts = new LongAdder();

  /** Requests to NameNodes that failed. */
  public final LongAdder failures = new LongAdder();

  /** Questions given up because too many were open. */
  public final LongAdder dropped = new LongAdder();

  /** Blocks whose attribute has a value that is no read pattern. */
  public final LongAdder invalid = new LongAdder();

  /** Names and present values. */
  public Map<String, Long> values() {
    Map<String, Long> values = new LinkedHashMap<>();
    values.put("asked", asked.sum());
    values.put("hits", hits.sum());
    values.put("timeouts", timeouts.sum());
    values.put("failures", failures.sum());
    values.put("dropped", dropped.sum());
    values.put("invalid", invalid.sum());
    return values;
  }
}
