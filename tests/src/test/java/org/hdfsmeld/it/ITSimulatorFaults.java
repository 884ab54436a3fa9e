package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The simulator missing, panicking or answering with errors: HDFS goes on, no byte is lost. */
class ITSimulatorFaults {
  private static final org.apache.hadoop.fs.Path FILE = new org.apache.hadoop.fs.Path("/file");
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES + 99_991;

  @Tag("faults")
  @ParameterizedTest(name = "{0} after {1} calls")
  @CsvSource({"panic,0", "panic,7", "error,0", "error,7"})
  void aFaultInTheMiddleFailsNoCall(String kind, long afterCalls) throws Exception {
    try (MeldCluster cluster = MeldCluster.builder().start()) {
      byte[] before = Content.write(cluster.fileSystem(), FILE, 1, FILE_BYTES);
      var appended = new org.apache.hadoop.fs.Path("/appended");
      byte[] start = Content.random(2, 700_001);
      byte[] rest = Content.random(3, 5_000_003);
      try (FSDataOutputStream out = cluster.fileSystem().create(appended)) {
        out.write(start);
        out.hflush();
        Volumes.injectFault(kind, afterCalls);
        out.write(rest);
        out.hsync();
      }
      // The commands may still be gathered; to show counters has them done, so the fault is met.
      assertThat(Volumes.total("errors")).as("the failure is counted").isPositive();
      Content.assertSame(cluster.fileSystem(), FILE, before);
      Content.assertSame(cluster.fileSystem(), appended, Content.concat(start, rest));
      try (FSDataInputStream in = cluster.fileSystem().open(FILE)) {
        Random random = new Random(4);
        for (int i = 0; i < 50; i++) {
          int offset = random.nextInt(FILE_BYTES - 1000);
          byte[] part = new byte[999];
          in.readFully(offset, part);
          assertThat(part).isEqualTo(Arrays.copyOfRange(before, offset, offset + part.length));
        }
      }
      byte[] more = Content.random(5, 1_000_003);
      try (FSDataOutputStream out = cluster.fileSystem().append(FILE)) {
        out.write(more);
      }
      Content.assertSame(cluster.fileSystem(), FILE, Content.concat(before, more));
      cluster.fileSystem().delete(appended, false);

      if (kind.equals("panic")) {
        assertThat(Volumes.total("fallbacks"))
            .as("I/O that went on without the device")
            .isPositive();
        for (var volume : Volumes.all()) {
          assertThat(Volumes.get(volume, "Healthy")).isEqualTo(false);
        }
      }
    }
  }

  @Test
  void aMissingLibraryLeavesStockHdfs() throws Exception {
    try (MeldCluster cluster =
        MeldCluster.builder().meld("native.library", "/no/such/libmeldsim.so").start()) {
      byte[] bytes = Content.write(cluster.fileSystem(), FILE, 6, FILE_BYTES);
      Content.assertSame(cluster.fileSystem(), FILE, bytes);
      byte[] more = Content.random(7, 10_007);
      try (FSDataOutputStream out = cluster.fileSystem().append(FILE)) {
        out.write(more);
      }
      Content.assertSame(cluster.fileSystem(), FILE, Content.concat(bytes, more));
      assertThat(Volumes.total("fallbacks")).isPositive();
      for (var volume : Volumes.all()) {
        assertThat(Volumes.get(volume, "Healthy")).isEqualTo(false);
      }
    }
  }

  @Test
  void failFastRefusesToStartWithoutTheLibrary() {
    assertThat(
            refusal(
                MeldCluster.builder()
                    .meld("native.library", "/no/such/libmeldsim.so")
                    .meld("fail-fast", "true")))
        .contains("/no/such/libmeldsim.so")
        .contains("dfs.datanode.meld.native.library");
  }

  @Test
  void aBadProfileIsNamedWithItsKey(@TempDir Path directory) throws Exception {
    Path profile = directory.resolve("bad.toml");
    Files.writeString(profile, "name = \"bad\"\n[geometry]\nchanels = 8\n", StandardCharsets.UTF_8);
    assertThat(refusal(MeldCluster.builder().meld("profile", profile.toString())))
        .contains("chanels")
        .contains(profile.toString());
  }

  /** Starts a DataNode that must give up; returns what its log said meanwhile. */
  private static String refusal(MeldCluster.Builder builder) {
    try (LogCapture log = LogCapture.start();
        MeldCluster cluster = builder.startExpectingRefusal()) {
      var dataNode = cluster.hdfs().getDataNodes().get(0);
      await().untilAsserted(() -> assertThat(dataNode.isDatanodeUp()).isFalse());
      return log.text();
    }
  }
}
