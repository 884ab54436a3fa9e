package org.hdfsmeld.spark;

import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.cli.ByteSize;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.sort.SortRun;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Sorts rows that need not fit into memory, writes them back in order, and proves it. */
@Command(
    name = "sort",
    showDefaultValues = true,
    description = {
      "Sort lines or records of one length as unsigned bytes; write them back in order.",
      "Spark samples the rows, partitions them by range, sorts with spilling, and writes a file a"
          + " range. Then all files are read once more: rows, checksum and order are checked.",
      "Run by: spark-submit --class org.hdfsmeld.spark.Sort spark-jobs-VERSION-all.jar …"
    })
public final class Sort extends JobCommand {
  @Option(
      names = "--format",
      required = true,
      paramLabel = "text|raw",
      description = "Rows are lines, or records of --record bytes.")
  Format format;

  @Option(
      names = "--output",
      required = true,
      paramLabel = "DIR",
      description = "Directory to write to: any Hadoop path.")
  String output;

  @Option(
      names = "--record",
      defaultValue = "128",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "Raw only: bytes of a row, at most 1m; files hold whole rows.")
  long recordBytes;

  @Option(
      names = "--files",
      defaultValue = "8",
      paramLabel = "N",
      description = "Ranges: files to write, and tasks that sort.")
  int files;

  @Option(names = "--overwrite", description = "Replace DIR if it exists; else that is an error.")
  boolean overwrite;

  @Mixin InputPaths input;

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Sort(), arguments);
  }

  @Override
  void validate() {
    input.validated();
    if (format == Format.PARQUET) {
      throw bad("--format: rows of parquet cannot be sorted; must be text or raw");
    }
    if (output.isBlank()) {
      throw bad("--output: is empty; give a directory");
    }
    if (recordBytes < 1 || recordBytes > 1 << 20) {
      throw bad("--record: is " + recordBytes + " bytes; must be 1 to 1m");
    }
    // Beyond, the names of the files would not have their order.
    if (files < 1 || files > 99_999) {
      throw bad("--files: is " + files + "; must be 1 to 99999");
    }
  }

  @Override
  Object run(SparkSession session) throws Exception {
    return SortRun.run(
        session,
        new SortRun.Request(format, input.paths, output, (int) recordBytes, files, overwrite));
  }
}
