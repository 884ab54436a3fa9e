package org.hdfsmeld.spark.generate;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.data.DataFiles;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.data.RawContent;
import org.hdfsmeld.spark.measure.Measured;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.task.AttemptFile;
import org.hdfsmeld.spark.task.Tasks;

/** Writes raw files: each one HDFS block of {@link RawContent}, each by a task of its own. */
public final class RawFiles {
  private static final int BUFFER_BYTES = 1 << 20;

  private RawFiles() {}

  /**
   * What to write.
   *
   * @param blockBytes length of each file, and its HDFS block size
   * @param output directory that receives {@code raw/raw-00000-seed-1} and so on
   * @param overwrite whether a directory that exists is replaced; else that is an error
   */
  public record Request(int files, long blockBytes, long seed, String output, boolean overwrite) {}

  /**
   * What was written.
   *
   * @param path the directory of the files
   * @param checksum the sum, modulo 2^64, of the CRC-32C of every file, in hexadecimal
   */
  public record Written(
      Format format,
      String path,
      int files,
      long bytes,
      long seed,
      String checksum,
      double wallSeconds,
      double writtenMibPerSecond,
      List<StageThroughput> stages) {}

  /** Writes with a session of the caller, which stays open. */
  public static Written generate(SparkSession session, Request request) throws Exception {
    SparkContext context = session.sparkContext();
    Path requested = new Path(request.output(), Format.RAW.directory());
    FileSystem fs = requested.getFileSystem(context.hadoopConfiguration());
    String directory = fs.makeQualified(requested).toString();
    DataFiles.makeWay(fs, requested, request.overwrite());
    fs.mkdirs(requested);
    long seed = request.seed();
    long blockBytes = request.blockBytes();
    List<Integer> numbers = IntStream.range(0, request.files()).boxed().toList();
    Measured<List<Long>> measured =
        Measured.run(
            context,
            "generate raw",
            () ->
                Tasks.run(
                    context,
                    numbers,
                    (number, conf) ->
                        write(conf, directory, new RawContent(seed, number), blockBytes)));
    long bytes = request.files() * blockBytes;
    double wallSeconds = measured.wallSeconds();
    return new Written(
        Format.RAW,
        directory,
        request.files(),
        bytes,
        seed,
        String.format("%016x", measured.value().stream().mapToLong(Long::longValue).sum()),
        wallSeconds,
        StageThroughput.mibPerSecond(bytes, wallSeconds),
        measured.stages());
  }

  /** Writes one file and returns its CRC-32C. */
  private static long write(Configuration conf, String directory, RawContent content, long bytes)
      throws IOException {
    Path path = new Path(directory, content.fileName());
    byte[] buffer = new byte[(int) Math.min(BUFFER_BYTES, bytes)];
    CRC32C crc = new CRC32C();
    try (AttemptFile file = new AttemptFile(path.getFileSystem(conf), path, bytes)) {
      for (long offset = 0; offset < bytes; offset += buffer.length) {
        int length = (int) Math.min(buffer.length, bytes - offset);
        content.fill(offset, buffer, length);
        crc.update(buffer, 0, length);
        file.out().write(buffer, 0, length);
      }
      file.commit();
    }
    Tasks.countOutput(bytes, 1);
    return crc.getValue();
  }
}
