package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.hdfsmeld.record.RecordKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What DataNodes record of readers and devices belongs together again in one timeline. */
class ITTimeline {
  private static final org.apache.hadoop.fs.Path FILE = new org.apache.hadoop.fs.Path("/scanned");
  private static final int FILE_BYTES = 3 * MeldCluster.BLOCK_BYTES - 54_321;

  @TempDir Path dir;

  private MeldCluster.Builder cluster() {
    return MeldCluster.builder().meld("trace.dir", dir.resolve("recorded").toString());
  }

  @Test
  void everyRequestHasItsCommandAndWaitsAddUp() throws Exception {
    try (MeldCluster cluster = cluster().meld("time-dilation", "200").start()) {
      byte[] bytes = Content.write(cluster.fileSystem(), FILE, 1, FILE_BYTES);
      // Not before: nothing is asked of the writes.
      Volumes.setAll("Mode", "real-time");
      long waitedBefore = Volumes.total("reader_wait_ns");
      assertThat(Commands.meld(cluster, "-timeline", "start")).isZero();
      assertThat(Commands.meld(cluster, "-timeline", "start")).as("it is recording").isEqualTo(2);
      Content.assertSame(cluster.fileSystem(), FILE, bytes);
      assertThat(Commands.meld(cluster, "-timeline", "stop")).isZero();
      double waited = (Volumes.total("reader_wait_ns") - waitedBefore) / 1e9;

      String said = join(cluster);
      assertThat(Commands.number(said, "(\\d+) block reads of clients on 1 DataNodes"))
          .isEqualTo(3);
      double requests = Commands.number(said, "requests with their command: \\d+ of (\\d+)");
      assertThat(requests).isGreaterThan(3);
      assertThat(Commands.number(said, "requests with their command: (\\d+) of"))
          .isEqualTo(requests);
      assertThat(waited).isPositive();
      assertThat(Commands.number(said, "readers waited for devices: ([0-9.]+) s"))
          .isCloseTo(waited, within(0.01 * waited));
      assertThat(said).contains("a second of the device takes 200.000 s here");
    }
  }

  @Test
  void accountModeIsRecordedToo() throws Exception {
    try (MeldCluster cluster = cluster().start()) {
      byte[] bytes = Content.write(cluster.fileSystem(), FILE, 1, FILE_BYTES);
      assertThat(Commands.meld(cluster, "-timeline", "start")).isZero();
      Content.assertSame(cluster.fileSystem(), FILE, bytes);
      assertThat(Commands.meld(cluster, "-timeline", "stop")).isZero();
      String said = join(cluster);
      double requests = Commands.number(said, "requests with their command: \\d+ of (\\d+)");
      assertThat(requests).isGreaterThan(3);
      assertThat(Commands.number(said, "requests with their command: (\\d+) of"))
          .isEqualTo(requests);
      assertThat(said).contains("in account mode its time has no place here");
    }
  }

  @Test
  void onlyTheSuperuserMayRecord() throws Exception {
    try (MeldCluster cluster = cluster().start()) {
      assertThat(Commands.meld(cluster, "-timeline", "rewind")).isEqualTo(1);
      Commands.asStranger(
          cluster,
          dataNode -> {
            assertThatThrownBy(() -> dataNode.start(RecordKind.TIMELINE))
                .hasMessageContaining("Superuser");
            assertThatThrownBy(() -> dataNode.stop(RecordKind.TIMELINE))
                .hasMessageContaining("Superuser");
            assertThatThrownBy(() -> dataNode.status(RecordKind.TIMELINE))
                .hasMessageContaining("Superuser");
            assertThatThrownBy(() -> dataNode.read(RecordKind.TIMELINE, "any", 0))
                .hasMessageContaining("Superuser");
          });
    }
  }

  /** Fetches the files, joins them, and gives back what that says. */
  private String join(MeldCluster cluster) throws Exception {
    Path fetched = dir.resolve("fetched");
    assertThat(Commands.meld(cluster, "-timeline", "fetch", fetched.toString())).isZero();
    try (Stream<Path> files = Files.list(fetched)) {
      List<Path> all = files.toList();
      assertThat(all).hasSize(2);
      for (Path file : all) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
            .isEqualTo("rw-------");
      }
    }
    Path trace = dir.resolve("joined.perfetto.gz");
    String said =
        Commands.meldsim("timeline", "--join", fetched.toString(), "--timeline", trace.toString());
    assertThat(trace).isNotEmptyFile();
    return said;
  }
}
