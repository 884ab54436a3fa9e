package org.hdfsmeld.demo;

import java.util.Map;
import org.apache.spark.sql.SparkSession;

/** Spark in this JVM, with everything it writes inside the workspace. */
final class EmbeddedSpark {
  private EmbeddedSpark() {}

  static SparkSession start(Map<String, String> hadoop, Workspace workspace) {
    SparkSession.Builder builder = SparkSession.builder();
    hadoop.forEach((key, value) -> builder.config("spark.hadoop." + key, value));
    return builder
        .appName("hdfs-meld demo")
        .master("local[" + Settings.READERS + "]")
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
