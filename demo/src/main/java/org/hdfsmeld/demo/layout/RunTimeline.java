package org.hdfsmeld.demo.layout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.demo.cluster.EmbeddedCluster;
import org.hdfsmeld.sim.SimRun;
import org.hdfsmeld.spark.timeline.RecordingFileSystem;
import org.hdfsmeld.spark.timeline.TimelinePlugin;
import org.hdfsmeld.tools.MeldAdmin;

/** The timeline of a part of a run: recorded as a user of a cluster would, with the same tools. */
final class RunTimeline {
  private final EmbeddedCluster cluster;
  private final Path folder;

  /**
   * A timeline of which nothing is recorded yet.
   *
   * @param folder for what is recorded
   */
  RunTimeline(EmbeddedCluster cluster, Path folder) throws IOException {
    this.cluster = cluster;
    this.folder = Files.createDirectories(folder);
  }

  /** What Spark must be started with. */
  Map<String, String> sparkConfiguration() {
    return Map.of(
        "spark.plugins",
        TimelinePlugin.class.getName(),
        TimelinePlugin.FILE_KEY,
        folder.resolve("demo.spark.jsonl.gz").toString(),
        "spark.hadoop.fs.hdfs.impl",
        RecordingFileSystem.class.getName());
  }

  void start() throws Exception {
    meld("start");
  }

  void stop() throws Exception {
    meld("stop");
    meld("fetch", folder.toString());
  }

  /** Joins what was recorded, and says what came of it in a line; Spark has ended. */
  String write(Path file) throws Exception {
    JsonNode joined = new ObjectMapper().readTree(SimRun.joinTimeline("", folder, file, false));
    return String.format(
        Locale.ROOT,
        "%d tasks; %d of %d block reads have their task, %d of %d requests their command;"
            + " readers waited %.3f s, tasks %.3f s of it",
        joined.path("tasks").asLong(),
        joined.path("task_reads").asLong(),
        joined.path("block_reads").asLong(),
        joined.path("joined_requests").asLong(),
        joined.path("requests").asLong(),
        joined.path("waited_seconds").asDouble(),
        joined.path("task_waited_seconds").asDouble());
  }

  private void meld(String... arguments) throws Exception {
    Configuration conf = new Configuration(cluster.fileSystem().getConf());
    String[] all = new String[arguments.length + 1];
    all[0] = "-timeline";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    try (PrintStream silent =
        new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)) {
      int code = ToolRunner.run(conf, new MeldAdmin(silent, silent), all);
      if (code != 0) {
        throw new IOException("hdfs meld -timeline " + String.join(" ", arguments) + ": " + code);
      }
    }
  }
}
