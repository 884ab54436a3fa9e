package org.hdfsmeld.spark.sort;

import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.function.ToLongFunction;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.ForeachPartitionFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.SerializableConfiguration;
import org.hdfsmeld.spark.data.DataFiles;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.measure.Measured;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.task.AttemptFile;
import org.hdfsmeld.spark.task.Sessions;
import org.hdfsmeld.spark.task.Tasks;

/** Sorts by range, writes a file a range, and has what was written checked. */
public final class SortRun {
  private SortRun() {}

  /**
   * What to sort.
   *
   * @param recordBytes of a row, if raw
   * @param files to write
   * @param overwrite whether an output that exists is replaced; else that is an error
   */
  public record Request(
      Format format,
      List<String> paths,
      String output,
      int recordBytes,
      int files,
      boolean overwrite) {}

  /**
   * What was sorted; rows, checksum and order of the output have been checked.
   *
   * @param fileBytes length of the files read
   * @param checksum the sum, modulo 2^64, of the XXH64 of every row, in hexadecimal
   * @param wallSeconds of the stages that sample, read and write, added up; without the check
   * @param sortedMibPerSecond the files' bytes by these seconds
   * @param readMibPerSecond of the stage that reads the files and writes the shuffle
   * @param shuffleWrittenMibPerSecond of the same stage
   * @param shuffleReadMibPerSecond of the stage that reads the shuffle and writes the files
   * @param writtenMibPerSecond of the same stage
   * @param spilledBytes written to disk because memory was short
   * @param stages the first samples the rows
   */
  public record Result(
      Format format,
      int files,
      long fileBytes,
      int writtenFiles,
      long writtenBytes,
      long rows,
      String checksum,
      double wallSeconds,
      double sortedMibPerSecond,
      double readMibPerSecond,
      long shuffleBytes,
      double shuffleWrittenMibPerSecond,
      double shuffleReadMibPerSecond,
      double writtenMibPerSecond,
      long spilledBytes,
      List<StageThroughput> stages) {}

  /** Sorts with a session of the caller, which stays open. */
  public static Result run(SparkSession session, Request request) throws Exception {
    SparkContext context = session.sparkContext();
    List<FileStatus> files = DataFiles.all(context.hadoopConfiguration(), request.paths());
    if (request.format() == Format.RAW) {
      requireWholeRecords(files, request.recordBytes());
    }
    prepare(context, request, files);
    Measured<Void> sorted =
        Measured.run(
            context,
            "sort " + request.format(),
            () -> {
              write(session, request, files);
              return null;
            });
    List<FileStatus> written =
        DataFiles.all(context.hadoopConfiguration(), List.of(request.output()));
    int recordBytes = request.format() == Format.RAW ? request.recordBytes() : 0;
    List<RowFile> rows =
        Measured.run(
                context,
                "sort " + request.format() + ": check",
                () -> SortCheck.check(context, files, written, recordBytes))
            .value();
    return result(request, files, written, rows, sorted.wallSeconds(), sorted.stages());
  }

  private static void requireWholeRecords(List<FileStatus> files, int recordBytes)
      throws IOException {
    for (FileStatus file : files) {
      if (file.getLen() % recordBytes != 0) {
        throw new IOException(
            file.getPath()
                + ": its "
                + file.getLen()
                + " bytes are not whole rows of "
                + recordBytes
                + "; choose another --record");
      }
    }
  }

  private static void prepare(SparkContext context, Request request, List<FileStatus> files)
      throws IOException {
    Path path = new Path(request.output());
    FileSystem fs = path.getFileSystem(context.hadoopConfiguration());
    String below = fs.makeQualified(path) + Path.SEPARATOR;
    if (files.stream().anyMatch(file -> file.getPath().toString().startsWith(below))) {
      throw new IOException("--output: " + request.output() + " holds what is to be sorted");
    }
    DataFiles.makeWay(fs, path, request.overwrite());
  }

  private static void write(SparkSession session, Request request, List<FileStatus> files) {
    SparkSession own = Sessions.copy(session);
    own.conf().set("spark.sql.shuffle.partitions", request.files());
    // Ranges as asked for, in two stages whatever their size.
    own.conf().set("spark.sql.adaptive.enabled", false);
    String[] names = DataFiles.paths(files);
    if (request.format() == Format.TEXT) {
      own.read().text(names).sort("value").write().text(request.output());
      return;
    }
    SparkContext context = session.sparkContext();
    Dataset<byte[]> records =
        own.createDataset(
            context.binaryRecords(
                String.join(",", names), request.recordBytes(), context.hadoopConfiguration()),
            Encoders.BINARY());
    SerializableConfiguration conf = new SerializableConfiguration(context.hadoopConfiguration());
    String output = request.output();
    ForeachPartitionFunction<byte[]> range = rows -> writeRange(conf, output, rows);
    records.sort("value").foreachPartition(range);
  }

  private static void writeRange(
      SerializableConfiguration conf, String output, Iterator<byte[]> rows) throws IOException {
    Path path = new Path(output, String.format("part-%05d", TaskContext.getPartitionId()));
    FileSystem fs = path.getFileSystem(conf.value());
    long bytes = 0;
    long count = 0;
    try (AttemptFile file = new AttemptFile(fs, path, fs.getDefaultBlockSize(path))) {
      for (; rows.hasNext(); count++) {
        byte[] row = rows.next();
        file.out().write(row);
        bytes += row.length;
      }
      file.commit();
    }
    Tasks.countOutput(bytes, count);
  }

  private static Result result(
      Request request,
      List<FileStatus> files,
      List<FileStatus> written,
      List<RowFile> rows,
      double wallSeconds,
      List<StageThroughput> stages) {
    long fileBytes = DataFiles.bytes(files);
    long writtenBytes = DataFiles.bytes(written);
    List<StageThroughput> map =
        stages.stream().filter(stage -> stage.shuffleWrittenBytes() > 0).toList();
    List<StageThroughput> reduce =
        stages.stream().filter(stage -> stage.shuffleReadBytes() > 0).toList();
    return new Result(
        request.format(),
        files.size(),
        fileBytes,
        written.size(),
        writtenBytes,
        SortCheck.rows(rows),
        SortCheck.checksum(rows),
        wallSeconds,
        StageThroughput.mibPerSecond(fileBytes, wallSeconds),
        rate(map, StageThroughput::readBytes),
        map.stream().mapToLong(StageThroughput::shuffleWrittenBytes).sum(),
        rate(map, StageThroughput::shuffleWrittenBytes),
        rate(reduce, StageThroughput::shuffleReadBytes),
        rate(reduce, StageThroughput::writtenBytes),
        stages.stream().mapToLong(StageThroughput::spilledBytes).sum(),
        stages);
  }

  private static double rate(List<StageThroughput> stages, ToLongFunction<StageThroughput> bytes) {
    return StageThroughput.mibPerSecond(
        stages.stream().mapToLong(bytes).sum(), StageThroughput.wallSeconds(stages));
  }
}
