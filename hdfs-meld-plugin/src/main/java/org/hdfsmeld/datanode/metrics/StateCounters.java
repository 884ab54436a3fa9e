package org.hdfsmeld.datanode.metrics;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What keeping a device's state costs, and what came of it. */
public final class StateCounters {
  /** Snapshots written, the time they took, and the size of the last one. */
  public final LongAdder snapshots = new LongAdder();

  public final LongAdder snapshotNs = new LongAdder();
  public final AtomicLong snapshotBytes = new AtomicLong();

  /** The longest time that the simulator was kept from other calls by a snapshot. */
  public final AtomicLong snapshotStallNs = new AtomicLong();

  /** Records and bytes appended to journals. */
  public final LongAdder journalRecords = new LongAdder();

  public final LongAdder journalBytes = new LongAdder();

  /** Blocks whose change is not in the journal yet. */
  public final AtomicLong journalLag = new AtomicLong();

  /** Changes that found the journal's queue full. */
  public final LongAdder overflows = new LongAdder();

  /** Files that could not be written. */
  public final LongAdder errors = new LongAdder();

  /** Files that were damaged or another device's, and were not used. */
  public final LongAdder rejected = new LongAdder();

  /** Journals that ended in the middle of a record, as after a kill. */
  public final LongAdder torn = new LongAdder();

  /** Blocks that were on the device from the start, and those to be laid out anew. */
  public final LongAdder restoredBlocks = new LongAdder();

  public final LongAdder relaidBlocks = new LongAdder();

  /** Adds names and present values. */
  public void addTo(Map<String, Long> values) {
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
