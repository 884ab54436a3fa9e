package org.hdfsmeld.spark.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file has the lines of the format, its header first. */
class TestTimelineFile {
  private static final String HEADER = Lines.header("app-1", "hdfs-meld demo");

  @TempDir Path directory;

  @Test
  void linesAreThoseOfTheFormat() {
    assertThat(HEADER)
        .isEqualTo(json("{'meld_spark_timeline':1,'application':'app-1','name':'hdfs-meld demo'}"));
    assertThat(Lines.of(new Lines.Stage(3, 0, "scan melded", 1, 2)))
        .isEqualTo(
            json("{'stage':{'id':3,'attempt':0,'name':'scan melded','begin_ns':1,'end_ns':2}}"));
    assertThat(Lines.of(new Lines.Task(17, 3, 0, 4, 0, "worker-1", "0", 1, 2, true)))
        .isEqualTo(
            json(
                "{'task':{'id':17,'stage':3,'stage_attempt':0,'index':4,'attempt':0,"
                    + "'host':'worker-1','executor':'0','begin_ns':1,'end_ns':2,"
                    + "'successful':true}}"));
    assertThat(Lines.of(new BlockRead(17, "/part-0", "BP-1", 1073741825, 0, 134217728, 1, 2, 3)))
        .isEqualTo(
            json(
                "{'read':{'task':17,'path':'/part-0','pool':'BP-1','block':1073741825,"
                    + "'offset':0,'bytes':134217728,'begin_ns':1,'end_ns':2,'waited_ns':3}}"));
    assertThat(Lines.dropped(12)).isEqualTo(json("{'dropped':{'reads':12}}"));
  }

  @Test
  void headerIsFirstWhateverCameBefore() throws Exception {
    Path file = directory.resolve("timeline.jsonl");
    TimelineWriter writer = new TimelineWriter(file);
    assertThat(writer.write("before\n")).isTrue();
    writer.begin(HEADER);
    assertThat(writer.write("after\n")).isTrue();
    writer.close("last\n");
    assertThat(file).hasContent(HEADER + "before\nafter\nlast\n");
  }

  @Test
  void nameSaysWhetherItIsCompressed() throws Exception {
    Path file = directory.resolve("timeline.jsonl.gz");
    TimelineWriter writer = new TimelineWriter(file);
    writer.begin(HEADER);
    writer.close("");
    try (GZIPInputStream in = new GZIPInputStream(Files.newInputStream(file))) {
      assertThat(in.readAllBytes()).asString(StandardCharsets.UTF_8).isEqualTo(HEADER);
    }
  }

  @Test
  void whatDoesNotFitIsRefused() throws Exception {
    Path file = directory.resolve("timeline.jsonl");
    TimelineWriter writer = new TimelineWriter(file); // It does not write before it began.
    for (int i = 0; i < TimelineWriter.QUEUE_CHUNKS; i++) {
      assertThat(writer.write("x\n")).isTrue();
    }
    assertThat(writer.write("y\n")).isFalse();
    writer.begin(HEADER);
    writer.close("");
    assertThat(file).content().startsWith(HEADER).doesNotContain("y");
  }

  @Test
  void applicationThatNeverStartedLeavesNoFile() throws Exception {
    Path file = directory.resolve("timeline.jsonl");
    new TimelineWriter(file).close("");
    assertThat(file).doesNotExist();
  }

  private static String json(String text) {
    return text.replace('\'', '"') + "\n";
  }
}
