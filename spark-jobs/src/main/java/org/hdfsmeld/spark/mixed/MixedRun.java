package org.hdfsmeld.spark.mixed;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.data.DataFiles;
import org.hdfsmeld.spark.measure.LatencyHistogram;
import org.hdfsmeld.spark.measure.LatencySeries;
import org.hdfsmeld.spark.measure.Measured;
import org.hdfsmeld.spark.task.Slots;
import org.hdfsmeld.spark.task.Tasks;

/** The phases: readers alone and readers beside writers, by turns, as Spark jobs of their own. */
public final class MixedRun {
  // From the submission of the jobs to the start of the phase: tasks need less once all is warm.
  private static final long LEAD_MS = 1000;
  private static final long CLOSE_MS = 60_000;

  // All writers together, before the first phase: a slow device must not have much of it to finish.
  private static final double WARM_UP_MIB_PER_SECOND = 1;

  private final SparkContext context;
  private final Request request;
  private final List<FileStatus> files;
  private final List<String> paths;
  private final List<Phase> phases = new ArrayList<>();

  /**
   * What to do.
   *
   * @param ingest directory in which the run makes one of its own
   * @param phaseMs length of a phase
   * @param warmUpMs length of what comes before the first and is not measured
   * @param requestBytes of a reader's request
   * @param blockBytes of an ingested file
   * @param keep whole files of a writer that stay
   * @param readMibPerSecond of all readers together at most; zero: as fast as can be
   * @param ingestMibPerSecond of all writers together at most; zero: as fast as can be
   * @param binMs length of a bin of the time series
   */
  public record Request(
      List<String> paths,
      String ingest,
      long phaseMs,
      long warmUpMs,
      int rounds,
      int requestBytes,
      long blockBytes,
      int keep,
      int readers,
      int writers,
      double readMibPerSecond,
      double ingestMibPerSecond,
      int binMs) {}

  /**
   * The writers of a phase.
   *
   * @param mibPerSecond of all together at most; zero: as fast as can be
   * @param settle whether a phase follows, which should begin on a device at rest
   */
  private record Ingest(ExecutorService executor, double mibPerSecond, boolean settle) {}

  private record Phase(
      Window window, List<MixedReader.Done> readers, List<MixedWriter.Done> writers) {
    boolean writer() {
      return !writers.isEmpty();
    }
  }

  /** Runs with a session of the caller, which stays open. */
  public static MixedResult run(SparkSession session, Request request) throws Exception {
    return new MixedRun(session, request).run();
  }

  private MixedRun(SparkSession session, Request request) throws IOException {
    this.context = session.sparkContext();
    this.request = request;
    Configuration conf = context.hadoopConfiguration();
    files = DataFiles.all(conf, request.paths()).stream().filter(f -> f.getLen() > 0).toList();
    if (files.isEmpty()) {
      throw new IOException("PATH: all files are empty; generate some");
    }
    paths = List.of(DataFiles.paths(files));
  }

  private MixedResult run() throws Exception {
    Slots.require(
        context,
        request.readers() + request.writers(),
        request.readers() + " to read, " + request.writers() + " to write");
    Path directory = new Path(request.ingest(), "mixed-" + UUID.randomUUID());
    FileSystem fs = directory.getFileSystem(context.hadoopConfiguration());
    fs.mkdirs(directory);
    String ingest = fs.makeQualified(directory).toString();
    ExecutorService writing = Executors.newSingleThreadExecutor();
    try {
      double ingestRate = request.ingestMibPerSecond();
      double warmUpRate =
          ingestRate > 0 ? Math.min(ingestRate, WARM_UP_MIB_PER_SECOND) : WARM_UP_MIB_PER_SECOND;
      phase("warm up", request.warmUpMs(), ingest, new Ingest(writing, warmUpRate, true));
      for (int round = 1; round <= request.rounds(); round++) {
        phases.add(phase("round " + round + ", alone", request.phaseMs(), ingest, null));
        Ingest writers = new Ingest(writing, ingestRate, round < request.rounds());
        phases.add(phase("round " + round + ", with writer", request.phaseMs(), ingest, writers));
      }
    } finally {
      // If the readers failed, the writers still write until the phase is over.
      writing.shutdown();
      writing.awaitTermination(request.phaseMs() + CLOSE_MS, TimeUnit.MILLISECONDS);
      fs.delete(directory, true);
    }
    return result();
  }

  private Phase phase(String name, long lengthMs, String ingest, Ingest writing) throws Exception {
    Window window = Window.after(LEAD_MS, lengthMs);
    long blockBytes = request.blockBytes();
    int keep = request.keep();
    double readRate = request.readMibPerSecond() / request.readers();
    Future<List<MixedWriter.Done>> writers = null;
    if (writing != null) {
      double ingestRate = writing.mibPerSecond() / request.writers();
      boolean settle = writing.settle();
      writers =
          writing
              .executor()
              .submit(
                  job(
                      "mixed: " + name + ": write",
                      request.writers(),
                      (index, conf) ->
                          MixedWriter.run(
                              window, ingest, blockBytes, keep, ingestRate, settle, conf)));
    }
    List<String> scanned = paths;
    int readerCount = request.readers();
    int requestBytes = request.requestBytes();
    int binMs = request.binMs();
    List<MixedReader.Done> readers =
        job(
                "mixed: " + name + ": read",
                readerCount,
                (index, conf) -> {
                  int first = (int) ((long) index * scanned.size() / readerCount);
                  return MixedReader.run(
                      window, scanned, first, requestBytes, readRate, binMs, conf);
                })
            .call();
    Phase phase = new Phase(window, readers, writers == null ? List.of() : writers.get());
    if (lengthMs == request.phaseMs() && load(List.of(phase)).latency().requests() == 0) {
      throw new IllegalStateException(name + ": no request was measured; choose more --seconds");
    }
    return phase;
  }

  private <R> Callable<List<R>> job(String name, int tasks, Tasks.Work<Integer, R> work) {
    List<Integer> indices = IntStream.range(0, tasks).boxed().toList();
    return () -> Measured.run(context, name, () -> Tasks.run(context, indices, work)).value();
  }

  private MixedResult result() {
    List<MixedResult.Round> rounds = new ArrayList<>();
    for (int i = 0; i < phases.size(); i += 2) {
      rounds.add(
          new MixedResult.Round(
              load(phases.subList(i, i + 1)), load(phases.subList(i + 1, i + 2))));
    }
    MixedResult.Load alone = load(phases.stream().filter(phase -> !phase.writer()).toList());
    MixedResult.Load with = load(phases.stream().filter(Phase::writer).toList());
    return new MixedResult(
        files.size(),
        DataFiles.bytes(files),
        request.requestBytes(),
        request.readers(),
        request.writers(),
        request.phaseMs() / 1e3,
        alone,
        with,
        MixedResult.Ratio.of(with, alone),
        rounds,
        request.binMs(),
        phases.stream().flatMap(phase -> points(phase).stream()).toList());
  }

  /** Phases of one kind together: latencies merged, throughputs averaged over their equal times. */
  private static MixedResult.Load load(List<Phase> phases) {
    List<LatencyHistogram> latencies =
        phases.stream().flatMap(p -> p.readers().stream()).map(MixedReader.Done::latency).toList();
    double read =
        phases.stream()
            .mapToDouble(
                p -> p.readers().stream().mapToDouble(MixedReader.Done::mibPerSecond).sum())
            .average()
            .orElseThrow();
    double written =
        phases.stream()
            .mapToDouble(
                p -> p.writers().stream().mapToDouble(MixedWriter.Done::mibPerSecond).sum())
            .average()
            .orElseThrow();
    long lateMs =
        phases.stream()
            .flatMapToLong(
                p ->
                    LongStream.concat(
                        p.readers().stream().mapToLong(MixedReader.Done::lateMs),
                        p.writers().stream().mapToLong(MixedWriter.Done::lateMs)))
            .max()
            .orElseThrow();
    return new MixedResult.Load(LatencyHistogram.sum(latencies).summary(), read, written, lateMs);
  }

  private List<MixedResult.Point> points(Phase phase) {
    long start = phase.window().startMs() - phases.get(0).window().startMs();
    List<MixedResult.Point> points = new ArrayList<>();
    LatencySeries.merge(phase.readers().stream().map(MixedReader.Done::series).toList())
        .forEach(
            (bin, latency) ->
                points.add(
                    new MixedResult.Point(
                        start + (long) bin * request.binMs(),
                        phase.writer(),
                        latency.requests(),
                        latency.p50Us(),
                        latency.p99Us(),
                        latency.maxUs())));
    return points;
  }
}
