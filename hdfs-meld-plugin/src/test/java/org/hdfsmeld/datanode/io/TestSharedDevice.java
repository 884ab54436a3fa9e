package org.hdfsmeld.datanode.io;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldConfigurationException;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.config.TraceConfiguration;
import org.hdfsmeld.datanode.device.SharedDevice;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;
import org.hdfsmeld.trace.BlockTrace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Several volumes on one device. */
class TestSharedDevice {
  private static final BlockKey BLOCK = new BlockKey("BP-1", 7);

  /** A device with two NVM sets. */
  private static class Divided extends FakeDevice {
    final List<Integer> sets = new ArrayList<>();
    volatile Runnable whenLookedAt = () -> {};

    @Override
    public int stats(long[] out) {
      whenLookedAt.run();
      return super.stats(out);
    }

    @Override
    public NamespaceInfo createNamespaceIn(int set, long sizeBytes) throws SimException {
      if (set >= 2) {
        throw new SimException(SimStatus.ARGUMENT, "NVM set " + set + " does not exist");
      }
      sets.add(set);
      NamespaceInfo info = super.createNamespace(sizeBytes);
      return new NamespaceInfo(
          sets.size(),
          info.lbaBytes(),
          info.sizeLbas(),
          info.pageBytes(),
          info.wordlineBytes(),
          info.capacityBytes(),
          info.handles());
    }
  }

  @TempDir File file;

  private final List<Divided> opened = new ArrayList<>();
  private final MeldVolumes volumes = volumes("/data/1=@ssd0/0,/data/2=@ssd0/1,/data/3=@ssd0/2");

  private static MeldConfiguration config(String bindings) {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.DEVICES, "ssd0=some");
    conf.set(MeldKeys.VOLUME_PROFILES, bindings);
    conf.set(MeldKeys.WAIT_TIMEOUT, "1s");
    try {
      return MeldConfiguration.read(conf);
    } catch (MeldConfigurationException e) {
      throw new AssertionError(e);
    }
  }

  private MeldVolumes volumes(String bindings) {
    return FakeDevice.volumes(
        config(bindings),
        () -> {
          Divided device = new Divided();
          opened.add(device);
          return device;
        });
  }

  @AfterEach
  void close() {
    volumes.close();
  }

  private MeldVolume add(int number) throws IOException {
    volumes.add("DS-" + number, new File("/data/" + number + "/current"));
    MeldVolume volume = volumes.holding(new File("/data/" + number + "/current/BP-1/blk_1"));
    opened.get(opened.size() - 1).drain = () -> FakeDevice.settle(volume);
    return volume;
  }

  private void write(MeldVolume volume, int bytes) {
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    writer.write(0, bytes);
    writer.close();
  }

  @Test
  void eachVolumeHasANamespaceInItsSet() throws IOException {
    MeldVolume first = add(1);
    MeldVolume second = add(2);
    assertThat(opened).hasSize(1);
    assertThat(opened.get(0).sets).containsExactly(0, 1);
    assertThat(first.device().namespace().nsid()).isEqualTo(1);
    assertThat(second.device().namespace().nsid()).isEqualTo(2);
    assertThat(first.getDevice()).isEqualTo("ssd0");
    assertThat(first.getProfile()).isEqualTo("some");
  }

  @Test
  void aPastThatTheDeviceRefusesIsNamedByItsKey() throws Exception {
    Configuration conf = new Configuration();
    conf.set(MeldKeys.PRECONDITION, "skew=zipf:21");
    Divided refusing =
        new Divided() {
          @Override
          public void precondition(String past) throws SimException {
            throw new SimException(SimStatus.ARGUMENT, past + " cannot be");
          }
        };
    try (MeldVolumes used = FakeDevice.volumes(MeldConfiguration.read(conf), () -> refusing)) {
      String past = "fill=100,random=100,skew=zipf:21";
      assertThatThrownBy(() -> used.add("DS-1", new File("/data/1/current")))
          .isInstanceOf(MeldConfigurationException.class)
          .hasMessage(MeldKeys.PRECONDITION + " = '" + past + "': " + past + " cannot be");
    }
  }

  @Test
  void aVolumeThatWasRefusedIsInNoTrace(@TempDir Path folder) throws IOException {
    BlockTrace trace =
        new BlockTrace(new TraceConfiguration(folder.toString(), 1, 1 << 20, 1024, false), "dn");
    MeldConfiguration config = config("/data/1=@ssd0/0,/data/3=@ssd0/2");
    try (MeldVolumes traced =
        new MeldVolumes(config, profile -> Divided::new, HintSource.NONE, trace)) {
      traced.add("DS-1", new File("/data/1/current"));
      assertThatThrownBy(() -> traced.add("DS-3", new File("/data/3/current")))
          .isInstanceOf(MeldConfigurationException.class);
      trace.start();
      trace.stop();
      InputStream file =
          new ByteArrayInputStream(trace.files().read(trace.files().list().get(0), 0, 1 << 20));
      String text = new String(new GZIPInputStream(file).readAllBytes(), US_ASCII);
      assertThat(text.lines().filter(line -> line.startsWith("# volume"))).hasSize(1);
    }
  }

  /** A look at the counters that never returns costs the device, and nobody's shutdown. */
  @Test
  @Timeout(60)
  void aLookThatHangsKeepsNobody() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    MeldVolume volume = add(1);
    SharedDevice device = volume.device().device();
    opened.get(0).whenLookedAt =
        () -> {
          hangs.countDown();
          try {
            never.await();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        };
    volume.device().submit(null, Opcode.READ, 0, 1, Directive.NONE, true);
    hangs.await();
    assertThat(device.getCounters()).containsKey("read_commands");
    // Whoever gives the device something to do finds out.
    await()
        .atMost(20, TimeUnit.SECONDS)
        .until(
            () -> {
              volume.device().submit(null, Opcode.READ, 0, 1, Directive.NONE, true);
              return !volume.isHealthy();
            });
    volumes.close();
    never.countDown();
    await().untilAsserted(() -> assertThat(opened.get(0).closed).isTrue());
  }

  @Test
  void modeAndHealthAreTheDevices() throws IOException {
    MeldVolume first = add(1);
    first.setMode("real-time");
    first.setTimeDilation(3);
    MeldVolume second = add(2);
    assertThat(second.getMode()).isEqualTo("real-time");
    assertThat(second.getTimeDilation()).isEqualTo(3);
    second.setMode("account");
    assertThat(first.getMode()).isEqualTo("account");
    opened.get(0).status = SimStatus.PANIC;
    write(first, 1 << 20);
    opened.get(0).drain.run();
    assertThat(second.isHealthy()).isFalse();
    assertThat(first.counters().get(VolumeCounter.ERRORS)).isEqualTo(1);
    assertThat(second.counters().get(VolumeCounter.ERRORS)).as("not the second's doing").isZero();
    write(second, 1 << 20);
    assertThat(second.counters().get(VolumeCounter.FALLBACKS)).isPositive();
  }

  @Test
  void aSetThatTheDeviceLacksIsNamedWithItsKey() throws IOException {
    add(1);
    assertThatThrownBy(() -> add(3))
        .isInstanceOf(MeldConfigurationException.class)
        .hasMessageContaining(MeldKeys.VOLUME_PROFILES)
        .hasMessageContaining("/data/3=@ssd0/2")
        .hasMessageContaining("NVM set 2 does not exist");
    assertThat(opened.get(0).closed).isFalse();
  }

  @Test
  void aVolumeThatLeavesTakesItsBlocksAlong() throws IOException {
    add(1);
    write(add(2), 1 << 20);
    volumes.lifecycle().retain(() -> Set.of("DS-1"));
    await()
        .untilAsserted(
            () ->
                assertThat(opened.get(0).commands())
                    .filteredOn(c -> c.opcode() == Opcode.DEALLOCATE)
                    .singleElement()
                    .satisfies(c -> assertThat(c.length()).isEqualTo(1 << 20)));
    assertThat(opened.get(0).closed).isFalse();
    MeldVolume again = add(2);
    assertThat(opened.get(0).sets).as("its namespace is still there").hasSize(2);
    assertThat(again.device().namespace().nsid()).isEqualTo(2);
  }

  @Test
  void theLastVolumeClosesTheDevice() throws IOException {
    add(1);
    add(2);
    volumes.lifecycle().retain(() -> Set.of("DS-2"));
    volumes.lifecycle().retain(Set::of);
    // Waits for the device of before.
    add(1);
    assertThat(opened.get(0).closed).isTrue();
    assertThat(opened).hasSize(2);
    assertThat(opened.get(1).sets).containsExactly(0);
  }

  @Test
  void eachVolumeCountsItsOwnAndTheDeviceAll() throws IOException {
    MeldVolume first = add(1);
    MeldVolume second = add(2);
    assertThat(FakeDevice.counters(first))
        .containsKey("forwarded_writes")
        .containsEntry("host_read_bytes", 100L)
        .doesNotContainKey("now_ps");
    assertThat(FakeDevice.counters(second))
        .containsEntry("host_read_bytes", 200L)
        .containsEntry("mapped_pages", 600L);
    assertThat(second.getMeldedShare()).isEqualTo(2.0 / 3);
    volumes.lifecycle().retain(() -> Set.of("DS-2"));
    var bean = first.device().device();
    assertThat(bean.getCounters()).containsKeys("now_ps", "host_read_bytes");
    await().untilAsserted(() -> assertThat(bean.getVolumes()).containsExactly("/data/2"));
  }
}
