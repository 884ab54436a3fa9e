package org.hdfsmeld.spark.generate;

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
import org.hdfsmeld.spark.data.DataFiles;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.data.Table;

/** Writes the tables lineitem and orders, each part by the task that owns it. */
public final class TableFiles {
  private TableFiles() {}

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
