package org.hdfsmeld.datanode.metrics;

/** What keeping a device's state costs, and what came of it: {@code docs/reference/metrics.md}. */
public enum StateCounter {
  STATE_SNAPSHOTS,
  STATE_SNAPSHOT_NS,
  STATE_SNAPSHOT_BYTES,
  STATE_SNAPSHOT_STALL_NS,
  STATE_JOURNAL_RECORDS,
  STATE_JOURNAL_BYTES,
  STATE_JOURNAL_LAG,
  STATE_OVERFLOWS,
  STATE_ERRORS,
  STATE_REJECTED,
  STATE_TORN_JOURNALS,
  STATE_RESTORED_BLOCKS,
  STATE_RELAID_BLOCKS
}
