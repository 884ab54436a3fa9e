package org.hdfsmeld.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.hdfsmeld.spark.cli.Json;
import org.hdfsmeld.spark.measure.StageListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bytes read and throughput of every stage of any application. Use it by {@code --conf
 * spark.extraListeners=org.hdfsmeld.spark.ThroughputListener}: each stage is logged as it ends, and
 * with {@value #FILE_KEY} set, all stages are written there as JSON when the application ends.
 */
public final class ThroughputListener extends StageListener {
  /** Configuration key: local file that receives the stages as JSON; unset: none is written. */
  public static final String FILE_KEY = "spark.hdfsmeld.throughput.file";

  private static final Logger LOG = LoggerFactory.getLogger(ThroughputListener.class);

  private final String file;

  /** The constructor that {@code spark.extraListeners} uses. */
  public ThroughputListener(SparkConf conf) {
    file = conf.get(FILE_KEY, "");
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd end) {
    if (file.isEmpty()) {
      return;
    }
    try {
      Files.writeString(Path.of(file), Json.pretty(Map.of("stages", stages())));
    } catch (IOException e) {
      LOG.error("{}: cannot write {}: {}", FILE_KEY, file, e.toString());
    }
  }
}
