package org.hdfsmeld.it;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.ReconfigurationException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Volumes that come and go while the DataNode runs. */
class ITHotSwap {
  private static final String DATA_DIR = "dfs.datanode.data.dir";
  private static final String UNKNOWN_SET = "data8";
  private static final String OTHER = "data9";
  private static final int FILE_BYTES = MeldCluster.BLOCK_BYTES + 12_345;

  @TempDir java.nio.file.Path directory;
  private MeldCluster cluster;

  private void start(String... volumes) throws IOException {
    String sets = "[sets]\nlayout = \"vertical\"\ncount = 2";
    cluster =
        MeldCluster.builder()
            .volumes(volumes)
            .bind(UNKNOWN_SET, "@ssd0/7")
            .bind(OTHER, directory.resolve("other.toml").toString())
            .meld("devices", "ssd0=" + Profiles.divided(directory, sets))
            .set(
                "dfs.datanode.fsdataset.volume.choosing.policy",
                NumberedVolumeChoosingPolicy.class.getName())
            .start();
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private List<String> volumes() {
    String all = cluster.hdfs().getDataNodes().get(0).getConf().get(DATA_DIR);
    return List.of(all.split(","));
  }

  private void use(List<String> volumes) throws ReconfigurationException {
    DataNode dataNode = cluster.hdfs().getDataNodes().get(0);
    // As dfsadmin -reconfig does: reconfigureProperty itself deadlocks in stock HDFS too.
    String used = dataNode.reconfigurePropertyImpl(DATA_DIR, String.join(",", volumes));
    dataNode.getConf().set(DATA_DIR, used);
  }

  private static String mapped() {
    return Volumes.all().stream()
        .map(volume -> Volumes.counters(volume).get("blocks_mapped").toString())
        .sorted()
        .collect(Collectors.joining(","));
  }

  private void awaitSame(Path file, byte[] bytes) {
    await()
        .ignoreExceptions()
        .untilAsserted(() -> Content.assertSame(cluster.fileSystem(), file, bytes));
  }

  @Test
  void aVolumeOfASharedDeviceLeavesAndComesBack() throws Exception {
    start("@ssd0/0", "@ssd0/1");
    List<String> both = volumes();
    Path first = new Path("/first");
    Path second = new Path("/second");
    NumberedVolumeChoosingPolicy.choose(0);
    byte[] firstBytes = Content.write(cluster.fileSystem(), first, 1, FILE_BYTES);
    NumberedVolumeChoosingPolicy.choose(1);
    byte[] secondBytes = Content.write(cluster.fileSystem(), second, 2, FILE_BYTES);
    long pages = Volumes.ofDevices("mapped_pages");
    assertThat(mapped()).isEqualTo("2,2");

    use(both.subList(0, 1));
    assertThat(Volumes.all()).hasSize(1);
    assertThat(Volumes.devices()).hasSize(1);
    Content.assertSame(cluster.fileSystem(), first, firstBytes);
    await("what is left after half of it has gone")
        .until(() -> Volumes.ofDevices("mapped_pages") == pages / 2);

    use(both);
    assertThat(Volumes.all()).hasSize(2);
    awaitSame(second, secondBytes);
    Content.assertSame(cluster.fileSystem(), first, firstBytes);
    assertThat(mapped()).isEqualTo("2,2");
    assertThat(Volumes.ofDevices("mapped_pages")).isEqualTo(pages);
    assertThat(Volumes.total("errors")).isZero();
  }

  @Test
  void theVolumeThatBeganASharedDeviceCanLeaveFirst() throws Exception {
    start("@ssd0/0", "@ssd0/1");
    List<String> both = volumes();
    NumberedVolumeChoosingPolicy.choose(1);
    Path file = new Path("/file");
    byte[] bytes = Content.write(cluster.fileSystem(), file, 1, FILE_BYTES);
    use(both.subList(1, 2));
    Content.assertSame(cluster.fileSystem(), file, bytes);
    assertThat(Volumes.ofDevices("host_read_bytes")).isPositive();
    assertThat(Volumes.total("errors")).isZero();
  }

  @Test
  void aVolumeWithADeviceOfItsOwnLeavesAndComesBack() throws Exception {
    start("melded-tlc-8x8", "melded-tlc-8x8");
    List<String> both = volumes();
    NumberedVolumeChoosingPolicy.choose(1);
    Path file = new Path("/file");
    byte[] bytes = Content.write(cluster.fileSystem(), file, 1, FILE_BYTES);
    use(both.subList(0, 1));
    assertThat(Volumes.all()).hasSize(1);
    use(both);
    awaitSame(file, bytes);
    assertThat(Volumes.total("host_read_bytes")).isGreaterThanOrEqualTo(FILE_BYTES);
    assertThat(Volumes.total("errors")).isZero();
  }

  @Test
  void volumesAddedAtOnceAreAllSimulated() throws Exception {
    start("@ssd0/0", "melded-tlc-8x8", "@ssd0/1", "melded-tlc-8x8");
    List<String> all = volumes();
    for (int i = 0; i < 3; i++) {
      use(all.subList(0, 1));
      assertThat(Volumes.all()).hasSize(1);
      use(all);
      assertThat(Volumes.all()).hasSize(4);
    }
  }

  @Test
  void aVolumeWhoseProfileIsRefusedIsNotServedUntilItIsCorrected() throws Exception {
    java.nio.file.Path profile = Files.writeString(directory.resolve("other.toml"), "no = 1");
    start("melded-tlc-8x8", "melded-tlc-8x8");
    List<String> both = volumes();
    List<String> all = List.of(both.get(0), both.get(1), both.get(1).replace("data2", OTHER));
    assertThatThrownBy(() -> use(all)).hasStackTraceContaining(profile.toString());
    assertThat(inHdfs()).isEqualTo(2);
    assertThat(Volumes.all()).hasSize(2);
    Files.copy(java.nio.file.Path.of(Profiles.divided(directory, "")), profile, REPLACE_EXISTING);
    use(all);
    assertThat(inHdfs()).isEqualTo(3);
    assertThat(Volumes.all()).hasSize(3);
  }

  private int inHdfs() throws IOException {
    try (var volumes =
        cluster.hdfs().getDataNodes().get(0).getFSDataset().getFsVolumeReferences()) {
      return volumes.size();
    }
  }

  @Test
  void aVolumeInASetThatDoesNotExistIsRefused() throws Exception {
    start("@ssd0/0", "@ssd0/1");
    List<String> both = volumes();
    String third = both.get(1).replace("data2", UNKNOWN_SET);
    List<String> all = List.of(both.get(0), both.get(1), third);
    assertThatThrownBy(() -> use(all))
        .hasStackTraceContaining("dfs.datanode.meld.volume.profiles")
        .hasStackTraceContaining("NVM set 7 does not exist");
    assertThat(Volumes.all()).hasSize(2);
    Path file = new Path("/file");
    byte[] bytes = Content.write(cluster.fileSystem(), file, 1, FILE_BYTES);
    Content.assertSame(cluster.fileSystem(), file, bytes);
  }
}
