package org.hdfsmeld.spark;

import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.cli.ByteSize;
import org.hdfsmeld.spark.lookup.LookupRun;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Reads small records at random places, by position and without readahead, as HBase does. */
@Command(
    name = "lookup",
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

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Lookup(), arguments);
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
    return LookupRun.run(
        session,
        new LookupRun.Request(input.paths, reads, (int) bytes, parallel, threads, seed, verify));
  }
}
