package org.hdfsmeld.spark.lookup;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.data.DataFiles;
import org.hdfsmeld.spark.measure.LatencySummary;
import org.hdfsmeld.spark.measure.Measured;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.task.Tasks;

/** Deals the reads to tasks, and sums up what they got. */
public final class LookupRun {
  private LookupRun() {}

  /**
   * What to read.
   *
   * @param reads of all tasks together
   * @param bytes of a read
   * @param threads of each task
   * @param seed of the places
   * @param verify whether every byte is compared with what the files were written with
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
   * @param verifiedBytes how many were compared with what the files were written with
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

  /** Looks up with a session of the caller, which stays open. */
  public static Result run(SparkSession session, Request request) throws Exception {
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

  private static LookupTask.Slice slice(long reads, int index, int slices) {
    long each = reads / slices;
    long rest = reads % slices;
    long first = index * each + Math.min(index, rest);
    return new LookupTask.Slice(first, first + each + (index < rest ? 1 : 0));
  }
}
