package org.hdfsmeld.datanode.config;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;

/** How blocks without a read pattern are decided on: {@code hint.automatic} and below. */
public record HistoryConfiguration(
    Automatic automatic,
    long halfLifeMs,
    int minRuns,
    int maxEntries,
    long saveIntervalMs,
    long shortestLifeMs) {
  private static final int MAX_ENTRIES = 1 << 20;

  /** Who decides where no attribute does. */
  public enum Automatic {
    /** The history of reads, and where there is none, the block's size. */
    HISTORY,
    /** The block's size. */
    FULL_BLOCK,
    /** Nobody: such blocks are written without a directive. */
    OFF
  }

  static HistoryConfiguration read(Configuration conf) throws MeldConfigurationException {
    TimeUnit ms = TimeUnit.MILLISECONDS;
    return new HistoryConfiguration(
        Values.choice(conf, MeldKeys.HINT_AUTOMATIC, Automatic.class),
        Values.duration(conf, MeldKeys.HINT_HISTORY_HALF_LIFE, ms, 1),
        (int) Values.number(conf, MeldKeys.HINT_HISTORY_MIN_RUNS, 1, MAX_ENTRIES),
        (int) Values.number(conf, MeldKeys.HINT_HISTORY_MAX_ENTRIES, 1, MAX_ENTRIES),
        Values.duration(conf, MeldKeys.HINT_HISTORY_SAVE_INTERVAL, ms, 0),
        Values.duration(conf, MeldKeys.HINT_HISTORY_SHORTEST_LIFE, ms, 1));
  }
}
