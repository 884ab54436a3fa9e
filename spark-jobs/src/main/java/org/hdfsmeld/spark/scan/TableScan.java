package org.hdfsmeld.spark.scan;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.octet_length;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.xxhash64;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.data.DataFiles;
import org.hdfsmeld.spark.data.Format;
import org.hdfsmeld.spark.measure.Measured;
import org.hdfsmeld.spark.measure.StageThroughput;
import org.hdfsmeld.spark.task.Sessions;

/**
 * Reads tables as Spark reads them, once, front to back, and says what was in them: rows, bytes and
 * a checksum that does not depend on the order of the rows.
 */
public final class TableScan {
  private TableScan() {}

  /**
   * What to read.
   *
   * @param filePerTask whether a task reads one whole file, in the order of their names
   */
  public record Request(Format format, List<String> paths, boolean filePerTask) {}

  /**
   * What was read.
   *
   * @param contentBytes text: bytes of all lines without their ends; Parquet: zero, as rows have no
   *     length of their own
   * @param fileBytes length of the files
   * @param checksum the sum, modulo 2^64, of the XXH64 of every row, in hexadecimal
   * @param wallSeconds of the stages that read, added up
   * @param stages the stages that read
   */
  public record Result(
      Format format,
      boolean filePerTask,
      int files,
      long fileBytes,
      long rows,
      long contentBytes,
      String checksum,
      double wallSeconds,
      double readMibPerSecond,
      List<StageThroughput> stages) {
    /** Run time summed over the tasks that read. */
    public double taskSeconds() {
      return StageThroughput.taskSeconds(stages);
    }
  }

  /** Scans with a session of the caller, which stays open. */
  public static Result scan(SparkSession session, Request request) throws Exception {
    SparkContext context = session.sparkContext();
    List<FileStatus> files = DataFiles.all(context.hadoopConfiguration(), request.paths());
    Collection<List<FileStatus>> tables =
        request.format() == Format.TEXT
            ? List.of(files)
            : DataFiles.byDirectory(context.hadoopConfiguration(), request.paths()).values();
    SparkSession own = wrapping(session, request.filePerTask());
    Measured<Totals> measured =
        Measured.run(
            context,
            "scan " + request.format(),
            () -> {
              Totals totals = new Totals();
              for (List<FileStatus> table : tables) {
                totals.add(aggregate(read(own, request, table), request.format()));
              }
              return totals;
            });
    return measured.value().result(request, files, measured.stages());
  }

  /** A session in which sums wrap instead of failing, as a checksum's must. */
  private static SparkSession wrapping(SparkSession session, boolean filePerTask) {
    SparkSession own = Sessions.copy(session);
    own.conf().set("spark.sql.ansi.enabled", false);
    if (filePerTask) {
      own.conf().set("spark.sql.files.maxPartitionBytes", Long.MAX_VALUE / 2);
      own.conf().set("spark.sql.files.minPartitionNum", 1);
    }
    return own;
  }

  private static Dataset<Row> read(SparkSession session, Request request, List<FileStatus> files) {
    String[] names = DataFiles.paths(files);
    if (!request.filePerTask()) {
      return read(session, request.format(), names);
    }
    // Spark sorts the files of one relation by size; a union keeps the order given.
    return Arrays.stream(names)
        .map(name -> read(session, request.format(), name))
        .reduce(Dataset::union)
        .orElseThrow();
  }

  private static Dataset<Row> read(SparkSession session, Format format, String... names) {
    return format == Format.TEXT ? session.read().text(names) : session.read().parquet(names);
  }

  private static Row aggregate(Dataset<Row> rows, Format format) {
    Column[] columns =
        Arrays.stream(rows.columns()).map(name -> col("`" + name + "`")).toArray(Column[]::new);
    Column bytes = format == Format.TEXT ? sum(octet_length(columns[0])) : lit(0L);
    return rows.agg(count(lit(1)), sum(xxhash64(columns)), bytes).head();
  }

  private static final class Totals {
    private long rows;
    private long hashes;
    private long bytes;

    void add(Row aggregate) {
      rows += aggregate.getLong(0);
      hashes += aggregate.isNullAt(1) ? 0 : aggregate.getLong(1);
      bytes += aggregate.isNullAt(2) ? 0 : aggregate.getLong(2);
    }

    Result result(Request request, List<FileStatus> files, List<StageThroughput> stages) {
      List<StageThroughput> reading = new ArrayList<>(stages);
      reading.removeIf(stage -> stage.readBytes() == 0);
      double wallSeconds = StageThroughput.wallSeconds(reading);
      long fileBytes = DataFiles.bytes(files);
      return new Result(
          request.format(),
          request.filePerTask(),
          files.size(),
          fileBytes,
          rows,
          bytes,
          String.format("%016x", hashes),
          wallSeconds,
          StageThroughput.mibPerSecond(fileBytes, wallSeconds),
          List.copyOf(reading));
    }
  }
}
