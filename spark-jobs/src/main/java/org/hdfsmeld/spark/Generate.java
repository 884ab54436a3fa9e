package org.hdfsmeld.spark;

import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.cli.ByteSize;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.generate.RawFiles;
import org.hdfsmeld.spark.generate.TableFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Writes the TPC-H tables lineitem and orders, or raw files, each part by the task that owns it.
 * The content of file N of M is the same on every machine and for every cluster size.
 */
@Command(
    name = "generate",
    showDefaultValues = true,
    description = {
      "Write the TPC-H tables lineitem and orders, or raw files, in parallel and reproducibly.",
      "Scale factor 1 is about 0.87 GiB of text. The tables land in OUTPUT/text/lineitem,"
          + " OUTPUT/parquet/orders and so on, raw files in OUTPUT/raw.",
      "Run by: spark-submit --class org.hdfsmeld.spark.Generate spark-jobs-VERSION-all.jar …"
    })
public final class Generate extends JobCommand {
  @Option(
      names = "--output",
      required = true,
      paramLabel = "PATH",
      description = "Directory to write to: any Hadoop path.")
  String output;

  @Option(names = "--scale", defaultValue = "1", description = "Tables: TPC-H scale factor.")
  double scale;

  @Option(
      names = "--format",
      defaultValue = "both",
      paramLabel = "text|parquet|both|raw",
      description = "What to write; both: the tables as text and as Parquet.")
  Choice format;

  @Option(
      names = "--files",
      defaultValue = "8",
      paramLabel = "N",
      description = "Files (and tasks) a table, or raw files.")
  int files;

  @Option(
      names = "--orders-files",
      paramLabel = "N",
      description = "Files of the table orders, if not as many as of lineitem.",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER)
  Integer ordersFiles;

  @Option(
      names = "--block-size",
      defaultValue = "128m",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "Raw: length of each file and its HDFS block size. Suffixes k, m, g.")
  long blockBytes;

  @Option(names = "--seed", defaultValue = "1", description = "Raw: of the pseudo-random content.")
  long seed;

  @Option(names = "--overwrite", description = "Replace data that exists; else that is an error.")
  boolean overwrite;

  enum Choice {
    TEXT,
    PARQUET,
    BOTH,
    RAW;

    List<Format> formats() {
      return switch (this) {
        case TEXT -> List.of(Format.TEXT);
        case PARQUET -> List.of(Format.PARQUET);
        case BOTH -> List.of(Format.TEXT, Format.PARQUET);
        case RAW -> List.of(Format.RAW);
      };
    }
  }

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Generate(), arguments);
  }

  @Override
  void validate() {
    if (!(scale > 0) || scale > 100_000) {
      throw bad("--scale: is " + scale + "; must be above 0 and at most 100000");
    }
    if (files < 1 || (ordersFiles != null && ordersFiles < 1)) {
      throw bad("--files, --orders-files: must be at least 1");
    }
    requireBlockBytes("--block-size", blockBytes);
    if (output.isBlank()) {
      throw bad("--output: is empty; give a directory");
    }
  }

  @Override
  String seed() {
    return format == Choice.RAW ? "--seed " + seed : RunRecord.TPCH_SEED;
  }

  @Override
  Object run(SparkSession session) throws Exception {
    if (format == Choice.RAW) {
      return RawFiles.generate(
          session, new RawFiles.Request(files, blockBytes, seed, output, overwrite));
    }
    return TableFiles.generate(
        session,
        new TableFiles.Request(
            scale,
            format.formats(),
            files,
            ordersFiles == null ? files : ordersFiles,
            output,
            overwrite));
  }
}
