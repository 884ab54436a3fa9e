package org.hdfsmeld.datanode.config;

import org.apache.hadoop.conf.Configuration;

/**
 * How the state of simulated devices outlives the DataNode.
 *
 * @param enabled whether it does
 * @param intervalNs longest time between snapshots while blocks change, in nanoseconds
 * @param journalMaxBytes size of a journal past which a snapshot is taken early
 * @param snapshotMaxBytes size past which a snapshot is not written
 */
public record StateConfiguration(
    boolean enabled, long intervalNs, long journalMaxBytes, long snapshotMaxBytes) {

  static StateConfiguration read(Configuration conf) throws MeldConfigurationException {
    long interval =
        Values.durationNs(
            conf, MeldKeys.STATE_SNAPSHOT_INTERVAL, MeldKeys.STATE_SNAPSHOT_INTERVAL_DEFAULT);
    if (interval == 0) {
      throw new MeldConfigurationException(
          MeldKeys.STATE_SNAPSHOT_INTERVAL,
          "0",
          "must be above 0, such as " + MeldKeys.STATE_SNAPSHOT_INTERVAL_DEFAULT);
    }
    return new StateConfiguration(
        Values.flag(conf, MeldKeys.STATE_ENABLED, MeldKeys.STATE_ENABLED_DEFAULT),
        interval,
        Values.bytes(
            conf,
            MeldKeys.STATE_JOURNAL_MAX_BYTES,
            MeldKeys.STATE_JOURNAL_MAX_BYTES_DEFAULT,
            4 << 10,
            1L << 40),
        Values.bytes(
            conf,
            MeldKeys.STATE_SNAPSHOT_MAX_BYTES,
            MeldKeys.STATE_SNAPSHOT_MAX_BYTES_DEFAULT,
            4 << 10,
            Integer.MAX_VALUE));
  }
}
