package org.hdfsmeld.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Reads the volumes' counters at a fixed rate, for the throughput over time. */
final class Sampler implements AutoCloseable {
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
   * Bytes read since the beginning of the device's life, by device.
   *
   * @param wallSeconds since the sampler started
   */
  record Sample(double wallSeconds, List<Long> readBytes) {}

  private Sampler(Volumes volumes) {
    this.volumes = volumes;
  }

  static Sampler start(Volumes volumes) {
    Sampler sampler = new Sampler(volumes);
    sampler.executor.scheduleAtFixedRate(sampler::take, 0, PERIOD_MS, TimeUnit.MILLISECONDS);
    return sampler;
  }

  synchronized List<Sample> samples() {
    return List.copyOf(samples);
  }

  @Override
  public void close() {
    executor.shutdownNow();
    take();
  }

  private synchronized void take() {
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    List<Long> bytes =
        volumes.counters().stream().map(counters -> counters.get("host_read_bytes")).toList();
    samples.add(new Sample(seconds, bytes));
  }
}
