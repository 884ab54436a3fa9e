package org.hdfsmeld.spark;

import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.cli.ByteSize;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.scan.RawScan;
import org.hdfsmeld.spark.scan.TableScan;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Reads a whole data set once, front to back, and says what was in it: rows, bytes and a checksum
 * that does not depend on the order of the rows.
 */
@Command(
    name = "scan",
    showDefaultValues = true,
    description = {
      "Read a whole data set front to back; print rows, bytes, checksum and throughput by stage.",
      "Text is read in one stage, Parquet in one stage a table (a directory that holds files).",
      "Raw files are read as bytes, each by one task, and the latency of every request is measured.",
      "Run by: spark-submit --class org.hdfsmeld.spark.Scan spark-jobs-VERSION-all.jar …"
    })
public final class Scan extends JobCommand {
  @Option(
      names = "--format",
      required = true,
      paramLabel = "text|parquet|raw",
      description = "How the files are to be read.")
  Format format;

  @Option(
      names = "--file-per-task",
      description =
          "One task reads one whole file, and tasks start in the order of the directories' and"
              + " files' names; else Spark splits and packs the files. For some hundred files."
              + " Raw files are always read so.")
  boolean filePerTask;

  @Option(
      names = "--request",
      defaultValue = "1m",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "Raw only: bytes of a request, at most 1g. Suffixes k, m, g.")
  long requestBytes;

  @Option(
      names = "--verify",
      description = "Raw only: compare every byte with what generate --format raw wrote.")
  boolean verify;

  @Mixin InputPaths input;

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Scan(), arguments);
  }

  @Override
  void validate() {
    input.validated();
    requireBufferBytes("--request", requestBytes);
    if (verify && format != Format.RAW) {
      throw bad("--verify: only raw files can be verified; compare the checksum of other formats");
    }
  }

  @Override
  Object run(SparkSession session) throws Exception {
    return format == Format.RAW
        ? RawScan.scan(session, new RawScan.Request(input.paths, (int) requestBytes, verify))
        : TableScan.scan(session, new TableScan.Request(format, input.paths, filePerTask));
  }
}
