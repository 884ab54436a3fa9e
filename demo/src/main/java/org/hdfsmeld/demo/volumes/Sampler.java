package org.hdfsmeld.demo.volumes;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Reads the volumes' counters at a fixed rate, for the throughput over time. */
public final class Sampler implements AutoCloseable {
  private static final long PERIOD_MS = 250;

  private final Volumes volumes;
  private final long startNanos = System.nanoTime();
  private final List<Sample> samples = new ArrayList<>();
  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "sampler");
            thread.setDaemon(true);
            return thread;
          });

  /**
   * Pages that the devices have read since the beginning of their lives. Unlike bytes, which count
   * when a command arrives, pages count when they are sensed.
   *
   * @param wallSeconds since the sampler started
   * @param pages by device
   */
  public record Sample(double wallSeconds, List<Long> pages) {}

  private Sampler(Volumes volumes) {
    this.volumes = volumes;
  }

  /** Begins to sample; closing it takes the last sample. */
  public static Sampler start(Volumes volumes) {
    Sampler sampler = new Sampler(volumes);
    // A failure to sample is seen at close, which takes a last one.
    var unused =
        sampler.executor.scheduleAtFixedRate(sampler::take, 0, PERIOD_MS, TimeUnit.MILLISECONDS);
    return sampler;
  }

  /** The samples so far. */
  public synchronized List<Sample> samples() {
    return List.copyOf(samples);
  }

  @Override
  public void close() {
    executor.shutdownNow();
    take();
  }

  private synchronized void take() {
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    samples.add(
        new Sample(seconds, volumes.counters().stream().map(DeviceFigures::pagesRead).toList()));
  }
}
