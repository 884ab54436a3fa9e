package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A call into the simulator that never returns, and has the device's lock: the thread that made it
 * is lost, HDFS goes on as with a DataNode that has died, and everybody else is without the device
 * after a bounded wait.
 */
class ITHang {
  private static final int FILE_BYTES = 2 * MeldCluster.BLOCK_BYTES + 99_991;

  /** Of the simulator: see lock.rs. */
  private static final Duration BOUND = Duration.ofSeconds(10);

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void costsOneThread() throws Exception {
    Path before = new Path("/before");
    Path during = new Path("/during");
    Path after = new Path("/after");
    MeldCluster cluster =
        MeldCluster.builder()
            .dataNodes(2)
            .set("dfs.replication", "2")
            // In place of a minute, so soon a pipeline goes on without a DataNode that is silent.
            .set("dfs.client.socket-timeout", "5000")
            .start();
    try (LogCapture log = LogCapture.start()) {
      FileSystem files = cluster.fileSystem();
      byte[] old = Content.write(files, before, 1, FILE_BYTES);
      byte[] begun = Content.random(2, 700_001);
      byte[] rest = Content.random(3, 5_000_003);
      ObjectName hanging = Volumes.all().iterator().next();
      try (FSDataOutputStream out = files.create(during)) {
        out.write(begun);
        out.hflush();
        Volumes.injectFault(hanging, "hang", 0);
        out.write(rest);
        out.hsync();
      }
      Content.assertSame(files, during, Content.concat(begun, rest));
      // Its replicas on both DataNodes are read sooner or later; who reads finds the device locked.
      await()
          .atMost(BOUND.multipliedBy(6))
          .untilAsserted(
              () -> {
                Content.assertSame(files, before, old);
                assertThat(Volumes.get(hanging, "Healthy")).isEqualTo(false);
              });
      Content.assertSame(files, before, old);
      Content.assertSame(files, after, Content.write(files, after, 4, FILE_BYTES));
      assertThat(Volumes.get(hanging, "LastError").toString()).contains("hangs");
      assertThat(Volumes.counters(hanging).get("errors")).isPositive();
      assertThat(log.text()).containsOnlyOnce("The volume goes on as stock HDFS");
      assertThat(Volumes.total("fallbacks")).isPositive();
    } finally {
      long begin = System.nanoTime();
      cluster.close();
      assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofMinutes(1));
    }
  }
}
