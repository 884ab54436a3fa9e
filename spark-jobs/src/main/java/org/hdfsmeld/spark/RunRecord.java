package org.hdfsmeld.spark;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.hadoop.util.VersionInfo;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.spark.cli.BuildInfo;
import org.hdfsmeld.spark.devices.SimulatorUse;
import scala.Tuple2;

/**
 * A result together with everything needed to get it again.
 *
 * @param version of hdfs-meld
 * @param seed where the data's randomness comes from
 * @param labels what the caller says of the run
 * @param simulator what the simulated devices did; null if nobody asked
 * @param result what the job found
 */
public record RunRecord(
    String tool,
    String version,
    String command,
    List<String> arguments,
    String started,
    String seed,
    String sparkVersion,
    Map<String, String> sparkConf,
    String hadoopVersion,
    Machine machine,
    Map<String, String> labels,
    SimulatorUse simulator,
    Object result) {

  /** The generator's streams of random numbers are part of the TPC-H specification. */
  public static final String TPCH_SEED =
      "fixed by the TPC-H specification (io.trino.tpch " + BuildInfo.tpchVersion() + ")";

  // The same as Spark's own spark.redaction.regex.
  private static final Pattern SECRET =
      Pattern.compile("(?i)secret|password|token|access[.]?key|account[.]key");

  /** What the numbers were measured on. */
  public record Machine(int cores, long maxHeapBytes, String os, String architecture, String java) {
    /** The machine of this process. */
    public static Machine current() {
      return new Machine(
          Runtime.getRuntime().availableProcessors(),
          Runtime.getRuntime().maxMemory(),
          System.getProperty("os.name") + " " + System.getProperty("os.version"),
          System.getProperty("os.arch"),
          System.getProperty("java.vendor") + " " + System.getProperty("java.version"));
    }
  }

  /**
   * What a run was, beside its arguments.
   *
   * @param simulator what the simulated devices did; null if nobody asked
   */
  record Context(Map<String, String> labels, SimulatorUse simulator) {
    static final Context NONE = new Context(Map.of(), null);
  }

  /** Completes a result on TPC-H data with the configuration of the session. */
  public static RunRecord of(
      String command, String[] arguments, Instant started, SparkSession session, Object result) {
    return of(command, arguments, started, TPCH_SEED, session, Context.NONE, result);
  }

  /** Completes a result of the given command with the configuration of the session. */
  static RunRecord of(
      String command,
      String[] arguments,
      Instant started,
      String seed,
      SparkSession session,
      Context context,
      Object result) {
    Map<String, String> conf = new TreeMap<>();
    for (Tuple2<String, String> entry : session.sparkContext().getConf().getAll()) {
      conf.put(entry._1(), SECRET.matcher(entry._1()).find() ? "(redacted)" : entry._2());
    }
    return new RunRecord(
        "hdfs-meld",
        BuildInfo.version(),
        command,
        Arrays.asList(arguments),
        started.truncatedTo(ChronoUnit.SECONDS).toString(),
        seed,
        session.version(),
        conf,
        VersionInfo.getVersion(),
        Machine.current(),
        context.labels(),
        context.simulator(),
        result);
  }
}
