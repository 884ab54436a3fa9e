package org.hdfsmeld.datanode.hint;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hdfsmeld.datanode.config.HistoryConfiguration;
import org.hdfsmeld.datanode.hint.KindHistory.Kind;
import org.hdfsmeld.datanode.metrics.Counters;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimDeviceOpener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides by how files of a block's kind, or else of its parent, were read on this volume: whether
 * the volume's device would serve the same reads sooner if the data were melded; and by how long
 * their blocks lived, with which others it lies together.
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
  private final KindHistory history;
  private final HistoryFile file;
  private final AtomicBoolean measuring = new AtomicBoolean();
  private final ScheduledExecutorService worker;
  private volatile LayoutTimes times;

  /** By kind, when the pattern became this: its blocks share one reason, however many they are. */
  private final Map<Long, HintDecision> decisions;

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
        new KindHistory(
            config.maxEntries(),
            config.halfLifeMs(),
            config.shortestLifeMs(),
            System::currentTimeMillis);
    this.decisions = Collections.synchronizedMap(new LeastRecentlyUsed<>(config.maxEntries()));
    this.file = new HistoryFile(volume);
    if (!file.load(history)) {
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

  /** A run of sequential reads of a block has ended; see {@link KindHistory#record}. */
  public void record(
      BlockHint hint, long bornAs, boolean isFirst, long bytes, long reads, long outstandingBytes) {
    history.record(hint, bornAs, isFirst, bytes, reads, outstandingBytes);
    counters.increment(VolumeCounter.HISTORY_RUNS);
    if (times == null && hint.isKnown()) {
      measure();
    }
  }

  /** A block has died, not just a replica of it; see {@link KindHistory#died}. */
  public void died(BlockHint hint, long bornAs) {
    if (history.died(hint, bornAs)) {
      counters.increment(VolumeCounter.LIFETIMES_LEARNED);
    }
  }

  /** The reclaim unit handle, of so many, that a block that begins belongs to. */
  public int handle(BlockHint hint, int handles) {
    return history.handle(hint, handles);
  }

  /** Kinds of which blocks have died. */
  public long groups() {
    return history.mortal();
  }

  public int size() {
    return history.size();
  }

  /** The device's times; null while they are unknown. */
  public LayoutTimes times() {
    return times;
  }

  /** Decides at once: neither waits nor does I/O. By size where too little is known. */
  public HintDecision decide(BlockHint hint) {
    LayoutTimes known = times;
    for (long key : known == null ? new long[0] : new long[] {hint.kind(), hint.parentKind()}) {
      Kind kind = history.look(key);
      if (kind != null && Math.round(kind.mix.runs()) >= config.minRuns()) {
        boolean own = key == hint.kind();
        HintDecision now = decide(known, kind.mix, own ? "its kind" : "its directory");
        return decisions.merge(
            own ? key : ~key, now, (old, fresh) -> old.pattern() == fresh.pattern() ? old : fresh);
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
            "reads of %s take the device %.2f times as long normal as melded: %s",
            what,
            gain,
            text(mix));
    return new HintDecision(
        melds ? ReadPattern.SEQUENTIAL : otherwise, HintDecision.Source.HISTORY, reason);
  }

  private static String text(ReadMix mix) {
    return String.format(
        Locale.ROOT,
        "%.0f runs of %.3f MiB in requests of %.3f MiB, %.3f MiB outstanding",
        mix.runs(),
        mix.runBytes() / MIB,
        mix.requestBytes() / MIB,
        mix.outstandingBytes() / MIB);
  }

  /** For people: what is known of a kind, and from how many blocks. */
  public String describe(long key) {
    Kind kind = history.look(key);
    List<String> known = new ArrayList<>();
    if (kind != null && Math.round(kind.mix.runs()) > 0) {
      known.add(text(kind.mix) + ", of " + kind.blocks + " blocks");
    }
    if (kind != null && kind.deaths > 0) {
      double hours = kind.lifeMs() / TimeUnit.HOURS.toMillis(1);
      String deaths = kind.deaths + (kind.deaths == KindHistory.MEMORY ? " or more" : "");
      known.add(String.format(Locale.ROOT, "%s blocks deleted after %.3g hours", deaths, hours));
    }
    return known.isEmpty() ? "nothing known" : String.join("; ", known);
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
            } catch (Exception | Error e) {
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
    if (history.takeChanged() && !file.save(history)) {
      history.keepChanged();
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
