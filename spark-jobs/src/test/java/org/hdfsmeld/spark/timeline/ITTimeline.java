package org.hdfsmeld.spark.timeline;

import static org.apache.spark.sql.functions.sum;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.TextInputFormat;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaHadoopRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.hdfsmeld.spark.LocalHdfs;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The timeline of a job over some files of some blocks each. */
class ITTimeline {
  private static final int FILES = 3;
  private static final long ROWS = 100_000;
  private static final int FILE_BYTES = 2 * LocalHdfs.BLOCK_BYTES + LocalHdfs.BLOCK_BYTES / 2;

  /** What a reader of lines may read beyond its split. */
  private static final long AHEAD_BYTES = 1 << 17;

  /** What Spark's clock, of milliseconds, and its change since the start of this JVM may differ. */
  private static final long CLOCK_NS = 20_000_000;

  @TempDir static java.nio.file.Path directory;

  private static String application;
  private static final Map<String, String> contents = new HashMap<>();
  private static final List<Part> parts = new ArrayList<>();
  private static final Map<Long, LocatedBlock> blocks = new HashMap<>();
  private static long parquetSum;
  private static TimelineFile timeline;

  /** What a task had to read, and what it got. */
  private record Part(long task, String path, long start, long bytes, List<String> lines)
      implements Serializable {}

  @BeforeAll
  static void run() throws Exception {
    java.nio.file.Path file = directory.resolve("timeline.jsonl.gz");
    Map<String, Object> config =
        Map.of(
            "spark.plugins",
            TimelinePlugin.class.getName(),
            TimelinePlugin.FILE_KEY,
            file.toString(),
            "spark.hadoop.fs.hdfs.impl",
            RecordingFileSystem.class.getName(),
            // Else the file system is stock if another test of this JVM opened it first.
            "spark.hadoop.fs.hdfs.impl.disable.cache",
            true);
    try (LocalHdfs hdfs = new LocalHdfs("timeline", 2, config)) {
      for (int i = 0; i < FILES; i++) {
        String path = hdfs.path("files/" + i);
        String content = lines(new Random(i));
        contents.put(new Path(path).toUri().getPath(), content);
        hdfs.write(path, content.getBytes(StandardCharsets.US_ASCII));
        try (FSDataInputStream in = hdfs.fs().open(new Path(path))) {
          for (LocatedBlock block : ((HdfsDataInputStream) in).getAllBlocks()) {
            blocks.put(block.getBlock().getBlockId(), block);
          }
        }
      }
      JavaSparkContext context = new JavaSparkContext(hdfs.session.sparkContext());
      application = context.sc().applicationId();
      context.setJobDescription("read \"all\" lines");
      parts.addAll(read(context, hdfs.path("files")));
      hdfs.session.range(ROWS).write().parquet(hdfs.path("parquet"));
      context.setJobDescription("sum");
      parquetSum =
          hdfs.session.read().parquet(hdfs.path("parquet")).agg(sum("id")).first().getLong(0);
    }
    timeline = TimelineFile.of(file);
  }

  private static List<Part> read(JavaSparkContext context, String path) {
    JavaHadoopRDD<LongWritable, Text> lines =
        (JavaHadoopRDD<LongWritable, Text>)
            context.hadoopFile(path, TextInputFormat.class, LongWritable.class, Text.class, 1);
    return lines
        .mapPartitionsWithInputSplit(
            (split, records) -> {
              FileSplit part = (FileSplit) split;
              List<String> got = new ArrayList<>();
              records.forEachRemaining(record -> got.add(record._2().toString()));
              return List.of(
                      new Part(
                          TaskContext.get().taskAttemptId(),
                          part.getPath().toUri().getPath(),
                          part.getStart(),
                          part.getLength(),
                          got))
                  .iterator();
            },
            true)
        .collect();
  }

  private static String lines(Random random) {
    StringBuilder text = new StringBuilder();
    while (text.length() < FILE_BYTES) {
      text.append(Long.toString(random.nextLong(), 36)).append('\n');
    }
    text.setLength(FILE_BYTES - 1);
    return text.append('\n').toString();
  }

  @Test
  void theJobReadWhatWasWritten() {
    Map<String, StringBuilder> got = new HashMap<>();
    for (Part part : parts) {
      StringBuilder text = got.computeIfAbsent(part.path(), path -> new StringBuilder());
      part.lines().forEach(line -> text.append(line).append('\n'));
    }
    assertThat(got.keySet()).isEqualTo(contents.keySet());
    got.forEach((path, text) -> assertThat(text.toString().equals(contents.get(path))).isTrue());
  }

  @Test
  void headerAndStageSayWhatRan() {
    assertThat(timeline.header().path("meld_spark_timeline").asInt()).isEqualTo(1);
    assertThat(timeline.header().path("application").asText()).isEqualTo(application);
    assertThat(timeline.header().path("name").asText()).isEqualTo("timeline");
    JsonNode stage = timeline.stages().get(0);
    assertThat(stage.path("name").asText()).isEqualTo("read \"all\" lines");
    for (Part part : parts) {
      JsonNode task = timeline.tasks().get(part.task());
      assertThat(task.path("stage")).isEqualTo(stage.path("id"));
      assertThat(task.path("successful").asBoolean()).isTrue();
      assertThat(task.path("begin_ns").asLong())
          .isBetween(stage.path("begin_ns").asLong(), stage.path("end_ns").asLong());
    }
  }

  @Test
  void everyTaskReadItsSplitAndHardlyMore() {
    assertThat(parts).hasSize(3 * FILES);
    for (Part part : parts) {
      List<BlockRead> reads =
          timeline.reads().stream().filter(read -> read.task() == part.task()).toList();
      assertThat(reads).allSatisfy(read -> assertThat(read.path()).isEqualTo(part.path()));
      long position = part.start();
      long bytes = 0;
      for (BlockRead read : reads) {
        LocatedBlock block = blocks.get(read.block());
        assertThat(read.pool()).isEqualTo(block.getBlock().getBlockPoolId());
        long from = block.getStartOffset() + read.offset();
        assertThat(from).as("where a read goes on").isEqualTo(position);
        assertThat(read.offset() + read.bytes()).isLessThanOrEqualTo(block.getBlockSize());
        position += read.bytes();
        bytes += read.bytes();
      }
      assertThat(bytes).isBetween(part.bytes(), part.bytes() + AHEAD_BYTES);
    }
  }

  @Test
  void everyBlockOfEveryFileWasRead() {
    assertThat(blocks).hasSize(3 * FILES);
    List<BlockRead> reads =
        timeline.reads().stream().filter(read -> contents.containsKey(read.path())).toList();
    assertThat(reads).extracting(BlockRead::block).hasSameElementsAs(blocks.keySet());
    assertThat(reads.stream().mapToLong(BlockRead::bytes).sum())
        .isGreaterThanOrEqualTo((long) FILES * FILE_BYTES);
  }

  @Test
  void columnsAreReadByTheirStage() {
    assertThat(parquetSum).isEqualTo(ROWS * (ROWS - 1) / 2);
    List<BlockRead> reads =
        ofTasks().stream().filter(read -> read.path().contains("/parquet/part-")).toList();
    List<Integer> stages =
        timeline.stages().stream()
            .filter(stage -> stage.path("name").asText().equals("sum"))
            .map(stage -> stage.path("id").asInt())
            .toList();
    assertThat(reads)
        .anySatisfy(
            read ->
                assertThat(stages)
                    .contains(timeline.tasks().get(read.task()).path("stage").asInt()));
  }

  @Test
  void readsLieWithinTheirTasks() {
    for (BlockRead read : ofTasks()) {
      JsonNode task = timeline.tasks().get(read.task());
      assertThat(task).as("task of %s", read).isNotNull();
      assertThat(read.beginNs())
          .isGreaterThanOrEqualTo(task.path("begin_ns").asLong() - CLOCK_NS)
          .isLessThanOrEqualTo(read.endNs());
      assertThat(read.endNs()).isLessThanOrEqualTo(task.path("end_ns").asLong() + CLOCK_NS);
      assertThat(read.waitedNs()).isBetween(1L, read.endNs() - read.beginNs());
    }
  }

  /** All but those of the footers that Spark reads by other threads, to find out the columns. */
  private static List<BlockRead> ofTasks() {
    return timeline.reads().stream()
        .filter(read -> read.task() != -1 || !read.path().contains("/parquet/"))
        .toList();
  }
}
