package org.hdfsmeld.datanode.metrics;

import org.hdfsmeld.model.HintDecision;

/**
 * What the plugin itself counts on a volume, beside the device's own statistics. What each is says
 * {@code docs/reference/metrics.md}.
 */
public enum VolumeCounter {
  READER_WAIT_NS,
  WRITER_WAIT_NS,
  FALLBACKS,
  ERRORS,
  TIMEOUTS,
  HINTED_BLOCKS,
  LIFETIME_BLOCKS,
  UNHINTED_BLOCKS,
  HINTS_EXPLICIT,
  HINTS_HISTORY,
  HINTS_FULL_BLOCK,
  HINTS_NONE,
  HINTS_NONE_BY_SILENCE,
  FORWARDED_READS,
  FORWARDED_READ_BYTES,
  STOCK_READ_BYTES,
  STOCK_WRITE_BYTES,
  FORWARDED_WRITES,
  FORWARDED_WRITE_BYTES,
  OPENED_UNREAD,
  UNSEEN_WRITES,
  REFUSED_WRITES,
  OVERLOADED_WRITES,
  SWITCHED_WRITES,
  UNKNOWN_THREADS,
  HISTORY_RUNS,
  LIFETIMES_LEARNED,
  HISTORY_RESETS,
  HISTORY_SAVE_ERRORS,
  PLACED_RANDOM,
  PLACED_SMALL,
  PLACED_SEQUENTIAL,
  PLACED_LOAD_OVERFLOW,
  PLACED_SPACE_OVERFLOW;

  public static VolumeCounter of(HintDecision.Source source) {
    return switch (source) {
      case EXPLICIT -> HINTS_EXPLICIT;
      case HISTORY -> HINTS_HISTORY;
      case FULL_BLOCK -> HINTS_FULL_BLOCK;
      case NONE -> HINTS_NONE;
    };
  }
}
