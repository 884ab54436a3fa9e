package org.hdfsmeld.datanode.config;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;

/** How the state of simulated devices outlives the DataNode: {@code state.*}. */
public record StateConfiguration(
    boolean enabled, long intervalNs, long journalMaxBytes, long snapshotMaxBytes) {
  private static final long MIN_BYTES = 4 << 10;

  static StateConfiguration read(Configuration conf) throws MeldConfigurationException {
    return new StateConfiguration(
        Values.flag(conf, MeldKeys.STATE_ENABLED),
        Values.duration(conf, MeldKeys.STATE_SNAPSHOT_INTERVAL, TimeUnit.NANOSECONDS, 1),
        Values.number(conf, MeldKeys.STATE_JOURNAL_MAX_BYTES, MIN_BYTES, 1L << 40),
        Values.number(conf, MeldKeys.STATE_SNAPSHOT_MAX_BYTES, MIN_BYTES, Integer.MAX_VALUE));
  }
}
