package org.hdfsmeld.spark;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Reads small records at random places, by position and without readahead, as HBase does. */
@Command(
    name = "lookup",
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class,
    sortOptions = false,
    showDefaultValues = true,
    description = {
      "Read small records at random places; print latency percentiles, throughput and checksum.",
      "Every place where a record fits is equally likely. A thread has one read under way.",
      "Run by: spark-submit --class org.hdfsmeld.spark.Lookup spark-jobs-VERSION-all.jar …"
    })
public final class Lookup extends JobCommand {
  private static final int MAX_THREADS = 1024;

  @Option(
      names = "--reads",
      defaultValue = "10000",
      paramLabel = "N",
      description = "Reads, of all tasks together.")
  long reads;

  @Option(
      names = "--bytes",
      defaultValue = "64k",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "Bytes of a read, at most 1g. Suffixes k, m, g.")
  long bytes;

  @Option(
      names = "--tasks",
      paramLabel = "N",
      description = "Tasks that share the reads; default: what Spark takes for its parallelism.",
      showDefaultValue = Visibility.NEVER)
  Integer tasks;

  @Option(
      names = "--threads",
      defaultValue = "1",
      paramLabel = "N",
      description = "Threads of a task: as many reads are under way.")
  int threads;

  @Option(names = "--seed", defaultValue = "1", description = "Of the places.")
  long seed;

  @Option(
      names = "--verify",
      description = "Compare every byte with what generate --format raw wrote.")
  boolean verify;

  @Mixin InputPaths input;

  /**
   * What to read.
   *
   * @param reads of all tasks together
   * @param bytes of a read
   * @param threads of each task
   * @param seed of the places
   * @param verify whether every byte is compared with what {@link RawFiles} wrote
   */
  public record Request(
      List<String> paths,
      long reads,
      int bytes,
      int tasks,
      int threads,
      long seed,
      boolean verify) {}

  /**
   * What was read.
   *
   * @param files that are long enough for a read
   * @param bytes of a read
   * @param threads of each task
   * @param verifiedBytes how many were compared with what {@link RawFiles} wrote
   * @param checksum the sum, modulo 2^64, of the CRC-32C of every read, in hexadecimal; depends on
   *     data, reads, bytes and seed only
   * @param latency of a read
   * @param wallSeconds of the stage
   */
  public record Result(
      int files,
      long reads,
      int bytes,
      int tasks,
      int threads,
      long seed,
      long verifiedBytes,
      String checksum,
      LatencySummary latency,
      double wallSeconds,
      double readsPerSecond,
      double readMibPerSecond,
      List<StageThroughput> stages) {}

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Lookup(), arguments);
  }

  /** Looks up with a session of the caller, which stays open. */
  public static Result lookUp(SparkSession session, Request request) throws Exception {
    SparkContext context = session.sparkContext();
    List<FileStatus> files = DataFiles.all(context.hadoopConfiguration(), request.paths());
    LookupPlan plan = new LookupPlan(files, request.bytes(), request.seed());
    int tasks = (int) Math.min(request.tasks(), request.reads());
    List<LookupTask.Slice> slices =
        IntStream.range(0, tasks).mapToObj(i -> slice(request.reads(), i, tasks)).toList();
    int bytes = request.bytes();
    int threads = request.threads();
    boolean verify = request.verify();
    Measured<List<LookupTask.Done>> measured =
        Measured.run(
            context,
            "lookup",
            () ->
                Tasks.run(
                    context,
                    slices,
                    (slice, conf) -> {
                      try (LookupTask task = new LookupTask(plan, bytes, verify, conf)) {
                        return task.run(slice, threads);
                      }
                    }));
    LookupTask.Done done = LookupTask.Done.sum(measured.value());
    long readBytes = request.reads() * bytes;
    double wallSeconds = measured.wallSeconds();
    return new Result(
        plan.files(),
        request.reads(),
        bytes,
        tasks,
        threads,
        request.seed(),
        verify ? readBytes : 0,
        String.format("%016x", done.checksum()),
        done.latency().summary(),
        wallSeconds,
        wallSeconds > 0 ? request.reads() / wallSeconds : 0,
        StageThroughput.mibPerSecond(readBytes, wallSeconds),
        measured.stages());
  }

  @Override
  void validate() {
    input.validated();
    if (reads < 1) {
      throw bad("--reads: is " + reads + "; must be at least 1");
    }
    requireBufferBytes("--bytes", bytes);
    if (tasks != null && tasks < 1) {
      throw bad("--tasks: is " + tasks + "; must be at least 1");
    }
    if (threads < 1 || threads > MAX_THREADS) {
      throw bad("--threads: is " + threads + "; must be 1 to " + MAX_THREADS);
    }
  }

  @Override
  String seed() {
    return "--seed " + seed;
  }

  @Override
  int threadsPerTask() {
    return threads;
  }

  @Override
  Object run(SparkSession session) throws Exception {
    int parallel = tasks == null ? session.sparkContext().defaultParallelism() : tasks;
    return lookUp(
        session, new Request(input.paths, reads, (int) bytes, parallel, threads, seed, verify));
  }

  private static LookupTask.Slice slice(long reads, int index, int slices) {
    long each = reads / slices;
    long rest = reads % slices;
    long first = index * each + Math.min(index, rest);
    return new LookupTask.Slice(first, first + each + (index < rest ? 1 : 0));
  }
}
