package org.hdfsmeld.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.octet_length;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.xxhash64;

import java.io.FileNotFoundException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Reads a whole data set once, front to back, and says what was in it: rows, bytes and a checksum
 * that does not depend on the order of the rows.
 */
@Command(
    name = "scan",
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class,
    sortOptions = false,
    showDefaultValues = true,
    description = {
      "Read a whole data set front to back; print rows, bytes, checksum and throughput by stage.",
      "Text is read in one stage, Parquet in one stage a table (a directory that holds files).",
      "Run by: spark-submit --class org.hdfsmeld.spark.Scan spark-jobs-VERSION-all.jar …"
    })
public final class Scan extends JobCommand {
  private static final long LISTENER_TIMEOUT_MS = 60_000;

  @Option(
      names = "--format",
      required = true,
      paramLabel = "text|parquet",
      description = "How the files are to be read.")
  Format format;

  @Option(
      names = "--file-per-task",
      description =
          "One task reads one whole file, and tasks start in the order of the directories' and"
              + " files' names; else Spark splits and packs the files. For some hundred files.")
  boolean filePerTask;

  @Parameters(
      arity = "1..*",
      paramLabel = "PATH",
      description = "Files, or directories with files at any depth: any Hadoop paths.")
  List<String> paths;

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
      return stages.stream().mapToDouble(StageThroughput::taskSeconds).sum();
    }
  }

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Scan(), arguments);
  }

  /** Scans with a session of the caller, which stays open. */
  public static Result scan(SparkSession session, Request request) throws Exception {
    SparkContext context = session.sparkContext();
    Collection<List<FileStatus>> tables =
        DataFiles.byDirectory(context.hadoopConfiguration(), request.paths()).values();
    if (tables.isEmpty()) {
      throw new FileNotFoundException(String.join(", ", request.paths()) + ": no data files");
    }
    SparkSession own = wrapping(session, request.filePerTask());
    ThroughputListener listener = new ThroughputListener();
    String group = "scan-" + UUID.randomUUID();
    context.addSparkListener(listener);
    context.setJobGroup(group, "scan " + request.format(), false);
    Totals totals = new Totals();
    try {
      if (request.format() == Format.TEXT) {
        List<FileStatus> all = tables.stream().flatMap(List::stream).toList();
        totals.add(aggregate(read(own, request, all), request.format()));
      } else {
        for (List<FileStatus> table : tables) {
          totals.add(aggregate(read(own, request, table), request.format()));
        }
      }
    } finally {
      context.clearJobGroup();
      context.listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
      context.removeSparkListener(listener);
    }
    return totals.result(request, tables, listener.stages(group));
  }

  @Override
  void validate() {
    if (paths.stream().anyMatch(String::isBlank)) {
      throw bad("PATH: is empty; give a file or directory");
    }
  }

  @Override
  Object run(SparkSession session) throws Exception {
    return scan(session, new Request(format, paths, filePerTask));
  }

  /** A session of the same context in which sums wrap instead of failing, as a checksum's must. */
  private static SparkSession wrapping(SparkSession session, boolean filePerTask) {
    SparkSession own = session.newSession();
    scala.collection.Iterator<scala.Tuple2<String, String>> entries =
        session.conf().getAll().iterator();
    while (entries.hasNext()) {
      scala.Tuple2<String, String> entry = entries.next();
      if (entry._1().startsWith("spark.sql.") && own.conf().isModifiable(entry._1())) {
        own.conf().set(entry._1(), entry._2());
      }
    }
    own.conf().set("spark.sql.ansi.enabled", false);
    if (filePerTask) {
      own.conf().set("spark.sql.files.maxPartitionBytes", Long.MAX_VALUE / 2);
      own.conf().set("spark.sql.files.minPartitionNum", 1);
    }
    return own;
  }

  private static Dataset<Row> read(SparkSession session, Request request, List<FileStatus> files) {
    String[] names = files.stream().map(file -> file.getPath().toString()).toArray(String[]::new);
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

    Result result(
        Request request, Collection<List<FileStatus>> tables, List<StageThroughput> stages) {
      List<StageThroughput> reading = new ArrayList<>(stages);
      reading.removeIf(stage -> stage.readBytes() == 0);
      double wallSeconds = reading.stream().mapToDouble(StageThroughput::wallSeconds).sum();
      long fileBytes = tables.stream().flatMap(List::stream).mapToLong(FileStatus::getLen).sum();
      return new Result(
          request.format(),
          request.filePerTask(),
          tables.stream().mapToInt(List::size).sum(),
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
