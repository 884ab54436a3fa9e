package org.hdfsmeld.datanode.state;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;
import org.hdfsmeld.datanode.config.StateConfiguration;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.datanode.metrics.StateCounter;

/**
 * Keeps a device's state on disk: a snapshot at intervals and at the end, and between them a
 * journal of what became of the blocks.
 *
 * <p>All files are written by one thread of the device. What HDFS's threads do here is put a block
 * into a bounded queue. When that is full, or a file cannot be written, the journal ends, which
 * costs no more than the blocks since to be laid out anew after a restart; the next snapshot begins
 * another.
 */
public final class DeviceState {
  /** Blocks that may wait for the journal; a record is a few hundred bytes. */
  static final int QUEUE_BLOCKS = 1 << 16;

  /** How long changes of a block are gathered before they are written. */
  private static final long GATHER_MS = 100;

  /** After a failure the next snapshot is not tried at once. */
  private static final long RETRY_NS = TimeUnit.SECONDS.toNanos(30);

  /** A block that the device may have. */
  public interface Block {
    /** Where it lies now. From here on its next change is reported again. */
    BlockRecord takeRecord();
  }

  private final String device;
  private final StateConfiguration config;
  private final Supplier<List<Path>> folders;
  private final FunctionRaisingIOE<ImageBuffer, StateSnapshot> snapshots;
  private final SimFailures failures;
  private final Counters<StateCounter> counters;
  private final LongSupplier clock;

  /** An array, so that a packet whose block is put in allocates nothing. */
  private final ArrayBlockingQueue<Block> queue = new ArrayBlockingQueue<>(QUEUE_BLOCKS);

  private final List<Block> drained = new ArrayList<>();
  private final AtomicLong changes = new AtomicLong();
  private final ImageBuffer image;
  private final ScheduledExecutorService writer;

  private final AtomicBoolean foldersChanged = new AtomicBoolean();

  private volatile boolean journalComplete = true;
  private StateJournal journal;
  private Path folder;
  private long journalBytes;
  private long number;
  private long attemptNs;
  private long snapshotChanges;

  /**
   * A state whose files so far end with number {@code last}; {@link #start} begins to write.
   *
   * @param folders where files may be; the next snapshot goes to the first
   * @param snapshots the blocks at present, and after that the device, whose part the buffer takes;
   *     throws when the device is out of service, or its part too large
   * @param writer the thread that writes the files of the device
   * @param clock a clock that only goes forward, in nanoseconds
   */
  public DeviceState(
      String device,
      StateConfiguration config,
      Supplier<List<Path>> folders,
      FunctionRaisingIOE<ImageBuffer, StateSnapshot> snapshots,
      long last,
      SimFailures failures,
      Counters<StateCounter> counters,
      ScheduledExecutorService writer,
      LongSupplier clock) {
    this.device = device;
    this.config = config;
    this.folders = folders;
    this.snapshots = snapshots;
    this.number = last;
    this.failures = failures;
    this.counters = counters;
    this.clock = clock;
    this.image = new ImageBuffer(config.snapshotMaxBytes());
    this.writer = writer;
  }

  /** Begins with a snapshot; that of a device which is as the files say waits for a change. */
  public void start(boolean restored) {
    snapshotChanges = restored ? 0 : -1;
    attemptNs = clock.getAsLong() - config.intervalNs();
    var unused = writer.scheduleWithFixedDelay(this::write, 0, GATHER_MS, TimeUnit.MILLISECONDS);
  }

  /**
   * A block has changed. Never waits.
   *
   * @return false when the journal has no room for it: its next change is to be reported too
   */
  public boolean changed(Block block) {
    changes.incrementAndGet();
    boolean taken = queue.offer(block);
    if (!taken) {
      counters.increment(StateCounter.STATE_OVERFLOWS);
      journalComplete = false;
    }
    return taken;
  }

  /** Files may be elsewhere now: keeps none open where they may not. Waits for nothing. */
  public void foldersChanged() {
    foldersChanged.set(true);
  }

  /** Takes the last snapshot, for which it waits at most {@code timeoutNs}. */
  public void close(long timeoutNs) {
    try {
      writer.submit(this::finish).get(timeoutNs, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      failed("the last snapshot", e);
    }
  }

  private void write() {
    try {
      drain();
      boolean moves = takeMove();
      if (moves) {
        snapshotChanges = -1;
      }
      if (moves || isSnapshotDue()) {
        snapshotIfChanged();
      }
    } catch (RuntimeException | Error e) {
      // The executor would keep it to itself, and call no more.
      failed("the state", e);
      journalComplete = false;
    }
  }

  /** Whether the journal is not where a new one would be; once for each change of the folders. */
  private boolean takeMove() {
    return foldersChanged.getAndSet(false) && !folders.get().get(0).equals(folder);
  }

  private void finish() {
    drain();
    snapshotIfChanged();
    closeJournal();
  }

  private boolean isSnapshotDue() {
    long sinceNs = clock.getAsLong() - attemptNs;
    boolean early = journalBytes > config.journalMaxBytes() || !journalComplete;
    return sinceNs >= config.intervalNs() || (early && sinceNs >= RETRY_NS);
  }

  private void drain() {
    queue.drainTo(drained);
    counters.set(StateCounter.STATE_JOURNAL_LAG, queue.size());
    if (drained.isEmpty()) {
      return;
    }
    List<BlockRecord> records = new ArrayList<>(drained.size());
    try {
      drained.forEach(block -> records.add(block.takeRecord()));
    } finally {
      drained.clear();
    }
    if (journal == null) {
      return;
    }
    try {
      long bytes = journal.append(records);
      journalBytes += bytes;
      counters.add(StateCounter.STATE_JOURNAL_BYTES, bytes);
      counters.add(StateCounter.STATE_JOURNAL_RECORDS, records.size());
    } catch (IOException | RuntimeException e) {
      failed("the journal", e);
      journalComplete = false;
      closeJournal();
    }
  }

  private void snapshotIfChanged() {
    long present = changes.get();
    // A block that was in the queue while the last snapshot was taken may have changed again since
    // without a word; then the journal has a record of it.
    if (present == snapshotChanges && journalBytes == 0 && journalComplete) {
      return;
    }
    long begin = clock.getAsLong();
    attemptNs = begin;
    try {
      snapshot();
      snapshotChanges = present;
      counters.increment(StateCounter.STATE_SNAPSHOTS);
    } catch (IOException | RuntimeException e) {
      failed("a snapshot", e);
    }
    counters.add(StateCounter.STATE_SNAPSHOT_NS, clock.getAsLong() - begin);
  }

  /**
   * A snapshot with the next number, and before it the journal of that number: what changes while
   * the snapshot is taken may be in it or not, and is in the journal in any case.
   */
  private void snapshot() throws IOException {
    List<Path> present = folders.get();
    closeJournal();
    folder = present.get(0);
    if (!Files.isDirectory(folder)) {
      Files.createDirectory(folder);
    }
    number++;
    journal = new StateJournal(StateFiles.journal(folder, number));
    journalBytes = 0;
    journalComplete = true;
    Path file = StateFiles.snapshot(folder, number);
    snapshots.apply(image).write(file, config.snapshotMaxBytes());
    counters.set(StateCounter.STATE_SNAPSHOT_BYTES, Files.size(file));
    // The one before stays, in case that this one is damaged later.
    StateFiles.find(present).deleteBefore(number - 1);
  }

  private void closeJournal() {
    if (journal != null) {
      try {
        journal.close();
      } catch (IOException e) {
        failed("the journal", e);
      }
      journal = null;
    }
  }

  private void failed(String what, Throwable e) {
    counters.increment(StateCounter.STATE_ERRORS);
    failures.stateNotWritten(device, what, e);
  }
}
