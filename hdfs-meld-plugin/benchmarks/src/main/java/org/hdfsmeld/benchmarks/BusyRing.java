package org.hdfsmeld.benchmarks;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldMode;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.io.ReadStream;
import org.hdfsmeld.datanode.io.StreamUser;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.trace.BlockTrace;

/**
 * Measures that the readers of a device do not keep its thread, in real-time mode with a spin: how
 * often counters change for whoever looks, and how long a switch to {@code off} takes. Exits with 1
 * when the switch takes longer than the bar, or counters stand still as long.
 */
public final class BusyRing {
  private static final int READERS = 64;
  private static final int PACKET_BYTES = 64 << 10;
  private static final long BLOCK_BYTES = 64 << 20;
  private static final long LOOK_NS = 1_000_000;
  private static final long BAR_NS = TimeUnit.SECONDS.toNanos(1);

  private BusyRing() {}

  /** Runs; the only argument is for how many seconds. */
  public static void main(String[] args) throws Exception {
    long seconds = args.length > 0 ? Long.parseLong(args[0]) : 10;
    Path folder = Files.createTempDirectory("meld-ring");
    Configuration conf = new Configuration(false);
    conf.set("dfs.datanode.meld.mode", "real-time");
    conf.set("dfs.datanode.meld.realtime.spin", "1ms");
    conf.set("dfs.datanode.meld.state.enabled", "false");
    MeldConfiguration config = MeldConfiguration.read(conf);
    File current = Files.createDirectory(folder.resolve("current")).toFile();
    boolean held;
    try (MeldVolumes volumes =
        new MeldVolumes(config, HintSource.NONE, new BlockTrace(config.trace(), "ring"))) {
      volumes.add("DS-1", current);
      held = measure(volumes.holding(new File(current, "BP-1/blk_1")), seconds);
    } finally {
      Files.deleteIfExists(folder.resolve("meld-read-history"));
      Files.delete(current.toPath());
      Files.delete(folder);
    }
    System.exit(held ? 0 : 1);
  }

  private static boolean measure(MeldVolume volume, long seconds) throws Exception {
    AtomicLong packets = new AtomicLong();
    List<Thread> readers = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      BlockKey block = new BlockKey("BP-1", i);
      Thread reader = new Thread(() -> read(volume, block, packets));
      reader.setDaemon(true);
      reader.start();
      readers.add(reader);
    }
    long[] gaps = gaps(volume, TimeUnit.SECONDS.toNanos(seconds));
    long begin = System.nanoTime();
    volume.change(MeldMode.OFF, 1);
    long switchNs = System.nanoTime() - begin;
    for (Thread reader : readers) {
      reader.interrupt();
      reader.join(TimeUnit.NANOSECONDS.toMillis(BAR_NS));
    }
    if (!volume.isHealthy() || packets.get() == 0) {
      throw new IOException("the device is out of service: " + volume.getLastError());
    }
    long longest = gaps[gaps.length - 1];
    boolean held = switchNs <= BAR_NS && longest <= BAR_NS;
    System.out.printf(
        "%d readers, spin on, %d s, %d packets: counters changed %d times, after %.1f ms in the"
            + " median and %.1f ms at most; off after %.1f ms; bar 1 s: %s%n",
        READERS,
        seconds,
        packets.get(),
        gaps.length,
        gaps[gaps.length / 2] / 1e6,
        longest / 1e6,
        switchNs / 1e6,
        held ? "held" : "**missed**");
    return held;
  }

  /** Times between two changes of a counter, sorted. */
  private static long[] gaps(MeldVolume volume, long lengthNs) {
    List<Long> gaps = new ArrayList<>();
    long begin = System.nanoTime();
    long changed = begin;
    long known = -1;
    for (long now = begin; now - begin < lengthNs; now = System.nanoTime()) {
      long present = volume.getCounters().get("read_commands");
      if (present != known) {
        gaps.add(now - changed);
        changed = now;
        known = present;
      }
      LockSupport.parkNanos(LOOK_NS);
    }
    gaps.add(System.nanoTime() - changed);
    long[] sorted = gaps.stream().mapToLong(Long::longValue).toArray();
    Arrays.sort(sorted);
    return sorted;
  }

  private static void read(MeldVolume volume, BlockKey block, AtomicLong packets) {
    while (!Thread.currentThread().isInterrupted() && volume.device().forwards()) {
      ReadStream reader =
          new ReadStream(volume, block, () -> BLOCK_BYTES, true, StreamUser.DATANODE);
      for (long at = 0; at < BLOCK_BYTES && volume.device().forwards(); at += PACKET_BYTES) {
        reader.consume(at, PACKET_BYTES);
        packets.incrementAndGet();
      }
      reader.close();
    }
  }
}
