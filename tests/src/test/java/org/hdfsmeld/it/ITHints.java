package org.hdfsmeld.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedExceptionAction;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Attributes of files and directories decide how blocks are laid out, whatever becomes of them. */
class ITHints {
  private static final String ATTRIBUTE = "user.meld.read-pattern";
  private static final int FULL_BYTES = 2 * MeldCluster.BLOCK_BYTES;

  /** Too short to be melded by the rule for full-size blocks. */
  private static final int SMALL_BYTES = MeldCluster.HINT_MIN_BYTES / 2;

  private static final AtomicInteger TABLES = new AtomicInteger();

  /** Of the tests that need nothing of their own. No test restarts its daemons. */
  private static MeldCluster shared;

  /** Each test has its own. */
  private final Path table = new Path("/table-" + TABLES.incrementAndGet());

  private final Path directory = new Path(table, "part");
  private final Path file = new Path(directory, "file");

  private MeldCluster cluster;
  private Volumes.Since since;

  @BeforeAll
  static void startShared() {
    shared = builder().start();
  }

  @AfterAll
  static void stopShared() {
    shared.close();
  }

  @AfterEach
  void stop() {
    if (cluster != shared) {
      cluster.close();
    }
  }

  private static MeldCluster.Builder builder() {
    return MeldCluster.builder()
        .set("dfs.namenode.plugins", "org.hdfsmeld.namenode.ReadPatternService")
        .meld("hint.timeout", "30s");
  }

  private void start() throws IOException {
    start(shared);
  }

  private void start(MeldCluster started) throws IOException {
    cluster = started;
    flush();
    since = new Volumes.Since();
    cluster.fileSystem().mkdirs(directory);
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

  static void assertMelded(Volumes.Since since) {
    flush();
    assertThat(since.total("mapped_pages")).isPositive();
    assertThat(since.total("melded_mapped_pages")).isEqualTo(since.total("mapped_pages"));
  }

  static void assertApart(Volumes.Since since) {
    flush();
    assertThat(since.total("mapped_pages")).isPositive();
    assertThat(since.total("melded_mapped_pages")).isZero();
  }

  @Test
  void sequentialMeldsAShortFile() throws IOException {
    start();
    say(directory, "sequential");
    write(file, SMALL_BYTES);
    assertMelded(since);
    assertThat(since.total("hints_explicit")).isEqualTo(1);
  }

  @Test
  void randomLeavesFullBlocksApart() throws IOException {
    start();
    say(table, "random");
    write(file, FULL_BYTES);
    assertApart(since);
    assertThat(since.total("hints_explicit")).isEqualTo(2);
  }

  @Test
  void theNearestAncestorDecides() throws IOException {
    start();
    Path root = new Path("/");
    say(root, "sequential");
    say(table, "random");
    say(directory, "Sequential");
    write(file, SMALL_BYTES);
    cluster.fileSystem().removeXAttr(root, ATTRIBUTE);
    assertMelded(since);
  }

  @Test
  void withoutAnAttributeTheSizeDecidesAgain() throws IOException {
    start();
    say(directory, "random");
    write(file, FULL_BYTES);
    cluster.fileSystem().removeXAttr(directory, ATTRIBUTE);
    write(new Path(directory, "other"), FULL_BYTES);
    assertThat(since.total("hints_explicit")).isEqualTo(2);
    assertThat(since.total("hints_full_block")).isEqualTo(2);
    flush();
    assertThat(since.total("melded_mapped_pages") * 2).isEqualTo(since.total("mapped_pages"));
  }

  @Test
  void autoEndsWhatWouldBeInherited() throws IOException {
    start();
    say(table, "random");
    say(directory, "auto");
    write(file, FULL_BYTES);
    assertMelded(since);
    assertThat(since.total("hints_full_block")).isEqualTo(2);
  }

  @Test
  void anInvalidValueIsAsGoodAsNone() throws IOException {
    start();
    say(table, "random");
    say(directory, "sequentially");
    write(file, FULL_BYTES);
    assertThat(since.total("hints_full_block")).isEqualTo(2);
  }

  @Test
  void anAppendKeepsThePattern() throws IOException {
    start();
    say(directory, "random");
    write(file, SMALL_BYTES);
    try (FSDataOutputStream out = cluster.fileSystem().append(file)) {
      out.write(Content.random(2, FULL_BYTES));
    }
    assertApart(since);
  }

  @Test
  void aRestartedDataNodeLaysBlocksOutAsBefore() throws Exception {
    start(builder().start());
    say(directory, "random");
    byte[] bytes = Content.write(cluster.fileSystem(), file, 3, FULL_BYTES);
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    Content.assertSame(cluster.fileSystem(), file, bytes);
    // The first read does not wait for the hint; what was laid out without it is laid out anew.
    await().untilAsserted(() -> assertApart(since));
    try (FSDataOutputStream out = cluster.fileSystem().append(file)) {
      out.write(Content.random(4, FULL_BYTES));
    }
    assertApart(since);
  }

  @Test
  void replicasThatDataNodesMakeHaveThePattern() throws Exception {
    start(builder().dataNodes(3).start());
    say(directory, "random");
    write(file, FULL_BYTES);
    cluster.fileSystem().setReplication(file, (short) 3);
    await()
        .untilAsserted(
            () -> {
              assertThat(cluster.fileSystem().getFileBlockLocations(file, 0, FULL_BYTES))
                  .extracting(BlockLocation::getHosts)
                  .allSatisfy(hosts -> assertThat(hosts).hasSize(3));
              assertThat(since.total("hints_explicit")).isEqualTo(6);
            });
    assertApart(since);
  }

  @Test
  void aBlockThatIsMovedToAnotherVolumeHasThePattern() throws Exception {
    start(builder().volumes("melded-tlc-8x8", "melded-tlc-8x8").start());
    say(directory, "random");
    write(file, MeldCluster.BLOCK_BYTES);
    FsDatasetSpi<?> dataset = cluster.hdfs().getDataNodes().get(0).getFSDataset();
    ExtendedBlock block = DFSTestUtil.getFirstBlock(cluster.fileSystem(), file);
    FsVolumeSpi source = dataset.getVolume(block);
    try (FsDatasetSpi.FsVolumeReferences volumes = dataset.getFsVolumeReferences()) {
      FsVolumeSpi target = volumes.get(0) == source ? volumes.get(1) : volumes.get(0);
      // As the disk balancer does.
      dataset.moveBlockAcrossVolumes(block, target);
      assertThat(dataset.getVolume(block)).isSameAs(target);
    }
    await().untilAsserted(() -> assertThat(since.total("hints_explicit")).isEqualTo(2));
    assertApart(since);
  }

  /** As the disk balancer does. */
  @Test
  void aBlockThatIsMovedIsLaidOutByThePatternOfToday() throws Exception {
    movedByThePatternOfToday(FsDatasetSpi::moveBlockAcrossVolumes);
  }

  /** As the mover does, within one DataNode. */
  @Test
  void aBlockThatTheMoverMovesIsLaidOutByThePatternOfToday() throws Exception {
    movedByThePatternOfToday(
        (dataset, block, target) ->
            dataset.moveBlockAcrossStorage(block, target.getStorageType(), target.getStorageID()));
  }

  private interface Move {
    void of(FsDatasetSpi<?> dataset, ExtendedBlock block, FsVolumeSpi target) throws IOException;
  }

  private void movedByThePatternOfToday(Move move) throws Exception {
    start(builder().storageTypes(StorageType.DISK, StorageType.ARCHIVE).start());
    say(directory, "sequential");
    write(file, MeldCluster.BLOCK_BYTES);
    say(directory, "random");
    FsDatasetSpi<?> dataset = cluster.hdfs().getDataNodes().get(0).getFSDataset();
    ExtendedBlock block = DFSTestUtil.getFirstBlock(cluster.fileSystem(), file);
    FsVolumeSpi source = dataset.getVolume(block);
    try (FsDatasetSpi.FsVolumeReferences volumes = dataset.getFsVolumeReferences()) {
      FsVolumeSpi target = volumes.get(0) == source ? volumes.get(1) : volumes.get(0);
      move.of(dataset, block, target);
      assertThat(dataset.getVolume(block)).isSameAs(target);
    }
    await().untilAsserted(() -> assertThat(since.total("blocks_mapped")).isEqualTo(1));
    assertThat(since.total("hints_explicit")).isEqualTo(2);
    assertApart(since);
  }

  @Test
  void aRecoveredFileHasThePattern() throws Exception {
    start(builder().start());
    say(directory, "random");
    FileSystem writer = FileSystem.newInstance(cluster.fileSystem().getConf());
    FSDataOutputStream abandoned = writer.create(file);
    abandoned.write(Content.random(5, SMALL_BYTES));
    abandoned.hsync();
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    await().until(() -> cluster.fileSystem().recoverLease(file));
    try (FSDataOutputStream out = cluster.fileSystem().append(file)) {
      out.write(Content.random(6, FULL_BYTES));
    }
    await().untilAsserted(() -> assertApart(since));
  }

  @Test
  void withoutTheNameNodesServiceTheSizeDecides() throws IOException {
    start(builder().set("dfs.namenode.plugins", "").meld("hint.timeout", "50ms").start());
    say(directory, "random");
    byte[] bytes = Content.write(cluster.fileSystem(), file, 7, FULL_BYTES);
    Content.assertSame(cluster.fileSystem(), file, bytes);
    assertMelded(since);
    assertThat(since.total("hints_full_block")).isEqualTo(2);
    assertThat(since.total("errors")).isZero();
  }

  @Test
  void aRefreshOfTheAccessControlListsTakesNothingAway() throws Exception {
    start(builder().set("hadoop.security.authorization", "true").start());
    say(directory, "random");
    cluster.hdfs().getNameNodeRpc().refreshServiceAcl();
    // The lists are looked at when a connection begins.
    assertThat(cluster.hdfs().restartDataNode(0, true)).isTrue();
    cluster.hdfs().waitActive();
    write(file, FULL_BYTES);
    assertThat(since.total("hints_explicit")).isEqualTo(2);
  }

  @Test
  void whoMayNotWriteAFileMayNotSayHowItIsRead() throws Exception {
    start();
    write(file, SMALL_BYTES);
    UserGroupInformation stranger =
        UserGroupInformation.createUserForTesting("stranger", new String[] {"strangers"});
    for (Path path : new Path[] {file, directory}) {
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
