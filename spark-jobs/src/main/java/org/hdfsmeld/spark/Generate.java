package org.hdfsmeld.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Writes the TPC-H tables lineitem and orders, or raw files, each part by the task that owns it.
 * The content of file N of M is the same on every machine and for every cluster size.
 */
@Command(
    name = "generate",
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class,
    sortOptions = false,
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

  /**
   * What to generate.
   *
   * @param scale TPC-H scale factor
   * @param lineitemFiles files, and so tasks, of lineitem
   * @param ordersFiles files, and so tasks, of orders
   * @param output directory that receives {@code text/lineitem} and so on
   * @param overwrite whether tables that exist are replaced; else that is an error
   */
  public record Request(
      double scale,
      List<Format> formats,
      int lineitemFiles,
      int ordersFiles,
      String output,
      boolean overwrite) {
    int files(Table table) {
      return table == Table.ORDERS ? ordersFiles : lineitemFiles;
    }
  }

  /**
   * One table as written.
   *
   * @param path its directory
   */
  public record Written(Table table, Format format, String path, int files, long bytes) {}

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Generate(), arguments);
  }

  /** Generates with a session of the caller, which stays open. */
  public static List<Written> generate(SparkSession session, Request request) throws Exception {
    List<Written> written = new ArrayList<>();
    for (Format format : request.formats()) {
      for (Table table : Table.values()) {
        written.add(write(session, request, table, format));
      }
    }
    return written;
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
    return generate(
        session,
        new Request(
            scale,
            format.formats(),
            files,
            ordersFiles == null ? files : ordersFiles,
            output,
            overwrite));
  }

  private static Written write(SparkSession session, Request request, Table table, Format format)
      throws Exception {
    int files = request.files(table);
    double scale = request.scale();
    Path path = new Path(new Path(request.output(), format.directory()), table.directory());
    Dataset<Long> parts = session.range(0, files, 1, files).as(Encoders.LONG());
    SaveMode mode = request.overwrite() ? SaveMode.Overwrite : SaveMode.ErrorIfExists;
    session.sparkContext().setJobDescription("generate " + table + " as " + format);
    try {
      switch (format) {
        case TEXT -> {
          FlatMapFunction<Long, String> lines = part -> table.lines(scale, part.intValue(), files);
          parts.flatMap(lines, Encoders.STRING()).write().mode(mode).text(path.toString());
        }
        case PARQUET -> {
          FlatMapFunction<Long, Row> rows = part -> table.rows(scale, part.intValue(), files);
          parts
              .flatMap(rows, Encoders.row(table.schema()))
              .write()
              .mode(mode)
              .parquet(path.toString());
        }
        case RAW -> throw new IllegalArgumentException("no table is raw");
      }
    } finally {
      session.sparkContext().setJobDescription(null);
    }
    return measure(session.sparkContext().hadoopConfiguration(), table, format, path);
  }

  private static Written measure(Configuration conf, Table table, Format format, Path path)
      throws Exception {
    int files = 0;
    long bytes = 0;
    FileSystem fs = path.getFileSystem(conf);
    for (FileStatus file : fs.listStatus(path, child -> !DataFiles.isHidden(child))) {
      files++;
      bytes += file.getLen();
    }
    return new Written(table, format, fs.makeQualified(path).toString(), files, bytes);
  }
}
