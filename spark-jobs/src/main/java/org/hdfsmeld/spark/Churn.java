package org.hdfsmeld.spark;

import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.churn.ChurnRun;
import org.hdfsmeld.spark.cli.ByteSize;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Files that live for different times: what devices make of it when they do not know. */
@Command(
    name = "churn",
    showDefaultValues = true,
    description = {
      "In rounds, ingest files, shuffle those of the round before, and compact what was shuffled"
          + " into a partition of a table. Files expire: shuffled ones after a round, ingested ones"
          + " after --keep rounds, partitions after --table.",
      "--datanodes adds what simulated devices programmed for it, and how many blocks they placed"
          + " by lifetime.",
      "Run by: spark-submit --class org.hdfsmeld.spark.Churn spark-jobs-VERSION-all.jar …"
    })
public final class Churn extends JobCommand {
  @Option(
      names = "--output",
      required = true,
      paramLabel = "DIR",
      description = "Directory to write to, which must not exist; deleted at the end.")
  String output;

  @Option(names = "--rounds", defaultValue = "40", paramLabel = "N", description = "Rounds.")
  int rounds;

  @Option(
      names = "--files",
      defaultValue = "4",
      paramLabel = "N",
      description = "Files that a round ingests, and that it shuffles.")
  int files;

  @Option(
      names = "--file-size",
      defaultValue = "4m",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "Length of a file. Suffixes k, m, g.")
  long fileBytes;

  @Option(
      names = "--block-size",
      defaultValue = "1m",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "HDFS block size. Suffixes k, m, g.")
  long blockBytes;

  @Option(
      names = "--keep",
      defaultValue = "4",
      paramLabel = "N",
      description = "Rounds that ingested files live.")
  int keep;

  @Option(
      names = "--table",
      defaultValue = "32",
      paramLabel = "N",
      description = "Rounds that a partition lives, and partitions that there are at the start.")
  int table;

  @Option(
      names = "--least-seconds",
      defaultValue = "2",
      paramLabel = "S",
      description = "Length of a round at least: HDFS deletes seconds later.")
  double leastSeconds;

  @Option(
      names = "--seed",
      defaultValue = "1",
      paramLabel = "N",
      description = "Of the content, and of the order in which a round's files begin.")
  long seed;

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Churn(), arguments);
  }

  @Override
  void validate() {
    if (output.isBlank()) {
      throw bad("--output: is empty; give a directory");
    }
    if (rounds < 1 || files < 1 || keep < 1 || table < 1) {
      throw bad("--rounds, --files, --keep, --table: must be at least 1");
    }
    if (fileBytes < 1) {
      throw bad("--file-size: is " + fileBytes + " bytes; must be at least 1");
    }
    if (!(leastSeconds >= 0 && leastSeconds <= 86_400)) {
      throw bad("--least-seconds: must be 0 to 86400");
    }
    requireBlockBytes("--block-size", blockBytes);
  }

  @Override
  String seed() {
    return Long.toString(seed);
  }

  @Override
  Object run(SparkSession session) throws Exception {
    return ChurnRun.run(
        session,
        new ChurnRun.Request(
            output, rounds, files, fileBytes, blockBytes, keep, table, leastSeconds, seed));
  }
}
