package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two volumes of a DataNode on one simulated SSD. */
class ITSharedDevice {
  private static final Path READ = new Path("/read");
  private static final Path WRITTEN = new Path("/written");

  @TempDir java.nio.file.Path directory;

  private MeldCluster start(String sets, String... volumes) throws IOException {
    return MeldCluster.builder()
        .volumes(volumes)
        .meld("devices", "ssd0=" + Profiles.divided(directory, sets))
        .set(
            "dfs.datanode.fsdataset.volume.choosing.policy",
            NumberedVolumeChoosingPolicy.class.getName())
        .start();
  }

  @Test
  void eachVolumesBlocksLieInItsSet() throws Exception {
    try (MeldCluster cluster =
        start("[sets]\nlayout = \"vertical\"\ncount = 2", "@ssd0/0", "@ssd0/1")) {
      NumberedVolumeChoosingPolicy.choose(1);
      byte[] bytes = Content.write(cluster.fileSystem(), READ, 1, 9_000_001);
      Content.assertSame(cluster.fileSystem(), READ, bytes);
      assertThat(Volumes.devices()).hasSize(1);
      assertThat(Volumes.ofDevices("host_written_bytes")).isGreaterThanOrEqualTo(bytes.length);
      assertThat(Volumes.total("forwarded_write_bytes")).isEqualTo(bytes.length);
      for (var volume : Volumes.all()) {
        assertThat(Volumes.get(volume, "Device")).isEqualTo("ssd0");
        assertThat(Volumes.counters(volume)).doesNotContainKey("now_ps");
      }
      for (String counter : List.of("host_written_bytes", "host_read_bytes", "mapped_pages")) {
        assertThat(Volumes.total(counter)).isEqualTo(Volumes.ofDevices(counter)).isPositive();
      }
      Volumes.setAll("TimeDilation", 2.0);
      assertThat(Volumes.get(Volumes.devices().iterator().next(), "TimeDilation")).isEqualTo(2.0);
    }
  }

  @Test
  void theReportTellsTheVolumesApart() throws Exception {
    try (MeldCluster cluster = start("", "@ssd0", "@ssd0")) {
      NumberedVolumeChoosingPolicy.choose(0);
      byte[] bytes = Content.write(cluster.fileSystem(), READ, 1, 3 * MeldCluster.BLOCK_BYTES);
      NumberedVolumeChoosingPolicy.choose(1);
      byte[] small = Content.write(cluster.fileSystem(), WRITTEN, 2, 600_000);
      ITHints.flush();
      Content.assertSame(cluster.fileSystem(), READ, bytes);
      List<Reported> reported = report(cluster);
      Reported read = reported.get(0);
      assertThat(read.melded()).isEqualTo(100);
      assertThat(List.of(read.read(), read.written())).allMatch(n -> n >= bytes.length);
      Reported unread = reported.get(1);
      assertThat(unread.melded()).isZero();
      assertThat(unread.pages()).isBetween(1L, read.pages() - 1);
      assertThat(unread.read()).isZero();
      assertThat(unread.written()).isBetween((long) small.length, (long) bytes.length);

      assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
      cluster.hdfs().waitActive();
      Content.assertSame(cluster.fileSystem(), READ, bytes);
      reported = report(cluster);
      read = reported.get(0);
      assertThat(read.melded()).isEqualTo(100);
      assertThat(read.pages()).isPositive();
      assertThat(read.read()).isGreaterThanOrEqualTo(bytes.length);
      assertThat(read.written()).isZero();
      assertThat(reported.get(1).read()).isZero();
    }
  }

  /** What {@code hdfs meld -report} says of a volume; melded is percent. */
  private record Reported(long melded, long pages, long read, long written) {
    private static final Pattern VOLUME =
        Pattern.compile(
            "Volume .*\\n.*; melded (\\d+) % of (\\d+) pages\\n.*\\n.*read (\\d+), written (\\d+);");

    static Reported of(MatchResult volume) {
      long[] numbers =
          IntStream.rangeClosed(1, 4).mapToLong(i -> Long.parseLong(volume.group(i))).toArray();
      return new Reported(numbers[0], numbers[1], numbers[2], numbers[3]);
    }
  }

  private static List<Reported> report(MeldCluster cluster) throws Exception {
    // Waits until what was read is counted.
    Volumes.devices().forEach(Volumes::counters);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
    Configuration conf = new Configuration(cluster.fileSystem().getConf());
    // As from a process of its own: no connection is left to a DataNode that restarts.
    conf.setInt("ipc.client.connection.maxidletime", 0);
    assertThat(ToolRunner.run(conf, new MeldAdmin(print, print), new String[] {"-report"}))
        .as(out::toString)
        .isZero();
    String report = out.toString(StandardCharsets.UTF_8);
    List<Reported> reported = Reported.VOLUME.matcher(report).results().map(Reported::of).toList();
    assertThat(reported).as(report).hasSize(2);
    return reported;
  }
}
