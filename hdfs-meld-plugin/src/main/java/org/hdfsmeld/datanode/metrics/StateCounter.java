package org.hdfsmeld.datanode.metrics;

/** What keeping a device's state costs, and what came of it. */
public enum StateCounter {
  /** Snapshots written, the time they took, and the size of the last one. */
  STATE_SNAPSHOTS,
  STATE_SNAPSHOT_NS,
  STATE_SNAPSHOT_BYTES,
  /** The longest time that the simulator was kept from other calls by a snapshot. */
  STATE_SNAPSHOT_STALL_NS,
  /** Records and bytes appended to journals. */
  STATE_JOURNAL_RECORDS,
  STATE_JOURNAL_BYTES,
  /** Blocks whose change is not in the journal yet. */
  STATE_JOURNAL_LAG,
  /** Changes that found the journal's queue full. */
  STATE_OVERFLOWS,
  STATE_ERRORS,
  /** Files that were damaged or another device's, and were not used. */
  STATE_REJECTED,
  /** Journals that ended in the middle of a record, as after a kill. */
  STATE_TORN_JOURNALS,
  /** Blocks that were on the device from the start, and those to be laid out anew. */
  STATE_RESTORED_BLOCKS,
  STATE_RELAID_BLOCKS
}
