package org.hdfsmeld.spark.lookup;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.io.IOUtils;
import org.hdfsmeld.spark.data.RawContent;
import org.hdfsmeld.spark.measure.LatencyHistogram;
import org.hdfsmeld.spark.task.Tasks;

/**
 * The reads of one task. As in HBase, all its threads share one open stream a file and read by
 * position; a stream stays open until the task ends.
 */
final class LookupTask implements AutoCloseable {
  private final LookupPlan plan;
  private final int bytes;
  private final boolean verify;
  private final Configuration conf;
  private final Map<String, FSDataInputStream> streams = new ConcurrentHashMap<>();

  /** The reads of one task: from the first to before the last. */
  record Slice(long first, long end) implements Serializable {}

  /** What a task or one of its threads read; the sum of the CRC-32C of every read. */
  record Done(long checksum, LatencyHistogram latency) implements Serializable {
    static Done sum(List<Done> parts) {
      return new Done(
          parts.stream().mapToLong(Done::checksum).sum(),
          LatencyHistogram.sum(parts.stream().map(Done::latency).toList()));
    }
  }

  LookupTask(LookupPlan plan, int bytes, boolean verify, Configuration conf) {
    this.plan = plan;
    this.bytes = bytes;
    this.verify = verify;
    this.conf = conf;
  }

  /** Does the reads of the slice, by turns in the threads. */
  Done run(Slice slice, int threads) throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<Done>> work = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        long first = slice.first() + i;
        work.add(() -> read(first, slice.end(), threads));
      }
      List<Done> done = new ArrayList<>();
      for (Future<Done> thread : executor.invokeAll(work)) {
        done.add(thread.get());
      }
      long reads = slice.end() - slice.first();
      Tasks.countInput(reads * bytes, reads);
      return Done.sum(done);
    } finally {
      executor.shutdownNow();
    }
  }

  private Done read(long first, long end, int step) throws IOException {
    LatencyHistogram latency = new LatencyHistogram();
    byte[] record = new byte[bytes];
    CRC32C crc = new CRC32C();
    long checksum = 0;
    for (long read = first; read < end; read += step) {
      LookupPlan.Place place = plan.place(read);
      FSDataInputStream in = streams.computeIfAbsent(place.path(), this::open);
      long began = System.nanoTime();
      in.readFully(place.offset(), record);
      latency.record(System.nanoTime() - began);
      crc.reset();
      crc.update(record, 0, bytes);
      checksum += crc.getValue();
      if (verify) {
        Path path = new Path(place.path());
        RawContent.of(path).check(path, place.offset(), record, bytes);
      }
    }
    return new Done(checksum, latency);
  }

  private FSDataInputStream open(String name) {
    try {
      Path path = new Path(name);
      FSDataInputStream in = path.getFileSystem(conf).open(path);
      if (in.hasCapability(StreamCapabilities.READAHEAD)) {
        in.setReadahead(0L);
      }
      return in;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    streams.values().forEach(IOUtils::closeStream);
  }
}
