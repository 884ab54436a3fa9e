package org.hdfsmeld.spark;

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
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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
        : scan(session, new Request(format, input.paths, filePerTask));
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

    Result result(Request request, List<FileStatus> files, List<StageThroughput> stages) {
      List<StageThroughput> reading = new ArrayList<>(stages);
      reading.removeIf(stage -> stage.readBytes() == 0);
      double wallSeconds = reading.stream().mapToDouble(StageThroughput::wallSeconds).sum();
      long fileBytes = files.stream().mapToLong(FileStatus::getLen).sum();
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
