package org.hdfsmeld.datanode.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.layout.BlockExtent;
import org.hdfsmeld.datanode.layout.BlockFile;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.FakeDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A block that is created carries what the NameNode said of it. */
class TestNewBlocks {
  private static final BlockKey BLOCK = new BlockKey("BP-1", 7);
  private static final BlockHint RANDOM = new BlockHint(ReadPattern.RANDOM, 0, 1, 2, 1);

  @TempDir File folder;

  private final FsVolumeSpi volume = mock(FsVolumeSpi.class);
  private final List<BlockKey> asked = new ArrayList<>();
  private final List<Consumer<BlockHint>> waiting = new ArrayList<>();
  private BlockHint answer = RANDOM;
  private MeldVolumes volumes;

  @BeforeEach
  void start() throws Exception {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.MODE, "account");
    volumes =
        FakeDevice.volumes(
            MeldConfiguration.read(conf),
            profile -> FakeDevice::new,
            new HintSource() {
              @Override
              public BlockHint of(String pool, long blockId) {
                asked.add(new BlockKey(pool, blockId));
                return answer;
              }

              @Override
              public void ask(BlockKey block, Consumer<BlockHint> then) {
                waiting.add(then);
              }

              @Override
              public void forget(BlockKey block, Consumer<BlockHint> then) {
                waiting.remove(then);
              }
            });
    volumes.add("DS-1", new File(folder, "current"));
    when(volume.getStorageID()).thenReturn("DS-1");
  }

  @AfterEach
  void stop() {
    volumes.close();
  }

  /** As one whose writer died before its first byte: HDFS keeps the empty file for a while. */
  @Test
  void aBlockWithoutDataIsNotMapped() throws Exception {
    BlockExtent extent = create(folder);
    assertThat(FakeDevice.counters(volumes.of(volume))).containsEntry("blocks_mapped", 0L);
    volumes.of(volume).blocks().io().preload(extent, 1);
    assertThat(FakeDevice.counters(volumes.of(volume))).containsEntry("blocks_mapped", 1L);
  }

  private BlockExtent create(File file) {
    try (MeldVolumes.Creation creation = volumes.create(BLOCK)) {
      // As one version of Hadoop's method calls the other.
      try (MeldVolumes.Creation within = volumes.create(BLOCK)) {
        within.on(volume, file, true);
        assertThat(volumes.of(volume).blocks().find(BLOCK)).isNull();
      }
      creation.on(volume, file, true);
    }
    return volumes.of(volume).blocks().find(BLOCK);
  }

  @Test
  void oneQuestionIsEnough() {
    BlockExtent created = create(folder);
    assertThat(created.decision()).isEqualTo(HintDecision.of(RANDOM));
    assertThat(created.hint().bornAt(0)).isEqualTo(RANDOM);
    // As the first write and every read do.
    assertThat(volumes.of(volume).blocks().extent(BLOCK, BlockFile.of(folder))).isSameAs(created);
    assertThat(asked).containsExactly(BLOCK);
    assertThat(waiting).isEmpty();
  }

  /** HDFS chooses the volume under its lock, where nothing may be formatted or waited for. */
  @Test
  void howItWillBeReadIsDecidedBeforeHdfsIsCalled() {
    try (MeldVolumes.Creation creation = volumes.create(BLOCK)) {
      volumes.lifecycle().rollBack("DS-1");
      assertThat(volumes.newBlockPattern()).isEqualTo(ReadPattern.RANDOM);
    }
    assertThat(volumes.newBlockPattern()).isEqualTo(ReadPattern.AUTO);
  }

  @Test
  void whatHasNoAnswerYetGetsItLate() {
    answer = BlockHint.NONE;
    BlockExtent created = create(folder);
    assertThat(created.decision().source()).isEqualTo(HintDecision.Source.NONE);
    assertThat(waiting).hasSize(1);
    waiting.get(0).accept(RANDOM);
    assertThat(created.decision()).isEqualTo(HintDecision.of(RANDOM));
  }

  @Test
  void aBlockThatIsDeletedMeanwhileIsNotKept() {
    answer = BlockHint.NONE;
    assertThat(create(new File(folder, "deleted"))).isNull();
    assertThat(waiting).isEmpty();
  }

  @Test
  void whatTheDeviceDoesNotSeeIsNotKept() {
    volumes.of(volume).setMode("off");
    assertThat(create(folder)).isNull();
  }
}
