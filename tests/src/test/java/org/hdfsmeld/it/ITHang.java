package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A call into the simulator that never returns, and has the device's lock: no thread of HDFS is
 * lost in it and no call of HDFS fails, though there is one replica only and a file is being
 * written; the volume is without its device after a bounded wait.
 */
@Tag("faults")
class ITHang {
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES + 99_991;

  /** See DeviceThread. */
  private static final Duration BOUND = Duration.ofSeconds(10);

  @ParameterizedTest
  @ValueSource(strings = {"account", "real-time"})
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void failsNoCallOfHdfs(String mode) throws Exception {
    Path before = new Path("/before");
    Path during = new Path("/during");
    Path after = new Path("/after");
    MeldCluster cluster =
        MeldCluster.builder()
            .dataNodes(1)
            .meld("mode", mode)
            // As long as the DataNode waits for the device when it ends.
            .meld("wait-timeout", "6s")
            .start();
    try (LogCapture log = LogCapture.start()) {
      FileSystem files = cluster.fileSystem();
      byte[] old = Content.write(files, before, 1, FILE_BYTES);
      byte[] begun = Content.random(2, 700_001);
      byte[] rest = Content.random(3, 5_000_003);
      ObjectName hanging = Volumes.all().iterator().next();
      try (FSDataOutputStream out = files.create(during, (short) 1)) {
        out.write(begun);
        out.hflush();
        Volumes.injectFault("hang", 0);
        out.write(rest);
        out.hsync();
      }
      Content.assertSame(files, during, Content.concat(begun, rest));
      await()
          .atMost(BOUND.multipliedBy(6))
          .untilAsserted(
              () -> {
                Content.assertSame(files, before, old);
                assertThat(Volumes.get(hanging, "Healthy")).isEqualTo(false);
              });
      Content.assertSame(files, before, old);
      Content.assertSame(files, during, Content.concat(begun, rest));
      Content.assertSame(files, after, Content.write(files, after, 4, FILE_BYTES));
      assertThat(Volumes.get(hanging, "LastError").toString()).contains("hangs");
      assertThat(Volumes.counters(hanging).get("errors")).isPositive();
      assertThat(log.text()).containsOnlyOnce("The volume goes on as stock HDFS");
      assertThat(Volumes.total("fallbacks")).isPositive();
    } finally {
      cluster.close();
    }
  }
}
