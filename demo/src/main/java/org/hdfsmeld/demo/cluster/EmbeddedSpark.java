package org.hdfsmeld.demo.cluster;

import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.hdfsmeld.demo.process.Workspace;

/** Spark in this JVM, with everything it writes inside the workspace. */
public final class EmbeddedSpark {
  private EmbeddedSpark() {}

  /**
   * Starts it.
   *
   * @param hadoop what a client of the HDFS must set
   * @param more what else is set
   */
  public static SparkSession start(
      Map<String, String> hadoop, Workspace workspace, int cores, Map<String, String> more) {
    SparkSession.Builder builder = SparkSession.builder();
    hadoop.forEach((key, value) -> builder.config("spark.hadoop." + key, value));
    more.forEach(builder::config);
    return builder
        .appName("hdfs-meld demo")
        .master("local[" + cores + "]")
        .config("spark.local.dir", workspace.temporary().toString())
        .config("spark.sql.warehouse.dir", workspace.resolve("warehouse").toUri().toString())
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", false)
        .config("spark.sql.shuffle.partitions", 1)
        // All data is on this machine: no task may wait for a better place.
        .config("spark.locality.wait", "0")
        .getOrCreate();
  }
}
