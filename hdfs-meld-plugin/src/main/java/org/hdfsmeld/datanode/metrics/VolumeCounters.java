package org.hdfsmeld.datanode.metrics;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.hdfsmeld.model.HintDecision;

/** What the plugin itself counts on a volume, beside the device's own statistics. */
public final class VolumeCounters {
  /** Wall time that readers were blocked for the device, in real-time mode. */
  public final LongAdder readerWaitNs = new LongAdder();

  /** Wall time that writers were blocked for the device, in real-time mode. */
  public final LongAdder writerWaitNs = new LongAdder();

  /** HDFS calls that went on as stock because the simulator is out of service. */
  public final LongAdder fallbacks = new LongAdder();

  /** Simulator calls that failed. */
  public final LongAdder errors = new LongAdder();

  /** Waits given up after the wait timeout. */
  public final LongAdder timeouts = new LongAdder();

  /** Blocks laid out with the sequential directive. */
  public final LongAdder hintedBlocks = new LongAdder();

  /** Blocks laid out without a directive. */
  public final LongAdder unhintedBlocks = new LongAdder();

  /** Blocks laid out while nobody had answered how they will be read. */
  public final LongAdder hintsNoneBySilence = new LongAdder();

  /** Block files whose write-lifetime hint was set, and found again. */
  public final LongAdder lifetimeHints = new LongAdder();

  /** Block files whose write-lifetime hint was refused. */
  public final LongAdder lifetimeHintsRefused = new LongAdder();

  /** Read calls of HDFS on block files, and their bytes. */
  public final LongAdder forwardedReads = new LongAdder();

  public final LongAdder forwardedReadBytes = new LongAdder();

  /** Write calls of HDFS on block files, and their bytes. */
  public final LongAdder forwardedWrites = new LongAdder();

  public final LongAdder forwardedWriteBytes = new LongAdder();

  /** Blocks that HDFS wrote and of which the device was not told all. */
  public final LongAdder unseenWrites = new LongAdder();

  /** Streams opened by threads whose names no version of Hadoop has had. */
  public final LongAdder unknownThreads = new LongAdder();

  /** Block files opened and closed without a read: short-circuit clients read them unseen. */
  public final LongAdder openedUnread = new LongAdder();

  /** Runs of sequential reads that went into the read history. */
  public final LongAdder historyRuns = new LongAdder();

  /** Read histories that could not be used and began anew. */
  public final LongAdder historyResets = new LongAdder();

  /** Read histories that could not be saved. */
  public final LongAdder historySaveErrors = new LongAdder();

  /** New blocks that the placement policy gave to the volume, by reason. */
  private final Map<PlacementReason, LongAdder> placed = new EnumMap<>(PlacementReason.class);

  /** Blocks laid out, by who decided how. */
  private final Map<HintDecision.Source, LongAdder> laidOut =
      new EnumMap<>(HintDecision.Source.class);

  public VolumeCounters() {
    for (HintDecision.Source source : HintDecision.Source.values()) {
      laidOut.put(source, new LongAdder());
    }
    for (PlacementReason reason : PlacementReason.values()) {
      placed.put(reason, new LongAdder());
    }
  }

  /** The volume was chosen for a new block. */
  public void placed(PlacementReason reason) {
    placed.get(reason).increment();
  }

  /** A block got its layout on the word of this source. */
  public void laidOut(HintDecision.Source source) {
    laidOut.get(source).increment();
  }

  /** Names and present values. */
  public Map<String, Long> values() {
    Map<String, Long> values = new LinkedHashMap<>();
    values.put("reader_wait_ns", readerWaitNs.sum());
    values.put("writer_wait_ns", writerWaitNs.sum());
    values.put("fallbacks", fallbacks.sum());
    values.put("errors", errors.sum());
    values.put("timeouts", timeouts.sum());
    values.put("hinted_blocks", hintedBlocks.sum());
    values.put("unhinted_blocks", unhintedBlocks.sum());
    laidOut.forEach((source, count) -> values.put(source.counter(), count.sum()));
    values.put("hints_none_by_silence", hintsNoneBySilence.sum());
    values.put("lifetime_hints", lifetimeHints.sum());
    values.put("lifetime_hints_refused", lifetimeHintsRefused.sum());
    values.put("forwarded_reads", forwardedReads.sum());
    values.put("forwarded_read_bytes", forwardedReadBytes.sum());
    values.put("forwarded_writes", forwardedWrites.sum());
    values.put("forwarded_write_bytes", forwardedWriteBytes.sum());
    values.put("opened_unread", openedUnread.sum());
    values.put("unseen_writes", unseenWrites.sum());
    values.put("unknown_threads", unknownThreads.sum());
    values.put("history_runs", historyRuns.sum());
    values.put("history_resets", historyResets.sum());
    values.put("history_save_errors", historySaveErrors.sum());
    placed.forEach((reason, count) -> values.put(reason.counter(), count.sum()));
    return values;
  }
}
