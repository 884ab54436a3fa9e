package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.rpc.MeldDatanode;
import org.hdfsmeld.tools.MeldAdmin;
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
      assertThat(meld(cluster, "-timeline", "start")).isZero();
      assertThat(meld(cluster, "-timeline", "start")).as("it is recording").isEqualTo(2);
      Content.assertSame(cluster.fileSystem(), FILE, bytes);
      assertThat(meld(cluster, "-timeline", "stop")).isZero();
      double waited = (Volumes.total("reader_wait_ns") - waitedBefore) / 1e9;

      String said = join(cluster);
      assertThat(number(said, "(\\d+) block reads of clients on 1 DataNodes")).isEqualTo(3);
      double requests = number(said, "requests with their command: \\d+ of (\\d+)");
      assertThat(requests).isGreaterThan(3);
      assertThat(number(said, "requests with their command: (\\d+) of")).isEqualTo(requests);
      assertThat(waited).isPositive();
      assertThat(number(said, "readers waited for devices: ([0-9.]+) s"))
          .isCloseTo(waited, within(0.01 * waited));
      assertThat(said).contains("a second of the device takes 200.000 s here");
    }
  }

  @Test
  void accountModeIsRecordedToo() throws Exception {
    try (MeldCluster cluster = cluster().start()) {
      byte[] bytes = Content.write(cluster.fileSystem(), FILE, 1, FILE_BYTES);
      assertThat(meld(cluster, "-timeline", "start")).isZero();
      Content.assertSame(cluster.fileSystem(), FILE, bytes);
      assertThat(meld(cluster, "-timeline", "stop")).isZero();
      String said = join(cluster);
      double requests = number(said, "requests with their command: \\d+ of (\\d+)");
      assertThat(requests).isGreaterThan(3);
      assertThat(number(said, "requests with their command: (\\d+) of")).isEqualTo(requests);
      assertThat(said).contains("in account mode its time has no place here");
    }
  }

  @Test
  void onlyTheSuperuserMayRecord() throws Exception {
    try (MeldCluster cluster = cluster().start()) {
      assertThat(meld(cluster, "-timeline", "rewind")).isEqualTo(1);
      UserGroupInformation stranger = UserGroupInformation.createRemoteUser("mallory");
      PrivilegedExceptionAction<Void> snoop =
          () -> {
            try (MeldDatanode dataNode =
                new MeldDatanode(
                    new Configuration(cluster.fileSystem().getConf()),
                    new InetSocketAddress(
                        "127.0.0.1", cluster.hdfs().getDataNodes().get(0).getIpcPort()))) {
              assertThatThrownBy(dataNode::startTimeline).hasMessageContaining("Superuser");
              assertThatThrownBy(dataNode::stopTimeline).hasMessageContaining("Superuser");
              assertThatThrownBy(dataNode::timelineStatus).hasMessageContaining("Superuser");
              assertThatThrownBy(() -> dataNode.readTimeline("any", 0))
                  .hasMessageContaining("Superuser");
            }
            return null;
          };
      stranger.doAs(snoop);
    }
  }

  /** Fetches the files, joins them, and gives back what that says. */
  private String join(MeldCluster cluster) throws Exception {
    Path fetched = dir.resolve("fetched");
    assertThat(meld(cluster, "-timeline", "fetch", fetched.toString())).isZero();
    try (Stream<Path> files = Files.list(fetched)) {
      List<Path> all = files.toList();
      assertThat(all).hasSize(2);
      for (Path file : all) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
            .isEqualTo("rw-------");
      }
    }
    // Maven has built it beside the library.
    Path program = Path.of("../native-sim/target/release/meldsim");
    Path out = dir.resolve("joined.txt");
    Path trace = dir.resolve("joined.perfetto.gz");
    Process process =
        new ProcessBuilder(
                program.toString(),
                "timeline",
                "--join",
                fetched.toString(),
                "--timeline",
                trace.toString())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    String said = Files.readString(out);
    assertThat(process.exitValue()).as(said).isZero();
    assertThat(trace).isNotEmptyFile();
    return said;
  }

  private static double number(String text, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    assertThat(matcher.find()).as(text).isTrue();
    return Double.parseDouble(matcher.group(1));
  }

  private static int meld(MeldCluster cluster, String... arguments) throws Exception {
    return ToolRunner.run(
        new Configuration(cluster.fileSystem().getConf()),
        new MeldAdmin(System.out, System.err),
        arguments);
  }
}
