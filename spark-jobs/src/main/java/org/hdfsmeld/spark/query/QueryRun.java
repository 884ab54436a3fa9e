package org.hdfsmeld.spark.query;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.data.DataFiles;
import org.hdfsmeld.spark.data.Table;
import org.hdfsmeld.spark.measure.Measured;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.task.Sessions;

/** Runs the queries by turns, and holds that no answer changes. */
public final class QueryRun {
  private QueryRun() {}

  /**
   * What to ask.
   *
   * @param repeat runs of each query
   */
  public record Request(List<String> paths, List<TpchQuery> queries, int repeat) {}

  /**
   * One run of a query.
   *
   * @param wallSeconds from its submission to its answer
   * @param readBytes of the files' bytes, as Spark's readers count them: all of HDFS's, but not
   *     what a local file system reads in threads of its own
   */
  public record Run(
      double wallSeconds, long readBytes, double readMibPerSecond, List<StageThroughput> stages) {}

  /**
   * A query and its runs.
   *
   * @param answer its rows, column by column; decimals in full
   */
  public record Answered(TpchQuery query, List<Map<String, String>> answer, List<Run> runs) {}

  /**
   * All queries.
   *
   * @param fileBytes length of the table's files: what a scan would read
   */
  public record Result(int files, long fileBytes, List<Answered> queries) {}

  /** Queries with a session of the caller, which stays open. */
  public static Result run(SparkSession session, Request request) throws Exception {
    List<FileStatus> files = lineitem(session.sparkContext(), request.paths());
    SparkSession own = Sessions.copy(session);
    own.read().parquet(DataFiles.paths(files)).createOrReplaceTempView(Table.LINEITEM.directory());
    Map<TpchQuery, Answered> answered = new LinkedHashMap<>();
    for (int i = 0; i < request.repeat(); i++) {
      for (TpchQuery query : request.queries()) {
        ask(own, query, answered);
      }
    }
    return new Result(files.size(), DataFiles.bytes(files), List.copyOf(answered.values()));
  }

  private static void ask(SparkSession session, TpchQuery query, Map<TpchQuery, Answered> answered)
      throws Exception {
    long[] nanos = new long[1];
    Measured<List<Row>> measured =
        Measured.run(
            session.sparkContext(),
            "query " + query,
            () -> {
              long began = System.nanoTime();
              List<Row> rows = session.sql(query.sql()).collectAsList();
              nanos[0] = System.nanoTime() - began;
              return rows;
            });
    List<Map<String, String>> answer = measured.value().stream().map(QueryRun::columns).toList();
    Answered known =
        answered.computeIfAbsent(query, first -> new Answered(first, answer, new ArrayList<>()));
    if (!known.answer().equals(answer)) {
      throw new IOException(query + ": its answer changed from one run to the next");
    }
    long bytes = measured.stages().stream().mapToLong(StageThroughput::readBytes).sum();
    double wallSeconds = nanos[0] / 1e9;
    known
        .runs()
        .add(
            new Run(
                wallSeconds,
                bytes,
                StageThroughput.mibPerSecond(bytes, wallSeconds),
                measured.stages()));
  }

  private static Map<String, String> columns(Row row) {
    Map<String, String> columns = new LinkedHashMap<>();
    for (int i = 0; i < row.size(); i++) {
      Object value = row.get(i);
      columns.put(
          row.schema().fieldNames()[i],
          value instanceof BigDecimal decimal ? decimal.toPlainString() : String.valueOf(value));
    }
    return columns;
  }

  private static List<FileStatus> lineitem(SparkContext context, List<String> paths)
      throws IOException {
    SortedMap<Path, List<FileStatus>> found =
        DataFiles.byDirectory(context.hadoopConfiguration(), paths);
    found.keySet().removeIf(path -> !path.getName().equals(Table.LINEITEM.directory()));
    if (found.size() != 1) {
      throw new FileNotFoundException(
          String.join(", ", paths)
              + ": has "
              + found.size()
              + " directories lineitem, must have one; give that of generate --format parquet");
    }
    return found.get(found.firstKey());
  }
}
