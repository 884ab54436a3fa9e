package org.hdfsmeld.datanode;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What keeping a device's state costs, and what came of it. */
final class StateCounters {
  /** Snapshots written, the time they took, and the size of the last one. */
  final LongAdder snapshots = new LongAdder();

  final LongAdder snapshotNs = new LongAdder();
  final AtomicLong snapshotBytes = new AtomicLong();

  /** The longest time that the simulator was kept from other calls by a snapshot. */
  final AtomicLong snapshotStallNs = new AtomicLong();

  /** Records and bytes appended to journals. */
  final LongAdder journalRecords = new LongAdder();

  final LongAdder journalBytes = new LongAdder();

  /** Blocks whose change is not in the journal yet. */
  final AtomicLong journalLag = new AtomicLong();

  /** Changes that found the journal's queue full. */
  final LongAdder overflows = new LongAdder();

  /** Files that could not be written. */
  final LongAdder errors = new LongAdder();

  /** Files that were damaged or another device's, and were not used. */
  final LongAdder rejected = new LongAdder();

  /** Journals that ended in the middle of a record, as after a kill. */
  final LongAdder torn = new LongAdder();

  /** Blocks that were on the device from the start, and those to be laid out anew. */
  final LongAdder restoredBlocks = new LongAdder();

  final LongAdder relaidBlocks = new LongAdder();

  /** Adds names and present values. */
  void addTo(Map<String, Long> values) {
    values.put("state_snapshots", snapshots.sum());
    values.put("state_snapshot_ns", snapshotNs.sum());
    values.put("state_snapshot_bytes", snapshotBytes.get());
    values.put("state_snapshot_stall_ns", snapshotStallNs.get());
    values.put("state_journal_records", journalRecords.sum());
    values.put("state_journal_bytes", journalBytes.sum());
    values.put("state_journal_lag", journalLag.get());
    values.put("state_overflows", overflows.sum());
    values.put("state_errors", errors.sum());
    values.put("state_rejected", rejected.sum());
    values.put("state_torn_journals", torn.sum());
    values.put("state_restored_blocks", restoredBlocks.sum());
    values.put("state_relaid_blocks", relaidBlocks.sum());
  }

  /** Names and present values. */
  Map<String, Long> values() {
    Map<String, Long> values = new LinkedHashMap<>();
    addTo(values);
    return values;
  }
}
