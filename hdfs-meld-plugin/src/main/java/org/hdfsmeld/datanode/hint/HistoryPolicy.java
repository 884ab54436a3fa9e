package org.hdfsmeld.datanode.hint;

import java.io.File;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hdfsmeld.datanode.config.HistoryConfiguration;
import org.hdfsmeld.datanode.hint.ReadHistory.Key;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides by how a block's file, or else its directory, was read on this volume: whether the
 * volume's device would serve the same reads sooner if the data were melded; and by how long blocks
 * of its group lived, with which others it lies together.
 *
 * <p>The device's times come from a second one of the same profile, measured once, in the
 * background, when there first is enough history to use them.
 */
public final class HistoryPolicy implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HistoryPolicy.class);

  /** Melded data must be faster by this much: a tie is no reason for a directive. */
  private static final double LEAST_GAIN = 1.02;

  private static final double MIB = 1 << 20;

  /** How long the end of a volume waits for its history. */
  private static final long SAVE_S = 5;

  private final String volume;
  private final HistoryConfiguration config;
  private final SimDeviceOpener opener;
  private final Counters<VolumeCounter> counters;
  private final ReadHistory history;
  private final Lifetimes lifetimes;
  private final HistoryFile file;
  private final AtomicBoolean measuring = new AtomicBoolean();
  private final ScheduledExecutorService worker;
  private volatile LayoutTimes times;

  /**
   * The history of a volume, as it was saved.
   *
   * @param volume the volume's folder
   * @param opener makes devices of the volume's profile
   */
  public HistoryPolicy(
      File volume,
      HistoryConfiguration config,
      SimDeviceOpener opener,
      Counters<VolumeCounter> counters) {
    this.volume = volume.getPath();
    this.config = config;
    this.opener = opener;
    this.counters = counters;
    this.worker = Executors.newSingleThreadScheduledExecutor(this::newThread);
    this.history =
        new ReadHistory(config.maxEntries(), config.halfLifeMs(), System::currentTimeMillis);
    this.lifetimes = new Lifetimes(config.maxEntries(), config.shortestLifeMs());
    this.file = new HistoryFile(volume);
    if (!file.load(history, lifetimes)) {
      counters.increment(VolumeCounter.HISTORY_RESETS);
    }
    if (history.size() > 0) {
      measure();
    }
    long interval = config.saveIntervalMs();
    if (interval > 0) {
      var unused =
          worker.scheduleWithFixedDelay(this::save, interval, interval, TimeUnit.MILLISECONDS);
    }
  }

  /** The volume's own: a disk that hangs keeps no other volume waiting. */
  private Thread newThread(Runnable task) {
    Thread thread = new Thread(task, "meld-read-history-" + volume);
    thread.setDaemon(true);
    return thread;
  }

  /** A run of sequential reads of a block has ended; see {@link ReadHistory#record}. */
  public void record(
      BlockKey block, BlockHint hint, long bytes, long reads, long outstandingBytes) {
    history.record(block, hint, bytes, reads, outstandingBytes);
    counters.increment(VolumeCounter.HISTORY_RUNS);
    if (times == null && hint.directoryId() != 0) {
      measure();
    }
  }

  /**
   * A block of this lifetime group has ended, which began at {@code bornMs}.
   *
   * @return false when either is 0, which is not known, and so nothing is learned
   */
  public boolean ended(long group, long bornMs) {
    return lifetimes.ended(group, bornMs, System.currentTimeMillis());
  }

  /** The reclaim unit handle, of so many, that a block of this lifetime group belongs to. */
  public int handle(long group, int handles) {
    return lifetimes.handle(group, handles, System.currentTimeMillis());
  }

  public int groups() {
    return lifetimes.size();
  }

  public int size() {
    return history.size();
  }

  /** The device's times; null while they are unknown. */
  public LayoutTimes times() {
    return times;
  }

  /** Decides at once: neither waits nor does I/O. By size where too little is known. */
  public HintDecision decide(BlockKey block, BlockHint hint) {
    LayoutTimes known = times;
    if (known != null) {
      for (Key key : Key.of(block, hint)) {
        ReadMix mix = history.look(key);
        if (mix != null && Math.round(mix.runs()) >= config.minRuns()) {
          return decide(known, mix, key.kind().text());
        }
      }
    }
    return HintDecision.BY_SIZE;
  }

  static HintDecision decide(LayoutTimes times, ReadMix mix, String what) {
    double gain = times.normal().timePs(mix) / times.melded().timePs(mix);
    boolean melds = gain >= LEAST_GAIN;
    // Long runs with little outstanding are sequential still: only their pages are better apart.
    long crossover = times.crossoverBytes();
    boolean random = crossover != Long.MAX_VALUE && mix.runBytes() < crossover;
    ReadPattern otherwise = random ? ReadPattern.RANDOM : ReadPattern.NONE;
    String reason =
        String.format(
            Locale.ROOT,
            "reads of %s take the device %.2f times as long normal as melded:"
                + " %.0f runs of %.3f MiB in requests of %.3f MiB, %.3f MiB outstanding",
            what,
            gain,
            mix.runs(),
            mix.runBytes() / MIB,
            mix.requestBytes() / MIB,
            mix.outstandingBytes() / MIB);
    return new HintDecision(
        melds ? ReadPattern.SEQUENTIAL : otherwise, HintDecision.Source.HISTORY, reason);
  }

  private void measure() {
    if (!measuring.compareAndSet(false, true)) {
      return;
    }
    try {
      worker.execute(
          () -> {
            try (SimDevice device = opener.open()) {
              times = LayoutTimes.measure(device);
            } catch (Exception | LinkageError e) {
              LOG.warn(
                  "Volume {}: blocks are decided on by their size, as the device's times could not"
                      + " be measured: {}",
                  volume,
                  e.toString());
            }
          });
    } catch (RejectedExecutionException e) {
      LOG.debug("closed meanwhile", e);
    }
  }

  private void save() {
    boolean changed = history.takeChanged();
    if ((lifetimes.takeChanged() || changed) && !file.save(history, lifetimes)) {
      counters.increment(VolumeCounter.HISTORY_SAVE_ERRORS);
    }
  }

  /** Saves what has changed; waits for that a while. */
  @Override
  public void close() {
    try {
      Future<?> last = worker.submit(this::save);
      worker.shutdown();
      last.get(SAVE_S, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException | RejectedExecutionException e) {
      counters.increment(VolumeCounter.HISTORY_SAVE_ERRORS);
    }
  }
}
