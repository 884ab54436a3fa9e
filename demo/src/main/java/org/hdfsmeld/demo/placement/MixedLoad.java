package org.hdfsmeld.demo.placement;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Scans and lookups at the same time.
 *
 * <p>Scans are paced: the reader takes each piece no sooner than a fixed schedule says, so that all
 * placements scan equally fast as long as their devices can. A reader that is late catches up.
 * Lookups are positional reads of 4 KiB at random offsets, one after the other, each begun no
 * sooner than a fixed interval after the one before it.
 */
final class MixedLoad {
  private static final int PIECE_BYTES = 64 << 10;
  private static final int LOOKUP_BYTES = 4 << 10;
  private static final double MIB = 1L << 20;

  private final FileSystem fileSystem;
  private final Shape shape;

  /**
   * The load.
   *
   * @param scanMibPerSecond of all scans together, wall time
   * @param lookupThreads threads that look up
   * @param lookupIntervalMs from one lookup of a thread to its next
   * @param warmUpSeconds not measured
   * @param seconds measured
   */
  record Shape(
      double scanMibPerSecond,
      int lookupThreads,
      long lookupIntervalMs,
      double warmUpSeconds,
      double seconds) {}

  /**
   * What the readers got, by the wall clock.
   *
   * @param lookupMs latencies in ascending order
   */
  record Outcome(List<Double> lookupMs, double scanMibPerSecond) {
    /** The latency that this share of the lookups did not exceed. */
    double percentileMs(double share) {
      int rank = (int) Math.ceil(share * lookupMs.size());
      return lookupMs.get(Math.max(1, rank) - 1);
    }
  }

  MixedLoad(FileSystem fileSystem, Shape shape) {
    this.fileSystem = fileSystem;
    this.shape = shape;
  }

  /** Runs it: one scan of each file of {@code scans}, over and over, and all lookup threads. */
  Outcome run(Path scans, Path lookups) throws Exception {
    FileStatus[] scanned = fileSystem.listStatus(scans);
    FileStatus[] lookedUp = fileSystem.listStatus(lookups);
    long begin = System.nanoTime() + nanos(shape.warmUpSeconds());
    long end = begin + nanos(shape.seconds());
    ExecutorService executor = Executors.newCachedThreadPool();
    try {
      List<Future<Long>> scanning = new ArrayList<>();
      for (FileStatus file : scanned) {
        double rate = shape.scanMibPerSecond() / scanned.length;
        scanning.add(executor.submit(() -> scan(file, begin, end, rate)));
      }
      List<Future<List<Double>>> lookingUp = new ArrayList<>();
      for (int i = 0; i < shape.lookupThreads(); i++) {
        FileStatus file = lookedUp[i % lookedUp.length];
        long seed = i;
        lookingUp.add(executor.submit(() -> lookUp(file, begin, end, seed)));
      }
      double bytes = 0;
      for (Future<Long> scan : scanning) {
        bytes += scan.get();
      }
      List<Double> latencies = new ArrayList<>();
      for (Future<List<Double>> lookup : lookingUp) {
        latencies.addAll(lookup.get());
      }
      if (latencies.isEmpty()) {
        throw new IllegalStateException("no lookup was measured; choose more --seconds");
      }
      latencies.sort(null);
      return new Outcome(List.copyOf(latencies), bytes / MIB / shape.seconds());
    } finally {
      executor.shutdownNow();
    }
  }

  /** Bytes that a scan took between {@code begin} and {@code end}. */
  private long scan(FileStatus file, long begin, long end, double mibPerSecond)
      throws IOException, InterruptedException {
    byte[] piece = new byte[PIECE_BYTES];
    double nanosPerByte = 1e9 / (mibPerSecond * MIB);
    long start = System.nanoTime();
    long taken = 0;
    long counted = 0;
    while (true) {
      try (FSDataInputStream in = fileSystem.open(file.getPath(), PIECE_BYTES)) {
        for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
          long now = System.nanoTime();
          if (now - end >= 0) {
            return counted;
          }
          taken += read;
          counted += now - begin >= 0 ? read : 0;
          sleepUntil(start + (long) (taken * nanosPerByte));
        }
      }
    }
  }

  private List<Double> lookUp(FileStatus file, long begin, long end, long seed)
      throws IOException, InterruptedException {
    Random random = new Random(seed);
    byte[] record = new byte[LOOKUP_BYTES];
    long records = file.getLen() / LOOKUP_BYTES;
    List<Double> latencies = new ArrayList<>();
    try (FSDataInputStream in = fileSystem.open(file.getPath())) {
      for (long next = System.nanoTime(); next - end < 0; ) {
        sleepUntil(next);
        // Not the first record of the file: who reads a block from its start is taken for a scan.
        long offset = (1 + (long) (random.nextDouble() * (records - 1))) * LOOKUP_BYTES;
        long from = System.nanoTime();
        in.readFully(offset, record);
        long to = System.nanoTime();
        if (from - begin >= 0 && from - end < 0) {
          latencies.add((to - from) / 1e6);
        }
        next = Math.max(next + TimeUnit.MILLISECONDS.toNanos(shape.lookupIntervalMs()), to);
      }
    }
    return latencies;
  }

  private static void sleepUntil(long nanoTime) throws InterruptedException {
    long left = nanoTime - System.nanoTime();
    if (left > 0) {
      TimeUnit.NANOSECONDS.sleep(left);
    }
  }

  private static long nanos(double seconds) {
    return (long) (seconds * 1e9);
  }
}
