package org.hdfsmeld.datanode.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;
import static org.mockito.Mockito.withSettings;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.util.DiskChecker.DiskOutOfSpaceException;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.datanode.volume.SimulatedDataset;
import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimStats;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TestContractVolumeChoosingPolicy {
  private static final long FULL_BLOCK = 128 << 20;
  private static final long ROOM = 100L << 30;

  /** A device with a load: with each look at its counters time has passed that had the same. */
  private static final class LoadedDevice extends FakeDevice {
    private static final long PASSED_PS = 1_000_000;

    /** One command of so many bytes is outstanding all the time; 0 for none. */
    volatile long outstandingBytes;

    @Override
    public int stats(long[] out) {
      long bytes = outstandingBytes;
      if (bytes > 0) {
        grow("now_ps", PASSED_PS);
        grow("read_latency_ps", PASSED_PS);
        grow("read_commands", 1);
        grow("host_read_bytes", bytes);
      }
      return super.stats(out);
    }

    @Override
    public long runRing(long spinNs, long longestNs) {
      long dueNs = super.runRing(spinNs, longestNs);
      return outstandingBytes > 0 ? 1_000_000 : dueNs;
    }

    private void grow(String counter, long by) {
      statValues.merge(counter, SimStats.NAMES.indexOf(counter) + by, (value, first) -> value + by);
    }
  }

  private final Map<String, LoadedDevice> devices = new HashMap<>();
  private final FsDatasetSpi<?> dataset =
      mock(FsDatasetSpi.class, withSettings().extraInterfaces(SimulatedDataset.class));
  private final ContractVolumeChoosingPolicy<FsVolumeSpi> policy =
      new ContractVolumeChoosingPolicy<>();
  private BlockHint hint = BlockHint.NONE;
  private MeldVolumes volumes;
  private MeldVolumes.Creation creation;
  private FsVolumeSpi optane;
  private FsVolumeSpi nand;
  private FsVolumeSpi otherNand;

  @BeforeEach
  void start() throws IOException {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.MODE, "real-time");
    conf.set(MeldKeys.VOLUME_PROFILES, "/data/optane=optane-900p");
    policy.setConf(conf);
    volumes =
        FakeDevice.volumes(
            MeldConfiguration.read(conf),
            profile -> () -> devices.computeIfAbsent(profile, p -> new LoadedDevice()),
            new HintSource() {
              @Override
              public BlockHint of(String pool, long blockId) {
                return hint;
              }

              @Override
              public void ask(BlockKey block, Consumer<BlockHint> then) {}
            });
    when(((SimulatedDataset) dataset).simulated()).thenReturn(volumes);
    optane = volume("optane");
    nand = volume("nand");
    otherNand = volume("nand-2");
  }

  @AfterEach
  void stop() {
    endCreate();
    volumes.close();
  }

  private void endCreate() {
    if (creation != null) {
      creation.close();
      creation = null;
    }
  }

  private FsVolumeSpi volume(String name) throws IOException {
    FsVolumeSpi volume = mock(FsVolumeSpi.class, name);
    when(volume.getStorageID()).thenReturn("DS-" + name);
    when(volume.getStorageType()).thenReturn(StorageType.DISK);
    when(volume.getAvailable()).thenReturn(ROOM);
    doReturn(dataset).when(volume).getDataset();
    volumes.add("DS-" + name, new File("/data/" + name + "/current"));
    return volume;
  }

  private FsVolumeSpi choose(BlockHint known, long bytes) throws IOException {
    return choose(known, bytes, List.of(nand, optane, otherNand));
  }

  private FsVolumeSpi choose(BlockHint known, long bytes, List<FsVolumeSpi> among)
      throws IOException {
    hint = known;
    endCreate();
    creation = volumes.create(new BlockKey("BP-1", 1));
    return policy.chooseVolume(new ArrayList<>(among), bytes, null);
  }

  private static BlockHint hint(ReadPattern pattern) {
    return hint(pattern, 0);
  }

  private static BlockHint hint(ReadPattern pattern, long expectedBytes) {
    return new BlockHint(pattern, expectedBytes, 0, 0, 0);
  }

  private long placed(FsVolumeSpi volume, String reason) {
    return FakeDevice.counters(volumes.of(volume)).get("placed_" + reason);
  }

  @Test
  void randomReadBlocksGoToOptane() throws IOException {
    assertThat(choose(hint(ReadPattern.RANDOM), FULL_BLOCK)).isSameAs(optane);
    assertThat(placed(optane, "random")).isEqualTo(1);
  }

  @Test
  void sequentialBlocksTakeTurnsOnNand() throws IOException {
    assertThat(choose(hint(ReadPattern.SEQUENTIAL), 4096)).isSameAs(nand);
    assertThat(choose(hint(ReadPattern.SEQUENTIAL), 4096)).isSameAs(otherNand);
    assertThat(placed(nand, "sequential")).isEqualTo(1);
    assertThat(placed(otherNand, "sequential")).isEqualTo(1);
  }

  @Test
  void withoutAHintTheSizeDecides() throws IOException {
    assertThat(choose(BlockHint.NONE, 2 << 20)).isSameAs(optane);
    assertThat(choose(BlockHint.NONE, (2 << 20) + 1)).isNotSameAs(optane);
    assertThat(placed(optane, "small")).isEqualTo(1);
  }

  @Test
  void theFilesBlockSizeCountsMoreThanTheDataNodes() throws IOException {
    assertThat(choose(hint(ReadPattern.UNKNOWN, 1 << 20), FULL_BLOCK)).isSameAs(optane);
    assertThat(choose(hint(ReadPattern.UNKNOWN, FULL_BLOCK), 1)).isNotSameAs(optane);
  }

  @Test
  void theHintIsOfOneBlockOnly() throws IOException {
    assertThat(choose(hint(ReadPattern.RANDOM), FULL_BLOCK)).isSameAs(optane);
    endCreate();
    assertThat(policy.chooseVolume(List.of(nand, optane), FULL_BLOCK, null)).isSameAs(nand);
  }

  /** From now on so much is outstanding on the device, which works. */
  private void load(long bytes) {
    devices.get("optane-900p").outstandingBytes = bytes;
    volumes.of(optane).device().submit(null, Opcode.READ, 0, 1, Directive.NONE, true);
  }

  @Test
  void aLoadedOptaneDeviceOverflows() throws IOException {
    assertThat(choose(hint(ReadPattern.RANDOM), FULL_BLOCK)).isSameAs(optane);
    load(257 << 10);
    await().until(() -> volumes.outstandingBytes(optane) > 256 << 10);
    assertThat(choose(hint(ReadPattern.RANDOM), FULL_BLOCK)).isNotSameAs(optane);
    assertThat(placed(nand, "load_overflow") + placed(otherNand, "load_overflow")).isPositive();
    assertThat(choose(hint(ReadPattern.SEQUENTIAL), FULL_BLOCK)).isNotSameAs(optane);
  }

  @Test
  void whatRuleFourAllowsDoesNotOverflow() throws IOException {
    assertThat(choose(hint(ReadPattern.RANDOM), FULL_BLOCK)).isSameAs(optane);
    load(256 << 10);
    await().until(() -> volumes.outstandingBytes(optane) == 256 << 10);
    assertThat(choose(hint(ReadPattern.RANDOM), FULL_BLOCK)).isSameAs(optane);
  }

  @Test
  void withoutRealTimeThereIsNoLoad() throws IOException {
    volumes.of(optane).setMode("account");
    load(1 << 30);
    assertThat(volumes.outstandingBytes(optane)).isZero();
  }

  @Test
  void aFullOptaneDeviceOverflows() throws IOException {
    when(optane.getAvailable()).thenReturn(FULL_BLOCK - 1);
    assertThat(choose(hint(ReadPattern.RANDOM), FULL_BLOCK)).isSameAs(nand);
    assertThat(placed(nand, "space_overflow")).isEqualTo(1);
  }

  @Test
  void fullNandOverflowsOntoOptane() throws IOException {
    when(nand.getAvailable()).thenReturn(0L);
    when(otherNand.getAvailable()).thenReturn(0L);
    assertThat(choose(hint(ReadPattern.SEQUENTIAL), FULL_BLOCK)).isSameAs(optane);
    assertThat(placed(optane, "space_overflow")).isEqualTo(1);
  }

  @Test
  void theReserveIsUsedOnlyWhenNothingElseIsLeft() throws IOException {
    Configuration conf = new Configuration();
    conf.setLong("dfs.datanode.round-robin-volume-choosing-policy.additional-available-space", 0);
    policy.setConf(conf);
    when(optane.getAvailable()).thenReturn((1L << 30) + FULL_BLOCK / 2);
    assertThat(choose(hint(ReadPattern.SEQUENTIAL), FULL_BLOCK)).isNotSameAs(optane);
    when(nand.getAvailable()).thenReturn(0L);
    when(otherNand.getAvailable()).thenReturn(0L);
    assertThat(choose(hint(ReadPattern.SEQUENTIAL), FULL_BLOCK)).isSameAs(optane);
  }

  @Test
  void aVolumeThatCannotTellItsRoomIsPassedOver() throws IOException {
    doThrow(new IOException("I/O error")).when(optane).getAvailable();
    assertThat(choose(hint(ReadPattern.RANDOM), FULL_BLOCK)).isSameAs(nand);
  }

  @Test
  void whereNoVolumeHasRoomTheStockPolicySaysSo() throws IOException {
    for (FsVolumeSpi volume : List.of(optane, nand, otherNand)) {
      when(volume.getAvailable()).thenReturn(1L);
    }
    assertThatThrownBy(() -> choose(hint(ReadPattern.RANDOM), FULL_BLOCK))
        .isInstanceOf(DiskOutOfSpaceException.class);
    assertThatThrownBy(() -> policy.chooseVolume(List.of(), 1, null))
        .isInstanceOf(DiskOutOfSpaceException.class);
  }

  @Test
  void volumesOfOneKindTakeTurns() throws IOException {
    List<FsVolumeSpi> two = List.of(nand, otherNand);
    assertThat(choose(hint(ReadPattern.RANDOM), FULL_BLOCK, two)).isSameAs(nand);
    assertThat(choose(hint(ReadPattern.RANDOM), FULL_BLOCK, two)).isSameAs(otherNand);
  }

  @Test
  void withoutThePluginsDatasetItIsTheStockPolicy() throws IOException {
    FsVolumeSpi stock = mock(FsVolumeSpi.class);
    when(stock.getStorageType()).thenReturn(StorageType.DISK);
    when(stock.getAvailable()).thenReturn(ROOM);
    assertThat(policy.chooseVolume(List.of(stock), FULL_BLOCK, null)).isSameAs(stock);
  }
}
