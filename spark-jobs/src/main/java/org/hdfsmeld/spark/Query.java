package org.hdfsmeld.spark;

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
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs TPC-H queries over Parquet, which read some columns and not whole blocks. */
@Command(
    name = "query",
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class,
    sortOptions = false,
    showDefaultValues = true,
    description = {
      "Run TPC-H Q1 and Q6 over Parquet; print the answers, seconds and bytes read of each run.",
      "PATH is the directory lineitem that generate wrote, or one above it.",
      "Run by: spark-submit --class org.hdfsmeld.spark.Query spark-jobs-VERSION-all.jar …"
    })
public final class Query extends JobCommand {
  @Option(
      names = "--queries",
      defaultValue = "q1,q6",
      split = ",",
      paramLabel = "q1|q6",
      description = "Which, and in which order; separated by commas.")
  List<TpchQuery> queries;

  @Option(
      names = "--repeat",
      defaultValue = "1",
      paramLabel = "N",
      description = "Runs of each query; they take turns.")
  int repeat;

  @Mixin InputPaths input;

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

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Query(), arguments);
  }

  /** Queries with a session of the caller, which stays open. */
  public static Result query(SparkSession session, Request request) throws Exception {
    List<FileStatus> files = lineitem(session.sparkContext(), request.paths());
    SparkSession own = Sessions.copy(session);
    own.read()
        .parquet(files.stream().map(file -> file.getPath().toString()).toArray(String[]::new))
        .createOrReplaceTempView(Table.LINEITEM.directory());
    Map<TpchQuery, Answered> answered = new LinkedHashMap<>();
    for (int i = 0; i < request.repeat(); i++) {
      for (TpchQuery query : request.queries()) {
        run(own, query, answered);
      }
    }
    return new Result(
        files.size(),
        files.stream().mapToLong(FileStatus::getLen).sum(),
        List.copyOf(answered.values()));
  }

  @Override
  void validate() {
    input.validated();
    if (repeat < 1) {
      throw bad("--repeat: is " + repeat + "; must be at least 1");
    }
    if (queries.stream().distinct().count() < queries.size()) {
      throw bad("--queries: names one twice; use --repeat");
    }
  }

  @Override
  Object run(SparkSession session) throws Exception {
    return query(session, new Request(input.paths, queries, repeat));
  }

  private static void run(SparkSession session, TpchQuery query, Map<TpchQuery, Answered> answered)
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
    List<Map<String, String>> answer = measured.value().stream().map(Query::columns).toList();
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
