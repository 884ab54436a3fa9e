package org.hdfsmeld.spark.scan;

import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.data.DataFiles;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.data.RawContent;
import org.hdfsmeld.spark.measure.LatencyHistogram;
import org.hdfsmeld.spark.measure.LatencySummary;
import org.hdfsmeld.spark.measure.Measured;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.task.Requests;
import org.hdfsmeld.spark.task.Tasks;

/** Reads whole files as bytes, front to back, one task a file, and measures every request. */
public final class RawScan {
  private RawScan() {}

  /**
   * What to read.
   *
   * @param requestBytes size of a request
   * @param verify whether every byte is compared with what the files were written with
   */
  public record Request(List<String> paths, int requestBytes, boolean verify) {}

  /**
   * What was read.
   *
   * @param requestBytes size of a request; the last of a file may be shorter
   * @param verifiedBytes how many were compared with what the files were written with
   * @param checksum the sum, modulo 2^64, of the CRC-32C of every file, in hexadecimal
   * @param latency of a request: from its first read call until its last byte was there
   * @param wallSeconds of the stage that read
   */
  public record Result(
      Format format,
      int files,
      long fileBytes,
      int requestBytes,
      long verifiedBytes,
      String checksum,
      LatencySummary latency,
      double wallSeconds,
      double readMibPerSecond,
      List<StageThroughput> stages) {}

  private record FileRead(long bytes, long crc, LatencyHistogram latency) implements Serializable {}

  /** Scans with a session of the caller, which stays open. */
  public static Result scan(SparkSession session, Request request) throws Exception {
    SparkContext context = session.sparkContext();
    List<FileStatus> files = DataFiles.all(context.hadoopConfiguration(), request.paths());
    int requestBytes = request.requestBytes();
    boolean verify = request.verify();
    Measured<List<FileRead>> read =
        Measured.run(
            context,
            "scan raw",
            () ->
                Tasks.perFile(
                    context, files, (file, conf) -> read(conf, file, requestBytes, verify)));
    long bytes = read.value().stream().mapToLong(FileRead::bytes).sum();
    return new Result(
        Format.RAW,
        files.size(),
        bytes,
        requestBytes,
        verify ? bytes : 0,
        String.format("%016x", read.value().stream().mapToLong(FileRead::crc).sum()),
        LatencyHistogram.sum(read.value().stream().map(FileRead::latency).toList()).summary(),
        read.wallSeconds(),
        StageThroughput.mibPerSecond(bytes, read.wallSeconds()),
        read.stages());
  }

  private static FileRead read(
      Configuration conf, Tasks.Input file, int requestBytes, boolean verify)
      throws IOException, InterruptedException {
    Path path = new Path(file.path());
    RawContent expected = verify ? RawContent.of(path) : null;
    LatencyHistogram latency = new LatencyHistogram();
    CRC32C crc = new CRC32C();
    long[] end = {0};
    byte[] buffer = new byte[requestBytes];
    Requests.read(
        path.getFileSystem(conf),
        path,
        buffer,
        (offset, length, began, nanos) -> {
          latency.record(nanos);
          crc.update(buffer, 0, length);
          if (expected != null) {
            expected.check(path, offset, buffer, length);
          }
          end[0] = offset + length;
          return true;
        });
    if (end[0] != file.bytes()) {
      throw new IOException(
          path + ": ended after " + end[0] + " bytes; its length is " + file.bytes());
    }
    Tasks.countInput(end[0], 1);
    return new FileRead(end[0], crc.getValue(), latency);
  }
}
