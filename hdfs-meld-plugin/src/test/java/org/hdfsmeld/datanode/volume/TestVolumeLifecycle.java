package org.hdfsmeld.datanode.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.logging.log4j.Level;
import org.hdfsmeld.LogEvents;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldConfigurationException;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.layout.BlockFile;
import org.hdfsmeld.datanode.metrics.SimFailures;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Volumes that come and go. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TestVolumeLifecycle {
  private static final BlockKey BLOCK = new BlockKey("BP-1", 7);

  @TempDir Path dir;

  private final List<Snapshots> devices = new CopyOnWriteArrayList<>();
  private final Configuration conf = new Configuration();
  private volatile SimException refusal;
  private volatile Runnable whileOpening = () -> {};
  private volatile Runnable whileSaving = () -> {};
  private volatile Runnable whileAging = () -> {};
  private MeldVolumes volumes;

  /** A device with a namespace for each that asks. */
  private final class Snapshots extends FakeDevice {
    private int namespaces;

    @Override
    public NamespaceInfo createNamespace(long sizeBytes) {
      NamespaceInfo info = super.createNamespace(sizeBytes);
      return new NamespaceInfo(
          ++namespaces,
          info.lbaBytes(),
          info.sizeLbas(),
          info.pageBytes(),
          info.wordlineBytes(),
          info.capacityBytes(),
          info.handles());
    }

    @Override
    public long snapshot(ByteBuffer out) {
      whileSaving.run();
      return super.snapshot(out);
    }

    @Override
    public void precondition(String past) {
      whileAging.run();
    }
  }

  private SimDevice device() throws SimException {
    whileOpening.run();
    if (refusal != null) {
      throw refusal;
    }
    devices.add(new Snapshots());
    return devices.get(devices.size() - 1);
  }

  private void start() throws IOException {
    volumes = FakeDevice.volumes(MeldConfiguration.read(conf), this::device);
  }

  private void share() throws IOException {
    conf.set(MeldKeys.DEVICES, "ssd0=some");
    conf.set(MeldKeys.VOLUME_PROFILES, dir.resolve("1") + "=@ssd0," + dir.resolve("2") + "=@ssd0");
    start();
  }

  @AfterEach
  void close() {
    whileSaving = () -> {};
    volumes.close();
  }

  private File current(int number) throws IOException {
    return Files.createDirectories(dir.resolve(number + "/current")).toFile();
  }

  private void add(int number) throws IOException {
    volumes.add("DS-" + number, current(number));
  }

  private MeldVolume volume(int number) throws IOException {
    return volumes.holding(new File(current(number), "BP-1/blk_1"));
  }

  private static boolean isPublished(int number) throws Exception {
    return ManagementFactory.getPlatformMBeanServer()
        .isRegistered(new ObjectName("Hadoop:service=DataNode,name=MeldVolume-DS-" + number));
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aVolumeThatHdfsDoesNotHaveYetStays() throws Exception {
    start();
    add(1);
    volumes.lifecycle().open("DS-2", current(2));
    volumes.lifecycle().retain(() -> Set.of("DS-1"));
    assertThat(volume(2)).isNotNull();
    add(2);
    volumes.lifecycle().retain(() -> Set.of("DS-1"));
    assertThat(volume(2)).isNull();
  }

  @Test
  void whatIsPresentIsAskedWhereNobodyCanBecomeActive() throws Exception {
    start();
    add(1);
    CountDownLatch asked = new CountDownLatch(1);
    Thread other =
        new Thread(
            () -> {
              awaitQuietly(asked);
              try {
                add(2);
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    other.start();
    volumes
        .lifecycle()
        .retain(
            () -> {
              asked.countDown();
              await().until(() -> other.getState() == Thread.State.BLOCKED || !other.isAlive());
              return Set.of("DS-1");
            });
    other.join();
    assertThat(volume(2)).isNotNull();
  }

  @Test
  void aVolumeThatHdfsRefusesLeavesNothing() throws Exception {
    start();
    volumes.lifecycle().open("DS-1", current(1));
    assertThat(isPublished(1)).isTrue();
    volumes.lifecycle().rollBack("DS-1");
    assertThat(volume(1)).isNull();
    assertThat(isPublished(1)).isFalse();
    await().until(() -> devices.get(0).closed);
  }

  @Test
  void aVolumeWhoseDeviceIsRefusedCanBeAddedLater() throws Exception {
    start();
    refusal = new SimException(SimStatus.PROFILE, "no such key");
    assertThatThrownBy(() -> add(1)).isInstanceOf(MeldConfigurationException.class);
    assertThat(volume(1)).isNull();
    refusal = null;
    add(1);
    assertThat(volume(1).isHealthy()).isTrue();
  }

  /** Its disk may have failed: what is written there is nobody's business who removes it. */
  @Test
  void whoRemovesAVolumeWaitsForNoFile() throws Exception {
    start();
    add(1);
    add(2);
    CountDownLatch saving = new CountDownLatch(1);
    CountDownLatch hang = new CountDownLatch(1);
    whileSaving =
        () -> {
          saving.countDown();
          awaitQuietly(hang);
        };
    volume(1).blocks().io().preload(extent(1), 4096);
    volumes.lifecycle().retain(() -> Set.of("DS-2"));
    assertThat(volume(1)).isNull();
    saving.await();
    assertThat(devices.get(0).closed).isFalse();
    assertThat(volume(2).isHealthy()).isTrue();
    hang.countDown();
    await().until(() -> devices.get(0).closed);
  }

  /** They are held by a sampler that waits for a device which hangs. */
  @Test
  void whoRemovesAVolumeWaitsForNoMetrics() throws Exception {
    start();
    add(1);
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch hang = new CountDownLatch(1);
    Thread sampler =
        new Thread(
            () -> {
              synchronized (DefaultMetricsSystem.instance()) {
                held.countDown();
                awaitQuietly(hang);
              }
            });
    sampler.start();
    held.await();
    try {
      assertTimeoutPreemptively(Duration.ofSeconds(10), () -> volumes.lifecycle().retain(Set::of));
      assertThat(isPublished(1)).isFalse();
      await().until(() -> devices.get(0).closed);
    } finally {
      hang.countDown();
    }
    await()
        .until(() -> DefaultMetricsSystem.instance().getSource("MeldVolumeMetrics-DS-1") == null);
  }

  @Test
  void aVolumeMayLeaveAfterTheEnd() throws Exception {
    start();
    volumes.close();
    add(1);
    volumes.lifecycle().retain(Set::of);
    assertThat(volume(1)).isNull();
    await().until(() -> devices.get(0).closed);
  }

  @Test
  void whoEndsItOnceMoreWaitsForTheFirst() throws Exception {
    start();
    add(1);
    // The state begins with a snapshot, which is not the end's.
    await().until(() -> volume(1).getCounters().get("state_snapshots") == 1);
    volume(1).blocks().io().preload(extent(1), 4096);
    AtomicInteger saves = new AtomicInteger();
    CountDownLatch saving = new CountDownLatch(1);
    CountDownLatch hang = new CountDownLatch(1);
    whileSaving =
        () -> {
          saves.incrementAndGet();
          saving.countDown();
          awaitQuietly(hang);
        };
    Thread first = new Thread(volumes::close);
    first.start();
    saving.await();
    Thread second = new Thread(volumes::close);
    second.start();
    await().until(() -> second.getState() == Thread.State.BLOCKED);
    hang.countDown();
    first.join();
    second.join();
    assertThat(saves).hasValue(1);
    assertThat(devices.get(0).closed).isTrue();
  }

  @Test
  void anEntryThatIsNoVolumeIsSaidOnce() throws Exception {
    current(1);
    Files.createSymbolicLink(dir.resolve("link"), dir.resolve("1"));
    conf.set(
        MeldKeys.VOLUME_PROFILES,
        dir.resolve("link")
            + "=optane-900p,[SSD]"
            + dir.resolve("2").toUri()
            + "=flash-970pro,"
            + dir.resolve("typo")
            + "=flash-970pro");
    start();
    add(1);
    add(2);
    try (LogEvents log = new LogEvents(MeldVolumes.class)) {
      volumes.warnOfUnmatched();
      assertThat(log.list()).hasSize(1);
      assertThat(log.list().get(0).getLevel()).isEqualTo(Level.WARN);
      assertThat(log.list().get(0).getMessage().getFormattedMessage())
          .contains(MeldKeys.VOLUME_PROFILES)
          .contains("[" + dir.resolve("typo") + "]")
          .contains("[" + dir.resolve("1") + ", " + dir.resolve("2") + "]");
    }
    assertThat(volume(1).getProfile()).isEqualTo("optane-900p");
    assertThat(volume(2).getProfile()).isEqualTo("flash-970pro");
  }

  @Test
  void whatTheDeviceWasNotToldOfIsCounted() throws Exception {
    start();
    add(1);
    BlockKey other = new BlockKey(BLOCK.pool(), 8);
    volume(1).blocks().io().preload(extent(1), 4096);
    volume(1).finalized(BLOCK, 4096);
    volume(1).finalized(other, 0);
    assertThat(FakeDevice.counters(volume(1))).containsEntry("unseen_writes", 0L);
    try (LogEvents log = new LogEvents(SimFailures.class)) {
      volume(1).finalized(BLOCK, 8192);
      volume(1).finalized(other, 1);
      assertThat(log.list()).hasSize(1);
    }
    assertThat(FakeDevice.counters(volume(1))).containsEntry("unseen_writes", 2L);
    volume(1).setMode("off");
    volume(1).finalized(other, 1);
    assertThat(FakeDevice.counters(volume(1))).containsEntry("unseen_writes", 2L);
    volume(1).setMode("account");
    volume(1).finalized(other, 1);
    assertThat(FakeDevice.counters(volume(1)))
        .as("nobody knows whether it was written meanwhile")
        .containsEntry("unseen_writes", 2L)
        .containsEntry("switched_writes", 1L);
  }

  private org.hdfsmeld.datanode.layout.BlockExtent extent(int number) throws IOException {
    return volume(number).blocks().extent(BLOCK, BlockFile.of(current(number)));
  }

  @Test
  void aVolumeThatComesBackWaitsUntilItHasLeft() throws Exception {
    start();
    add(1);
    volume(1).blocks().io().preload(extent(1), 4096);
    CountDownLatch saving = new CountDownLatch(1);
    CountDownLatch hang = new CountDownLatch(1);
    whileSaving =
        () -> {
          saving.countDown();
          awaitQuietly(hang);
        };
    volumes.lifecycle().retain(Set::of);
    saving.await();
    whileOpening = () -> assertThat(devices.get(0).closed).isTrue();
    Thread back =
        new Thread(
            () -> {
              try {
                add(1);
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    back.start();
    await().until(() -> back.getState() == Thread.State.TIMED_WAITING);
    hang.countDown();
    back.join();
    assertThat(devices).hasSize(2);
  }

  @Test
  void devicesAreOpenedSideBySide() throws Exception {
    start();
    CountDownLatch both = new CountDownLatch(2);
    whileOpening =
        () -> {
          both.countDown();
          awaitQuietly(both);
        };
    volumes.beginAll(Map.of("DS-1", current(1), "DS-2", current(2)));
    volumes.awaitAll();
    assertThat(volume(1).isHealthy() && volume(2).isHealthy()).isTrue();
    conf.set(MeldKeys.FAIL_FAST, "true");
    volumes.close();
    start();
    whileOpening = () -> {};
    refusal = new SimException("no library", null);
    volumes.beginAll(Map.of("DS-1", current(1), "DS-2", current(2)));
    assertThatThrownBy(volumes::awaitAll)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no library");
  }

  /** HDFS may end while it starts. */
  @Test
  void whatIsBeingOpenedIsClosedToo() throws Exception {
    start();
    CountDownLatch go = new CountDownLatch(1);
    whileOpening = () -> awaitQuietly(go);
    volumes.beginAll(Map.of("DS-1", current(1)));
    Thread closing = new Thread(volumes::close);
    closing.start();
    await().until(() -> closing.getState() == Thread.State.WAITING);
    go.countDown();
    closing.join();
    assertThat(devices).hasSize(1).allMatch(device -> device.closed);
    assertThat(isPublished(1)).isFalse();
  }

  /** Hadoop's dataset is in use by then: none of stock's can take its place. */
  @Test
  void devicesThatDoNotLinkAreDoneWithout() throws Exception {
    for (boolean failFast : new boolean[] {false, true}) {
      conf.setBoolean(MeldKeys.FAIL_FAST, failFast);
      volumes =
          FakeDevice.volumes(
              MeldConfiguration.read(conf),
              profile -> {
                throw new NoClassDefFoundError("gone");
              },
              HintSource.NONE);
      volumes.beginAll(Map.of("DS-1", current(1)));
      if (failFast) {
        assertThatThrownBy(volumes::awaitAll)
            .isInstanceOf(IOException.class)
            .hasMessageContaining("gone");
      } else {
        volumes.awaitAll();
      }
      assertThat(volume(1)).isNull();
    }
  }

  /** HDFS registers without it, and what is written meanwhile is placed when it is read. */
  @Test
  void aLongPastKeepsNoDataNodeFromItsStart() throws Exception {
    conf.set(MeldKeys.PRECONDITION, "fill=100,skew=zipf:0.9");
    conf.set(MeldKeys.WAIT_TIMEOUT, "1s");
    CountDownLatch aged = new CountDownLatch(1);
    whileAging = () -> awaitQuietly(aged);
    start();
    try (LogEvents log = new LogEvents(VolumeLifecycle.class)) {
      add(1);
      assertThat(log.list().get(0).getMessage().getFormattedMessage())
          .contains("the past 'fill=100,random=100,skew=zipf:0.9'", "goes on, as in mode off");
    }
    assertThat(volume(1).getMode()).isEqualTo("off");
    aged.countDown();
    await().until(() -> volume(1).getMode().equals("account") && volume(1).blocks() != null);
  }

  /** Hadoop kills what does not end soon after SIGTERM. */
  @Test
  void whatCannotBeWrittenBeforeTheEndIsNamed() throws Exception {
    start();
    add(1);
    volume(1).blocks().io().preload(extent(1), 4096);
    CountDownLatch hang = new CountDownLatch(1);
    whileSaving = () -> awaitQuietly(hang);
    try (LogEvents log = new LogEvents(VolumeLifecycle.class)) {
      volumes.close(1);
      assertThat(log.list())
          .singleElement()
          .satisfies(
              event ->
                  assertThat(event.getMessage().getFormattedMessage())
                      .contains(
                          dir.resolve("1").toString(), "laid out anew", "HADOOP_STOP_TIMEOUT"));
    }
    hang.countDown();
  }

  @Test
  void volumesLeaveAtTheSameTimeWhenTheDataNodeEnds() throws Exception {
    start();
    add(1);
    add(2);
    volume(1).blocks().io().preload(extent(1), 4096);
    volume(2).blocks().io().preload(extent(2), 4096);
    CountDownLatch both = new CountDownLatch(2);
    whileSaving =
        () -> {
          both.countDown();
          awaitQuietly(both);
        };
    volumes.close();
    assertThat(devices).allMatch(device -> device.closed);
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void noFileStaysOpenOnTheDiskOfAVolumeThatHasLeft() throws Exception {
    share();
    add(1);
    add(2);
    volume(1).blocks().io().preload(extent(1), 4096);
    String left = dir.resolve("1").toString();
    await().until(() -> openFiles().anyMatch(file -> file.startsWith(left)));
    volumes.lifecycle().retain(() -> Set.of("DS-2"));
    await().until(() -> openFiles().noneMatch(file -> file.startsWith(left)));
    await().until(() -> openFiles().anyMatch(file -> file.startsWith(dir.resolve("2").toString())));
  }

  private static Stream<String> openFiles() throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.toList().stream()
          .map(
              descriptor -> {
                try {
                  return Files.readSymbolicLink(descriptor).toString();
                } catch (IOException e) {
                  return "closed meanwhile";
                }
              });
    }
  }

  /** As a replica that is being moved here, which HDFS knows when it is whole. */
  @Test
  void whatWasWrittenSinceTheStartIsNotComparedWithTheReplicas() throws Exception {
    start();
    add(1);
    volume(1).blocks().io().preload(extent(1), 4096);
    volumes.reconcile("DS-1", "BP-1", id -> -1);
    assertThat(volume(1).blocks().find(BLOCK)).isNotNull();
    volumes.poolGone("BP-2");
    assertThat(volume(1).blocks().find(BLOCK)).isNotNull();
    volumes.poolGone("BP-1");
    assertThat(volume(1).blocks().find(BLOCK)).isNull();
  }
}
