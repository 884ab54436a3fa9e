package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.apache.hadoop.hdfs.server.namenode.INodeId;
import org.hdfsmeld.record.RecordKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A recorded trace says what the devices were asked, and the simulator does the same with it. */
class ITBlockTrace {
  private static final org.apache.hadoop.fs.Path SCANNED =
      new org.apache.hadoop.fs.Path("/scanned");
  private static final org.apache.hadoop.fs.Path SMALL = new org.apache.hadoop.fs.Path("/small");

  @TempDir Path dir;

  private MeldCluster.Builder cluster() {
    return MeldCluster.builder().meld("trace.dir", dir.toString());
  }

  @Test
  void byteCountsByOperationAreThoseOfTheDevices() throws Exception {
    try (MeldCluster cluster = cluster().start()) {
      Traces.all("start");
      byte[] bytes = Content.write(cluster.fileSystem(), SCANNED, 1, 3 * MeldCluster.BLOCK_BYTES);
      byte[] small = Content.write(cluster.fileSystem(), SMALL, 2, 12_345);
      Content.assertSame(cluster.fileSystem(), SCANNED, bytes);
      Content.assertSame(cluster.fileSystem(), SMALL, small);
      cluster.fileSystem().truncate(SCANNED, 2 * MeldCluster.BLOCK_BYTES - 1000);
      await().until(() -> cluster.fileSystem().isFileClosed(SCANNED));
      cluster.fileSystem().delete(SCANNED, false);
      await().until(() -> Volumes.total("blocks_mapped") == 1);
      Traces.all("stop");

      List<Traces.Line> lines = Traces.lines(dir);
      assertThat(Traces.total("DroppedRecords")).isZero();
      assertThat(Traces.total("Records")).isEqualTo(lines.size());
      assertThat(Traces.bytes(lines, line -> line.op().equals("read")))
          .isEqualTo(Volumes.total("host_read_bytes"));
      assertThat(Traces.bytes(lines, line -> line.op().equals("write")))
          .isEqualTo(Volumes.total("host_written_bytes"));
      assertThat(Traces.count(lines, line -> line.op().equals("read")))
          .isEqualTo(Volumes.total("read_commands"));
      assertThat(Traces.count(lines, line -> line.op().equals("write")))
          .isEqualTo(Volumes.total("write_commands"));
      assertThat(Traces.count(lines, line -> line.op().equals("flush")))
          .isEqualTo(Volumes.total("flush_commands"));
      assertThat(Traces.count(lines, line -> line.op().equals("delete"))).isEqualTo(3);
      assertThat(Traces.count(lines, line -> line.op().equals("truncate"))).isEqualTo(1);
      assertThat(lines)
          .filteredOn(line -> line.op().equals("write"))
          .allMatch(line -> line.client().equals("client"));
      assertThat(lines)
          .filteredOn(line -> line.op().equals("write") && line.length() > 16_384)
          .isNotEmpty()
          .allMatch(line -> line.pattern().equals("sequential"));
      replayGivesTheSame();
    }
  }

  /** The trace through {@code meldsim run}, as its user would. */
  private void replayGivesTheSame() throws Exception {
    Path joined = dir.resolve("joined.gz");
    for (Path file : Traces.files(dir)) {
      Files.write(
          joined, Files.readAllBytes(file), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
    String keep = System.getProperty("meld.keep.trace", "");
    if (!keep.isEmpty()) {
      // A sample for people.
      Files.copy(joined, Path.of(keep), StandardCopyOption.REPLACE_EXISTING);
    }
    String json =
        Commands.meldsim(
            "run",
            "--profile",
            "melded-tlc-8x8",
            "--trace",
            joined.toString(),
            "--trace-format",
            "meld",
            "--format",
            "json");
    for (String counter :
        List.of(
            "read_commands",
            "write_commands",
            "flush_commands",
            "host_read_bytes",
            "host_written_bytes",
            "melded_wordlines_programmed")) {
      assertThat(json).contains("\"" + counter + "\": " + Volumes.total(counter) + ",");
    }
  }

  @Test
  void theDirectoryOfABlockIsKnownAfterARestart() throws Exception {
    try (MeldCluster cluster =
        cluster()
            .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
            .meld("hint.timeout", "30s")
            .meld("trace.directories", "inode")
            .start()) {
      byte[] bytes = Content.write(cluster.fileSystem(), SCANNED, 1, MeldCluster.BLOCK_BYTES);
      assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
      cluster.hdfs().waitActive();
      Traces.all("start");
      Content.assertSame(cluster.fileSystem(), SCANNED, bytes);
      Traces.all("stop");
      assertThat(Traces.lines(dir))
          .filteredOn(line -> line.op().equals("read"))
          .isNotEmpty()
          .allMatch(line -> line.directory().equals(Long.toString(INodeId.ROOT_INODE_ID)));
    }
  }

  @Test
  void theCommandStartsStopsAndFetches() throws Exception {
    try (MeldCluster cluster = cluster().start()) {
      Path fetched = dir.resolve("fetched");
      assertThat(Commands.meld(cluster, "-trace", "start")).isZero();
      assertThat(Commands.meld(cluster, "-trace", "start")).as("it is recording").isEqualTo(2);
      Content.write(cluster.fileSystem(), SCANNED, 1, MeldCluster.BLOCK_BYTES);
      assertThat(Commands.meld(cluster, "-trace", "stop")).isZero();
      assertThat(Commands.meld(cluster, "-trace", "fetch", fetched.toString())).isZero();
      List<Path> files = Traces.files(fetched);
      assertThat(files).hasSize(1);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(files.get(0))))
          .isEqualTo("rw-------");
      assertThat(Traces.bytes(Traces.lines(fetched), line -> line.op().equals("write")))
          .isEqualTo(Volumes.total("host_written_bytes"));
      assertThat(Commands.meld(cluster, "-trace", "rewind")).isEqualTo(1);

      Commands.asStranger(
          cluster,
          dataNode -> {
            assertThatThrownBy(() -> dataNode.start(RecordKind.TRACE))
                .hasMessageContaining("Superuser");
            assertThatThrownBy(() -> dataNode.stop(RecordKind.TRACE))
                .hasMessageContaining("Superuser");
            assertThatThrownBy(() -> dataNode.status(RecordKind.TRACE))
                .hasMessageContaining("Superuser");
            assertThatThrownBy(() -> dataNode.read(RecordKind.TRACE, "any", 0))
                .hasMessageContaining("Superuser");
          });
    }
  }
}
