package org.hdfsmeld.spark;

import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.query.QueryRun;
import org.hdfsmeld.spark.query.TpchQuery;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs TPC-H queries over Parquet, which read some columns and not whole blocks. */
@Command(
    name = "query",
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

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Query(), arguments);
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
    return QueryRun.run(session, new QueryRun.Request(input.paths, queries, repeat));
  }
}
