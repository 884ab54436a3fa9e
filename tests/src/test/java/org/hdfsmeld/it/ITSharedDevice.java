package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two volumes of a DataNode on one simulated SSD. */
class ITSharedDevice {
  private static final Path READ = new Path("/read");
  private static final Path WRITTEN = new Path("/written");
  private static final int READ_BYTES = 48 << 20;

  /** So slow that the device and not the machine is what readers wait for. */
  private static final double DILATION = 30;

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
        assertThat(Volumes.counters(volume)).doesNotContainKey("host_written_bytes");
      }
      Volumes.setAll("TimeDilation", 2.0);
      assertThat(Volumes.get(Volumes.devices().iterator().next(), "TimeDilation")).isEqualTo(2.0);
    }
  }

  @Test
  void ingestDoesNotDisturbReadersOfAnotherVerticalSet() throws Exception {
    String sets = "[sets]\nlayout = \"vertical\"\ncount = 2";
    assertThat(slowdown(sets, "@ssd0/0", "@ssd0/1"))
        .as("device time of a reader beside a writer, over alone")
        .isBetween(0.95, 1.05);
  }

  @Test
  void withoutSetsIngestDisturbsReaders() throws Exception {
    assertThat(slowdown("", "@ssd0", "@ssd0"))
        .as("device time of a reader beside a writer, over alone")
        .isGreaterThan(1.2);
  }

  /** How much longer the device takes for a reader of volume 0 while volume 1 is written. */
  private double slowdown(String sets, String... volumes) throws Exception {
    ExecutorService writer = Executors.newSingleThreadExecutor();
    try (MeldCluster cluster = start(sets, volumes)) {
      NumberedVolumeChoosingPolicy.choose(0);
      byte[] bytes = Content.write(cluster.fileSystem(), READ, 1, READ_BYTES);
      NumberedVolumeChoosingPolicy.choose(1);
      Volumes.setAll("TimeDilation", DILATION);
      Volumes.setAll("Mode", "real-time");
      long alone = deviceTimeOfReading(cluster, bytes);

      CountDownLatch writing = new CountDownLatch(1);
      Future<?> ingest = writer.submit(() -> write(cluster, writing));
      assertThat(writing.await(60, TimeUnit.SECONDS)).isTrue();
      long beside = deviceTimeOfReading(cluster, bytes);
      assertThat(ingest).as("the writer, which wrote all the time").isNotDone();
      Volumes.setAll("Mode", "account");
      writer.shutdownNow();
      assertThat(writer.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
      assertThat(Volumes.total("errors") + Volumes.total("timeouts")).isZero();
      return (double) beside / alone;
    }
  }

  private static Void write(MeldCluster cluster, CountDownLatch writing) throws IOException {
    byte[] part = Content.random(2, 1 << 20);
    try (FSDataOutputStream out = cluster.fileSystem().create(WRITTEN)) {
      // More than the device's write buffer takes in, so that it has begun to program.
      for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
        out.write(part);
        if (i == 24) {
          writing.countDown();
        }
      }
    }
    return null;
  }

  private static long deviceTimeOfReading(MeldCluster cluster, byte[] bytes) throws IOException {
    long before = Volumes.ofDevices("read_active_ps");
    Content.assertSame(cluster.fileSystem(), READ, bytes);
    return Volumes.ofDevices("read_active_ps") - before;
  }
}
