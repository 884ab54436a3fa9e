package org.hdfsmeld.spark.timeline;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Records which task of any application reads which part of which HDFS block when, as JSON lines.
 * Use it by three keys, all set before the application starts:
 *
 * <pre>{@code
 * --conf spark.plugins=org.hdfsmeld.spark.timeline.TimelinePlugin
 * --conf spark.hadoop.fs.hdfs.impl=org.hdfsmeld.spark.timeline.RecordingFileSystem
 * --conf spark.hdfsmeld.timeline.file=/local/path/timeline.jsonl.gz
 * }</pre>
 *
 * <p>The jar is on the class path of driver and executors. Without {@value #FILE_KEY} nothing is
 * recorded. The file is whole when the Spark context has stopped. A task that had not ended by then
 * has no line, though its reads may.
 */
public final class TimelinePlugin implements SparkPlugin {
  /** Configuration key: local file of the driver; a name that ends in .gz: compressed. */
  public static final String FILE_KEY = "spark.hdfsmeld.timeline.file";

  @Override
  public DriverPlugin driverPlugin() {
    return new TimelineDriver();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new TimelineExecutor();
  }
}
