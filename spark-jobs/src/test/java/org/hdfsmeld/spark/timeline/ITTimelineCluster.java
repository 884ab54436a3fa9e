package org.hdfsmeld.spark.timeline;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaSparkContext;
import org.hdfsmeld.spark.LocalHdfs;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A timeline of executors in JVMs of their own has all that they read, although they just end. */
class ITTimelineCluster {
  private static final int FILES = 8;
  private static final int BYTES = 100_000;
  private static final String LINE = "123456789\n";

  /** What Spark looks for where it is installed, and how it is told to look there. */
  private static final List<String> FOLDERS = List.of("jars", "launcher/target/scala-2.13");

  private static final List<String> PROPERTIES = List.of("spark.testing", "spark.test.home");

  @TempDir static Path directory;

  @BeforeAll
  static void install() throws Exception {
    for (String folder : FOLDERS) {
      Files.createDirectories(directory.resolve(folder));
    }
    System.setProperty(PROPERTIES.get(0), "true");
    System.setProperty(PROPERTIES.get(1), directory.toString());
  }

  @AfterAll
  static void uninstall() {
    PROPERTIES.forEach(System::clearProperty);
  }

  @Test
  void nothingOfTwoExecutorsIsLost() throws Exception {
    Path file = directory.resolve("timeline.jsonl.gz");
    Map<String, Object> config = new HashMap<>();
    config.put("spark.master", "local-cluster[2,1,512]");
    config.put("spark.executor.memory", "512m");
    config.put("spark.executor.extraClassPath", System.getProperty("java.class.path"));
    config.put("spark.plugins", TimelinePlugin.class.getName());
    config.put(TimelinePlugin.FILE_KEY, file.toString());
    config.put("spark.hadoop.fs.hdfs.impl", RecordingFileSystem.class.getName());
    config.put("spark.hadoop.fs.hdfs.impl.disable.cache", true);
    try (LocalHdfs hdfs = new LocalHdfs("timeline-cluster", 1, config)) {
      for (int i = 0; i < FILES; i++) {
        hdfs.write(hdfs.path("files/" + i), LINE.repeat(BYTES / LINE.length()).getBytes(US_ASCII));
      }
      JavaSparkContext context = new JavaSparkContext(hdfs.session.sparkContext());
      assertThat(context.textFile(hdfs.path("files"), 1).count())
          .isEqualTo(FILES * BYTES / LINE.length());
    }
    TimelineFile timeline = TimelineFile.of(file);
    Map<Long, List<BlockRead>> reads =
        timeline.reads().stream().collect(Collectors.groupingBy(BlockRead::task));
    assertThat(reads.keySet()).isEqualTo(timeline.tasks().keySet()).hasSize(FILES);
    List<String> paths = new ArrayList<>();
    for (List<BlockRead> ofTask : reads.values()) {
      paths.add(ofTask.get(0).path());
      assertThat(ofTask.stream().mapToLong(BlockRead::bytes).sum()).isEqualTo(BYTES);
    }
    assertThat(paths).doesNotHaveDuplicates();
    assertThat(timeline.tasks().values())
        .extracting(JsonNode::toString)
        .noneMatch(task -> task.contains("\"executor\":\"driver\""));
  }
}
