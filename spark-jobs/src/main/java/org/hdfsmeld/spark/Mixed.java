package org.hdfsmeld.spark;

import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.cli.ByteSize;
import org.hdfsmeld.spark.mixed.MixedRun;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The noisy neighbour: what a scan's requests wait for while another client ingests. */
@Command(
    name = "mixed",
    showDefaultValues = true,
    description = {
      "Scan PATHs alone, then while blocks are ingested, by turns; print the readers' latencies in"
          + " either phase, their ratio, and a time series.",
      "Readers and writers are Spark jobs of their own and need a task slot each at the same time.",
      "Where the ingested blocks land is HDFS's matter: give the directory of --ingest a storage"
          + " policy (hdfs storagepolicies) to direct them to other volumes than PATH's.",
      "Run by: spark-submit --class org.hdfsmeld.spark.Mixed spark-jobs-VERSION-all.jar …"
    })
public final class Mixed extends JobCommand {
  private static final int MAX_BINS = 1_000_000;

  @Option(
      names = "--ingest",
      required = true,
      paramLabel = "DIR",
      description =
          "Write below there, in a directory of this run's own that is deleted at its end.")
  String ingest;

  @Option(
      names = "--seconds",
      defaultValue = "20",
      paramLabel = "S",
      description = "Length of each phase.")
  double seconds;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      paramLabel = "N",
      description = "Pairs of phases: alone, then with writer.")
  int rounds;

  @Option(
      names = "--warm-up",
      defaultValue = "2",
      paramLabel = "S",
      description = "Seconds of both loads before the first phase, not measured.")
  double warmUp;

  @Option(
      names = "--request",
      defaultValue = "1m",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "Bytes of a reader's request, at most 1g. Suffixes k, m, g.")
  long requestBytes;

  @Option(
      names = "--block-size",
      defaultValue = "128m",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "Length of an ingested file and its HDFS block size. Suffixes k, m, g.")
  long blockBytes;

  @Option(
      names = "--keep",
      defaultValue = "2",
      paramLabel = "N",
      description = "Whole files that a writer leaves before it deletes the oldest.")
  int keep;

  @Option(
      names = "--readers",
      defaultValue = "1",
      paramLabel = "N",
      description = "Tasks that read.")
  int readers;

  @Option(
      names = "--writers",
      defaultValue = "1",
      paramLabel = "N",
      description = "Tasks that write.")
  int writers;

  @Option(
      names = "--read-rate",
      defaultValue = "0",
      paramLabel = "MIB/S",
      description = "What all readers together read a second at most; 0: as fast as can be.")
  double readMibPerSecond;

  @Option(
      names = "--ingest-rate",
      defaultValue = "0",
      paramLabel = "MIB/S",
      description = "What all writers together write a second at most; 0: as fast as can be.")
  double ingestMibPerSecond;

  @Option(
      names = "--bin-ms",
      defaultValue = "100",
      paramLabel = "MS",
      description = "Length of a bin of the time series.")
  int binMs;

  @Mixin InputPaths input;

  /** Entry point of spark-submit. */
  public static void main(String[] arguments) {
    main(new Mixed(), arguments);
  }

  @Override
  void validate() {
    input.validated();
    if (ingest.isBlank()) {
      throw bad("--ingest: is empty; give a directory");
    }
    if (!(seconds >= 0.1 && seconds <= 86_400 && warmUp >= 0 && warmUp <= 86_400)) {
      throw bad("--seconds, --warm-up: must be at least 0.1 and 0, and at most 86400");
    }
    if (rounds < 1 || readers < 1 || writers < 1 || keep < 0 || binMs < 1) {
      throw bad("--rounds, --readers, --writers, --bin-ms: must be at least 1, --keep at least 0");
    }
    if (!(readMibPerSecond >= 0 && ingestMibPerSecond >= 0)) {
      throw bad("--read-rate, --ingest-rate: must be at least 0 MiB/s");
    }
    requireBufferBytes("--request", requestBytes);
    requireBlockBytes("--block-size", blockBytes);
    if (2 * rounds * seconds * 1000 / binMs > MAX_BINS) {
      throw bad("--bin-ms: makes more than " + MAX_BINS + " bins; choose longer ones");
    }
  }

  @Override
  Object run(SparkSession session) throws Exception {
    return MixedRun.run(
        session,
        new MixedRun.Request(
            input.paths,
            ingest,
            Math.round(seconds * 1000),
            Math.round(warmUp * 1000),
            rounds,
            (int) requestBytes,
            blockBytes,
            keep,
            readers,
            writers,
            readMibPerSecond,
            ingestMibPerSecond,
            binMs));
  }
}
