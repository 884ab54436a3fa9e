package org.hdfsmeld.datanode.metrics;

import org.hdfsmeld.model.HintDecision;

/** What the plugin itself counts on a volume, beside the device's own statistics. */
public enum VolumeCounter {
  /** Wall time that readers were blocked for the device, in real-time mode. */
  READER_WAIT_NS,
  /** Wall time that writers were blocked for the device, in real-time mode. */
  WRITER_WAIT_NS,
  /** HDFS calls that went on as stock because the simulator is out of service. */
  FALLBACKS,
  /** Simulator calls that failed. */
  ERRORS,
  /** Waits given up after the wait timeout. */
  TIMEOUTS,
  /**
   * Blocks laid out with the sequential directive, with a reclaim unit handle by their lifetime,
   * and without a directive.
   */
  HINTED_BLOCKS,
  LIFETIME_BLOCKS,
  UNHINTED_BLOCKS,
  /** Of those, by who decided how. */
  HINTS_EXPLICIT,
  HINTS_HISTORY,
  HINTS_FULL_BLOCK,
  HINTS_NONE,
  /** Blocks laid out while nobody had answered how they will be read. */
  HINTS_NONE_BY_SILENCE,
  /** Read calls of HDFS on block files, and their bytes. */
  FORWARDED_READS,
  FORWARDED_READ_BYTES,
  /** Write calls of HDFS on block files, and their bytes. */
  FORWARDED_WRITES,
  FORWARDED_WRITE_BYTES,
  /** Block files opened and closed without a read: short-circuit clients read them unseen. */
  OPENED_UNREAD,
  /** Blocks that HDFS wrote and of which the device was not told all. */
  UNSEEN_WRITES,
  /** Streams opened by threads whose names no version of Hadoop has had. */
  UNKNOWN_THREADS,
  /** Runs of sequential reads that went into the read history. */
  HISTORY_RUNS,
  /** Blocks whose deletion went into what is known of their group's lifetime. */
  LIFETIMES_LEARNED,
  /** Read histories that could not be used and began anew, and those that could not be saved. */
  HISTORY_RESETS,
  HISTORY_SAVE_ERRORS,
  /** New blocks placed on Optane: read at random, as their writers say. */
  PLACED_RANDOM,
  PLACED_SMALL,
  /** On NAND: read front to back, as their writers say or as full-size blocks are taken. */
  PLACED_SEQUENTIAL,
  /** On NAND, for Optane has too much outstanding. */
  PLACED_LOAD_OVERFLOW,
  /** On NAND or Optane, for the volumes of the wanted kind are full. */
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
