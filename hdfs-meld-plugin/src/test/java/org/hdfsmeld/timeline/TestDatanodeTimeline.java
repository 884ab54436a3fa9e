package org.hdfsmeld.timeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.hdfsmeld.datanode.config.TraceConfiguration;
import org.hdfsmeld.model.BlockKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestDatanodeTimeline {
  @TempDir Path dir;

  /** A device that writes a file, or says why it does not. */
  private record Device(String name, String problem) implements TimelineDevice {
    @Override
    public List<Volume> timelineVolumes() {
      return List.of(new Volume(7, 1));
    }

    @Override
    public void startTimeline(long bytes) {
      assertThat(bytes).isPositive();
    }

    @Override
    public Recorded stopTimeline(Path file) {
      if (!problem.isEmpty()) {
        return new Recorded(List.of(), null, problem);
      }
      try {
        Files.writeString(file, "records");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return new Recorded(List.of(new Clock(5, System.nanoTime(), 200)), file, "");
    }
  }

  private static final List<Device> DEVICES =
      List.of(new Device("/data\"1\n", ""), new Device("/data2", "it is no flash"));

  private DatanodeTimeline timeline(String uuid, int maxFiles, List<Device> devices) {
    TraceConfiguration config = new TraceConfiguration(dir.toString(), maxFiles, 1, 1, false);
    return new DatanodeTimeline(config, uuid, () -> devices);
  }

  private String lines(DatanodeTimeline timeline) throws IOException {
    String name =
        timeline.files().list().stream()
            .filter(file -> file.endsWith(".jsonl.gz"))
            .findFirst()
            .orElseThrow();
    byte[] file = timeline.files().read(name, 0, 1 << 20);
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(file))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void whatReadersAndDevicesDidIsInTheFiles() throws IOException {
    DatanodeTimeline timeline = timeline("uuid-1", 16, DEVICES);
    timeline.reader(7).requested(1L << 32, 0, 0);
    assertThat(timeline.isRecording()).isFalse();
    timeline.start();
    assertThatThrownBy(() -> timeline.start()).hasMessageContaining("stop it first");
    ReaderTimeline reader = timeline.reader(7);
    assertThat(reader.records(1)).as("it has not read").isFalse();
    reader.reading(64, 512);
    assertThat(reader.records(3L << 32)).isTrue();
    reader.requested(3L << 32, 4096, 262_144);
    reader.waited(3L << 32, reader.now());
    reader.ended(new BlockKey("BP-1", -5), "DFSClient_1", "client");
    timeline.stop();
    assertThat(timeline.getRecords()).isEqualTo(3);
    assertThat(timeline.getDroppedRecords()).isZero();

    String lines = lines(timeline);
    assertThat(lines.lines().toList().get(0))
        .startsWith("{\"meld_timeline\":1,\"datanode\":\"uuid-1\",\"host\":\"");
    assertThat(lines)
        .contains("\"name\":\"/data\\\"1\\u000a\",\"records\":\"meld-timeline-")
        .contains("\"name\":\"/data2\",\"problem\":\"it is no flash\"")
        .contains("{\"volume\":{\"n\":7,\"device\":0,\"nsid\":1}}")
        .contains("\"sim_ps\":5,")
        .contains("\"dilation\":200.0}}")
        .contains("\"volume\":7,\"ticket\":12884901888,")
        .contains("\"start_byte\":4096,\"bytes\":262144}}")
        .contains("\"pool\":\"BP-1\",\"block\":-5,\"client\":\"DFSClient_1\",\"kind\":\"client\"")
        .contains("\"offset\":64,\"bytes\":512}}")
        .endsWith("{\"lost\":{\"records\":0}}\n");
    assertThat(timeline.files().list()).hasSize(2);
    timeline.stop();
    assertThat(timeline.files().list()).as("nothing was recorded").hasSize(2);
  }

  @Test
  void oldFilesGoButNotThoseOfTheLastOne() throws IOException, InterruptedException {
    List<Device> three = List.of(DEVICES.get(0), new Device("b", ""), new Device("c", ""));
    DatanodeTimeline timeline = timeline("uuid-2", 1, three);
    for (int i = 0; i < 2; i++) {
      timeline.start();
      timeline.stop();
      // Files are named by the millisecond.
      Thread.sleep(2);
    }
    assertThat(timeline.files().list()).hasSize(4);
    String session = timeline.files().list().get(0).substring(0, 30);
    assertThat(timeline.files().list()).allMatch(file -> file.startsWith(session));
  }

  @Test
  void otherFilesAreNotGiven() throws IOException {
    DatanodeTimeline timeline = timeline("", 16, List.of());
    Files.writeString(dir.resolve("secret"), "s");
    assertThatThrownBy(() -> timeline.files().read("secret", 0, 10))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> timeline.files().read("../secret", 0, 10))
        .isInstanceOf(IOException.class);
  }
}
