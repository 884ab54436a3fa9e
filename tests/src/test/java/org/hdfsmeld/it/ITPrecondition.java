package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster.DataNodeProperties;
import org.apache.hadoop.util.ToolRunner;
import org.hdfsmeld.tools.MeldAdmin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HDFS on devices that were used for long before. */
class ITPrecondition {
  private static final int FILE_BYTES = 12 * MeldCluster.BLOCK_BYTES;
  private static final org.apache.hadoop.fs.Path FILE = new org.apache.hadoop.fs.Path("/file");
  private static final String SETS = "[sets]\nlayout = \"vertical\"\ncount = 2";

  @TempDir Path dir;

  /** Writes a file; returns pages placed on flash for each of the host's. */
  private static double amplification(MeldCluster cluster) throws Exception {
    Content.write(cluster.fileSystem(), FILE, 1, FILE_BYTES);
    ITHints.flush();
    long host = Volumes.total("host_pages_programmed");
    assertThat(host).isPositive();
    return 1 + (double) Volumes.total("gc_pages_moved") / host;
  }

  private static String report(MeldCluster cluster) throws Exception {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
    Configuration conf = new Configuration(cluster.fileSystem().getConf());
    assertThat(ToolRunner.run(conf, new MeldAdmin(out, out), new String[] {"-report"})).isZero();
    return said.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aUsedDeviceAmplifiesWhatAFreshOneDoesNot() throws Exception {
    String profile = Profiles.divided(dir, "");
    try (MeldCluster fresh = MeldCluster.builder().volumes(profile).start()) {
      assertThat(amplification(fresh)).isEqualTo(1.0);
      assertThat(Volumes.total("precondition_fill_percent")).isZero();
      assertThat(report(fresh)).doesNotContain(", precondition ");
    }
    try (MeldCluster used =
        MeldCluster.builder()
            .volumes(profile)
            .meld("precondition", "fill=100,random=100")
            .start()) {
      long full = Volumes.total("mapped_pages");
      assertThat(full).isEqualTo(Volumes.total("capacity_pages"));
      assertThat(amplification(used)).isGreaterThan(1.5);
      assertThat(Volumes.total("errors")).isZero();
      assertThat(Volumes.total("precondition_random_percent")).isEqualTo(100);
      assertThat(report(used)).contains(", precondition fill=100,random=100, account, in service");
      Content.assertSame(used.fileSystem(), FILE, Content.random(1, FILE_BYTES));

      // What was deleted makes room, and a restored device is not used once more.
      org.apache.hadoop.fs.Path kept = new org.apache.hadoop.fs.Path("/kept");
      Content.write(used.fileSystem(), kept, 2, MeldCluster.BLOCK_BYTES);
      ITHints.flush();
      used.fileSystem().delete(FILE, false);
      await().until(() -> Volumes.total("blocks_mapped") == 1);
      ITHints.flush();
      long left = Volumes.total("mapped_pages");
      assertThat(left).isLessThan(full);
      DataNodeProperties stopped = used.hdfs().stopDataNode(0);
      used.hdfs().restartDataNode(stopped, true);
      used.hdfs().waitActive();
      assertThat(Volumes.total("state_restored_blocks")).isEqualTo(1);
      // Slots that are free again are deallocated to their ends, which no block had.
      assertThat(Volumes.total("mapped_pages")).isBetween(left - 100, left);
      Content.assertSame(used.fileSystem(), kept, Content.random(2, MeldCluster.BLOCK_BYTES));
    }
  }

  @Test
  void aSkewedPastAmplifiesOtherwise() throws Exception {
    String profile = Profiles.divided(dir, "");
    Map<String, Double> amplified = new HashMap<>();
    for (String skew : List.of("", ",skew=zoned:100/10:0/90")) {
      try (MeldCluster used =
          MeldCluster.builder()
              .volumes(profile)
              .meld("precondition", "fill=100,random=100" + skew)
              .start()) {
        assertThat(Volumes.total("mapped_pages")).isEqualTo(Volumes.total("capacity_pages"));
        assertThat(report(used))
            .contains(", precondition fill=100,random=100" + skew + ", account, in service");
        // As much as several superblocks hold.
        for (int file = 0; file < 8; file++) {
          Content.write(
              used.fileSystem(), new org.apache.hadoop.fs.Path("/" + file), file, FILE_BYTES);
        }
        amplified.put(skew, amplification(used));
        assertThat(Volumes.total("errors")).isZero();
        Content.assertSame(used.fileSystem(), FILE, Content.random(1, FILE_BYTES));
      }
    }
    // What the past never rewrote lies apart by now, and need not be moved.
    assertThat(amplified.get(",skew=zoned:100/10:0/90")).isLessThan(0.9 * amplified.get(""));
  }

  @Test
  void everySetOfASharedDeviceHasAPast() throws Exception {
    try (MeldCluster cluster =
        MeldCluster.builder()
            .meld("devices", "ssd0=" + Profiles.divided(dir, SETS))
            .meld("volume.preconditions", "@ssd0=50/100")
            .volumes("@ssd0/0", "@ssd0/1")
            .start()) {
      double mapped = Volumes.ofDevices("mapped_pages");
      assertThat(mapped / Volumes.ofDevices("capacity_pages")).isBetween(0.49, 0.51);
      Volumes.all()
          .forEach(
              volume ->
                  assertThat(Volumes.counters(volume))
                      .containsEntry("precondition_fill_percent", 50L)
                      .extractingByKey("mapped_pages")
                      .isEqualTo((long) mapped / 2));
      Content.write(cluster.fileSystem(), FILE, 1, FILE_BYTES);
      Content.assertSame(cluster.fileSystem(), FILE, Content.random(1, FILE_BYTES));
    }
  }
}
