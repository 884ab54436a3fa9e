package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedExceptionAction;
import java.time.Duration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Attributes of files and directories decide how blocks are laid out, whatever becomes of them. */
class ITHints {
  private static final String ATTRIBUTE = "user.meld.read-pattern";
  private static final Path DIRECTORY = new Path("/table/part");
  private static final Path FILE = new Path(DIRECTORY, "file");
  private static final int FULL_BYTES = 2 * MeldCluster.BLOCK_BYTES;

  /** Too short to be melded by the rule for full-size blocks. */
  private static final int SMALL_BYTES = MeldCluster.HINT_MIN_BYTES / 2;

  private MeldCluster cluster;

  @AfterEach
  void stop() {
    cluster.close();
  }

  private static MeldCluster.Builder builder() {
    return MeldCluster.builder()
        .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
        .meld("hint.timeout", "30s");
  }

  private void start() throws IOException {
    cluster = builder().start();
    cluster.fileSystem().mkdirs(DIRECTORY);
  }

  private void say(Path path, String pattern) throws IOException {
    cluster.fileSystem().setXAttr(path, ATTRIBUTE, pattern.getBytes(StandardCharsets.UTF_8));
  }

  private void write(Path file, int bytes) throws IOException {
    Content.write(cluster.fileSystem(), file, 1, bytes);
  }

  /** The change of mode brings what is buffered onto the flash, where it has a layout. */
  static void flush() {
    Volumes.setAll("Mode", "real-time");
    Volumes.setAll("Mode", "account");
  }

  static void assertMelded() {
    flush();
    assertThat(Volumes.total("mapped_pages")).isPositive();
    assertThat(Volumes.total("melded_mapped_pages")).isEqualTo(Volumes.total("mapped_pages"));
  }

  static void assertApart() {
    flush();
    assertThat(Volumes.total("mapped_pages")).isPositive();
    assertThat(Volumes.total("melded_mapped_pages")).isZero();
  }

  @Test
  void sequentialMeldsAShortFile() throws IOException {
    start();
    say(FILE.getParent(), "sequential");
    write(FILE, SMALL_BYTES);
    assertMelded();
    assertThat(Volumes.total("hints_explicit")).isEqualTo(1);
  }

  @Test
  void randomLeavesFullBlocksApart() throws IOException {
    start();
    say(DIRECTORY.getParent(), "random");
    write(FILE, FULL_BYTES);
    assertApart();
    assertThat(Volumes.total("hints_explicit")).isEqualTo(2);
  }

  @Test
  void theNearestAncestorDecides() throws IOException {
    start();
    say(new Path("/"), "sequential");
    say(DIRECTORY.getParent(), "random");
    say(DIRECTORY, "Sequential");
    write(FILE, SMALL_BYTES);
    assertMelded();
  }

  @Test
  void withoutAnAttributeTheSizeDecidesAgain() throws IOException {
    start();
    say(DIRECTORY, "random");
    write(FILE, FULL_BYTES);
    cluster.fileSystem().removeXAttr(DIRECTORY, ATTRIBUTE);
    write(new Path(DIRECTORY, "other"), FULL_BYTES);
    assertThat(Volumes.total("hints_explicit")).isEqualTo(2);
    assertThat(Volumes.total("hints_full_block")).isEqualTo(2);
    flush();
    assertThat(Volumes.total("melded_mapped_pages") * 2).isEqualTo(Volumes.total("mapped_pages"));
  }

  @Test
  void autoEndsWhatWouldBeInherited() throws IOException {
    start();
    say(DIRECTORY.getParent(), "random");
    say(DIRECTORY, "auto");
    write(FILE, FULL_BYTES);
    assertMelded();
    assertThat(Volumes.total("hints_full_block")).isEqualTo(2);
  }

  @Test
  void anInvalidValueIsAsGoodAsNone() throws IOException {
    start();
    say(DIRECTORY.getParent(), "random");
    say(DIRECTORY, "sequentially");
    write(FILE, FULL_BYTES);
    assertThat(Volumes.total("hints_full_block")).isEqualTo(2);
  }

  @Test
  void anAppendKeepsThePattern() throws IOException {
    start();
    say(DIRECTORY, "random");
    write(FILE, SMALL_BYTES);
    try (FSDataOutputStream out = cluster.fileSystem().append(FILE)) {
      out.write(Content.random(2, FULL_BYTES));
    }
    assertApart();
  }

  @Test
  void aRestartedDataNodeLaysBlocksOutAsBefore() throws Exception {
    start();
    say(DIRECTORY, "random");
    byte[] bytes = Content.write(cluster.fileSystem(), FILE, 3, FULL_BYTES);
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    Content.assertSame(cluster.fileSystem(), FILE, bytes);
    // The first read does not wait for the hint; what was laid out without it is laid out anew.
    await().untilAsserted(ITHints::assertApart);
    try (FSDataOutputStream out = cluster.fileSystem().append(FILE)) {
      out.write(Content.random(4, FULL_BYTES));
    }
    assertApart();
  }

  @Test
  void replicasThatDataNodesMakeHaveThePattern() throws Exception {
    cluster = builder().dataNodes(3).start();
    cluster.fileSystem().mkdirs(DIRECTORY);
    say(DIRECTORY, "random");
    write(FILE, FULL_BYTES);
    cluster.fileSystem().setReplication(FILE, (short) 3);
    await()
        .atMost(Duration.ofMinutes(2))
        .untilAsserted(
            () -> {
              assertThat(cluster.fileSystem().getFileBlockLocations(FILE, 0, FULL_BYTES))
                  .extracting(BlockLocation::getHosts)
                  .allSatisfy(hosts -> assertThat(hosts).hasSize(3));
              assertThat(Volumes.total("hints_explicit")).isEqualTo(6);
            });
    assertApart();
  }

  @Test
  void aBlockThatIsMovedToAnotherVolumeHasThePattern() throws Exception {
    cluster = builder().volumes("melded-tlc-8x8", "melded-tlc-8x8").start();
    cluster.fileSystem().mkdirs(DIRECTORY);
    say(DIRECTORY, "random");
    write(FILE, MeldCluster.BLOCK_BYTES);
    FsDatasetSpi<?> dataset = cluster.hdfs().getDataNodes().get(0).getFSDataset();
    ExtendedBlock block = DFSTestUtil.getFirstBlock(cluster.fileSystem(), FILE);
    FsVolumeSpi source = dataset.getVolume(block);
    try (FsDatasetSpi.FsVolumeReferences volumes = dataset.getFsVolumeReferences()) {
      FsVolumeSpi target = volumes.get(0) == source ? volumes.get(1) : volumes.get(0);
      // As the disk balancer does.
      dataset.moveBlockAcrossVolumes(block, target);
      assertThat(dataset.getVolume(block)).isSameAs(target);
    }
    await().untilAsserted(() -> assertThat(Volumes.total("hints_explicit")).isEqualTo(2));
    assertApart();
  }

  @Test
  void aRecoveredFileHasThePattern() throws Exception {
    start();
    say(DIRECTORY, "random");
    FileSystem writer = FileSystem.newInstance(cluster.fileSystem().getConf());
    FSDataOutputStream abandoned = writer.create(FILE);
    abandoned.write(Content.random(5, SMALL_BYTES));
    abandoned.hsync();
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    await().atMost(Duration.ofSeconds(90)).until(() -> cluster.fileSystem().recoverLease(FILE));
    try (FSDataOutputStream out = cluster.fileSystem().append(FILE)) {
      out.write(Content.random(6, FULL_BYTES));
    }
    await().untilAsserted(ITHints::assertApart);
  }

  @Test
  void withoutTheNameNodesServiceTheSizeDecides() throws IOException {
    cluster = builder().set("dfs.namenode.plugins", "").meld("hint.timeout", "50ms").start();
    cluster.fileSystem().mkdirs(DIRECTORY);
    say(DIRECTORY, "random");
    byte[] bytes = Content.write(cluster.fileSystem(), FILE, 7, FULL_BYTES);
    Content.assertSame(cluster.fileSystem(), FILE, bytes);
    assertMelded();
    assertThat(Volumes.total("hints_full_block")).isEqualTo(2);
    assertThat(Volumes.total("errors")).isZero();
  }

  @Test
  void aRefreshOfTheAccessControlListsTakesNothingAway() throws Exception {
    cluster = builder().set("hadoop.security.authorization", "true").start();
    cluster.fileSystem().mkdirs(DIRECTORY);
    say(DIRECTORY, "random");
    cluster.hdfs().getNameNodeRpc().refreshServiceAcl();
    // The lists are looked at when a connection begins.
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    write(FILE, FULL_BYTES);
    assertThat(Volumes.total("hints_explicit")).isEqualTo(2);
  }

  @Test
  void whoMayNotWriteAFileMayNotSayHowItIsRead() throws Exception {
    start();
    write(FILE, SMALL_BYTES);
    UserGroupInformation stranger =
        UserGroupInformation.createUserForTesting("stranger", new String[] {"strangers"});
    for (Path path : new Path[] {FILE, DIRECTORY}) {
      assertThatThrownBy(
              () ->
                  stranger.doAs(
                      (PrivilegedExceptionAction<Void>)
                          () -> {
                            FileSystem theirs =
                                FileSystem.newInstance(cluster.fileSystem().getConf());
                            theirs.setXAttr(path, ATTRIBUTE, new byte[] {'x'});
                            return null;
                          }))
          .isInstanceOf(AccessControlException.class);
    }
  }
}
