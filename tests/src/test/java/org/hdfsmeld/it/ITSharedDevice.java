package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two volumes of a DataNode on one simulated SSD. */
class ITSharedDevice {
  private static final Path READ = new Path("/read");

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
}
