package org.hdfsmeld.datanode.config;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;

/**
 * How blocks without a read pattern are decided on.
 *
 * @param automatic by what
 * @param halfLifeMs time in which a read loses half of its weight
 * @param minRuns runs of reads that must be known of a file or directory
 * @param maxEntries files, directories and blocks of a volume that are remembered
 * @param saveIntervalMs how often a changed history is saved; 0: at shutdown only
 */
public record HistoryConfiguration(
    Automatic automatic, long halfLifeMs, int minRuns, int maxEntries, long saveIntervalMs) {
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
    long halfLifeMs =
        milliseconds(
            conf, MeldKeys.HINT_HISTORY_HALF_LIFE, MeldKeys.HINT_HISTORY_HALF_LIFE_DEFAULT);
    if (halfLifeMs == 0) {
      throw new MeldConfigurationException(
          MeldKeys.HINT_HISTORY_HALF_LIFE,
          conf.get(MeldKeys.HINT_HISTORY_HALF_LIFE),
          "must be at least 1ms, such as " + MeldKeys.HINT_HISTORY_HALF_LIFE_DEFAULT);
    }
    return new HistoryConfiguration(
        automatic(conf),
        halfLifeMs,
        count(conf, MeldKeys.HINT_HISTORY_MIN_RUNS, MeldKeys.HINT_HISTORY_MIN_RUNS_DEFAULT),
        count(conf, MeldKeys.HINT_HISTORY_MAX_ENTRIES, MeldKeys.HINT_HISTORY_MAX_ENTRIES_DEFAULT),
        milliseconds(
            conf,
            MeldKeys.HINT_HISTORY_SAVE_INTERVAL,
            MeldKeys.HINT_HISTORY_SAVE_INTERVAL_DEFAULT));
  }

  private static Automatic automatic(Configuration conf) throws MeldConfigurationException {
    String value = conf.getTrimmed(MeldKeys.HINT_AUTOMATIC, MeldKeys.HINT_AUTOMATIC_DEFAULT);
    try {
      return Automatic.valueOf(value.toUpperCase(Locale.ROOT).replace('-', '_'));
    } catch (IllegalArgumentException e) {
      throw new MeldConfigurationException(
          MeldKeys.HINT_AUTOMATIC, value, "use history, full-block or off");
    }
  }

  private static int count(Configuration conf, String key, String defaultValue)
      throws MeldConfigurationException {
    return (int) Values.bytes(conf, key, defaultValue, 1, MAX_ENTRIES);
  }

  private static long milliseconds(Configuration conf, String key, String defaultValue)
      throws MeldConfigurationException {
    return TimeUnit.NANOSECONDS.toMillis(Values.durationNs(conf, key, defaultValue));
  }
}
