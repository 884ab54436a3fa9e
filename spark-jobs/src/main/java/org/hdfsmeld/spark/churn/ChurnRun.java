package org.hdfsmeld.spark.churn;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.data.RawContent;
import org.hdfsmeld.spark.measure.Measured;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.task.AttemptFile;
import org.hdfsmeld.spark.task.Tasks;

/**
 * Rounds of ingest, shuffle and compaction. Events live {@code keep} rounds, what is shuffled until
 * the next round has read it, and the table's partitions {@code table} rounds.
 */
public final class ChurnRun {
  private static final int BUFFER_BYTES = 1 << 20;

  private ChurnRun() {}

  /**
   * What to do.
   *
   * @param output a directory of the run's own, deleted at its end
   * @param files that a round ingests, and that it shuffles
   * @param keep rounds after which events expire
   * @param table rounds after which a partition of the table expires; so many are there from the
   *     start
   * @param leastSeconds of a round, as HDFS deletes a while later
   */
  public record Request(
      String output,
      int rounds,
      int files,
      long fileBytes,
      long blockBytes,
      int keep,
      int table,
      double leastSeconds,
      long seed) {}

  /**
   * What was done.
   *
   * @param writtenBytes of files, each once however many replicas it has
   * @param deletedBytes of these, what expired before the end
   * @param wallSeconds measured: of the stages, added up
   */
  public record Result(
      int rounds,
      int files,
      long writtenBytes,
      long deletedBytes,
      double wallSeconds,
      double writtenMibPerSecond,
      List<StageThroughput> stages) {}

  /**
   * A file to be written: what its sources hold, up to its length, or raw content.
   *
   * @param sources read to their ends; none: content of its own
   * @param seed of that
   * @param number of that
   */
  private record Item(String path, long bytes, List<String> sources, long seed, int number)
      implements Serializable {}

  /** Runs with a session of the caller, which stays open. */
  public static Result run(SparkSession session, Request request) throws Exception {
    SparkContext context = session.sparkContext();
    Path root = new Path(request.output());
    FileSystem fs = root.getFileSystem(context.hadoopConfiguration());
    Path output = fs.makeQualified(root);
    if (fs.exists(output)) {
      throw new IOException(output + ": already exists; choose another --output");
    }
    try {
      Measured<long[]> measured =
          Measured.run(context, "churn", () -> rounds(context, fs, output, request));
      long written = measured.value()[1];
      return new Result(
          request.rounds(),
          (int) measured.value()[0],
          written,
          measured.value()[2],
          measured.wallSeconds(),
          StageThroughput.mibPerSecond(written, measured.wallSeconds()),
          measured.stages());
    } finally {
      fs.delete(output, true);
    }
  }

  /** Files written, bytes written, bytes deleted. */
  private static long[] rounds(SparkContext context, FileSystem fs, Path output, Request request)
      throws Exception {
    long[] done = new long[3];
    List<Item> items = new ArrayList<>();
    for (int round = -request.table(); round < 0; round++) {
      items.add(own(table(output, round), 0, round, request));
    }
    write(context, items, request, done);
    for (int round = 0; round < request.rounds(); round++) {
      long begin = System.nanoTime();
      write(context, items(output, round, request), request, done);
      Path read = new Path(output, "shuffle/job_" + (round - 1));
      Path expired = new Path(output, "events/date=" + (round - request.keep()));
      for (Path old : List.of(read, expired, table(output, round - request.table()))) {
        if (fs.exists(old)) {
          done[2] += fs.getContentSummary(old).getLength();
          fs.delete(old, true);
        }
      }
      long left = (long) (request.leastSeconds() * 1e9) - (System.nanoTime() - begin);
      TimeUnit.NANOSECONDS.sleep(left);
    }
    return done;
  }

  /** What a round writes, in an order of its own, so that data of all lives lies side by side. */
  private static List<Item> items(Path output, int round, Request request) {
    List<Item> items = new ArrayList<>();
    Path events = new Path(output, "events/date=");
    Path shuffle = new Path(output, "shuffle/job_");
    for (int i = 0; i < request.files(); i++) {
      items.add(own(new Path(events.toString() + round), i, round, request));
      if (round > 0) {
        String source = name(new Path(events.toString() + (round - 1)), i);
        String path = name(new Path(shuffle.toString() + round), i);
        items.add(new Item(path, request.fileBytes(), List.of(source), 0, 0));
      }
    }
    if (round > 1) {
      Path read = new Path(shuffle.toString() + (round - 1));
      List<String> sources =
          IntStream.range(0, request.files()).mapToObj(i -> name(read, i)).toList();
      items.add(new Item(name(table(output, round), 0), request.fileBytes(), sources, 0, 0));
    }
    Collections.shuffle(items, new Random(request.seed() + round));
    return items;
  }

  private static Path table(Path output, int round) {
    return new Path(output, "table/date=" + (round < 0 ? "before" : "") + Math.abs(round));
  }

  private static String name(Path directory, int number) {
    return new Path(directory, String.format("part-%05d", number)).toString();
  }

  private static Item own(Path directory, int number, int round, Request request) {
    String path = name(directory, number);
    return new Item(path, request.fileBytes(), List.of(), request.seed() + round, number);
  }

  private static void write(SparkContext context, List<Item> items, Request request, long[] done) {
    long blockBytes = request.blockBytes();
    Tasks.run(context, items, (item, conf) -> write(item, blockBytes, conf));
    done[0] += items.size();
    done[1] += items.stream().mapToLong(Item::bytes).sum();
  }

  /** Writes a file; returns the bytes read for it. */
  private static long write(Item item, long blockBytes, Configuration conf) throws IOException {
    Path path = new Path(item.path());
    FileSystem fs = path.getFileSystem(conf);
    byte[] buffer = new byte[BUFFER_BYTES];
    long read = 0;
    try (AttemptFile file = new AttemptFile(fs, path, blockBytes)) {
      long left = item.bytes();
      for (String source : item.sources()) {
        try (InputStream in = fs.open(new Path(source))) {
          for (int length = in.read(buffer); length > 0; length = in.read(buffer)) {
            read += length;
            left -= write(file.out(), buffer, length, left);
          }
        }
      }
      RawContent content = new RawContent(item.seed(), item.number());
      for (long offset = 0; item.sources().isEmpty() && left > 0; offset += BUFFER_BYTES) {
        content.fill(offset, buffer, BUFFER_BYTES);
        left -= write(file.out(), buffer, BUFFER_BYTES, left);
      }
      file.commit();
    }
    Tasks.countInput(read, item.sources().size());
    Tasks.countOutput(item.bytes(), 1);
    return read;
  }

  private static int write(OutputStream out, byte[] buffer, int length, long left)
      throws IOException {
    int written = (int) Math.min(length, left);
    out.write(buffer, 0, written);
    return written;
  }
}
