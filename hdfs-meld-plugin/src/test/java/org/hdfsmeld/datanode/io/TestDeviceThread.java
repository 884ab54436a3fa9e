package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.device.VolumePort;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** HDFS's threads make no call of the device: one of its own does. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TestDeviceThread {
  private static final int MIB = 1 << 20;
  private static final int PACKET = 64 << 10;
  private static final BlockKey BLOCK = new BlockKey("BP-1", 7);

  @TempDir Path dir;

  private final Set<Thread> callers = ConcurrentHashMap.newKeySet();
  private final FakeDevice device = new FakeDevice();
  private File file;
  private MeldVolume volume;

  @BeforeEach
  void makeTheFile() throws IOException {
    device.before = () -> callers.add(Thread.currentThread());
    file = Files.createFile(dir.resolve("blk_7")).toFile();
  }

  @AfterEach
  void close() {
    volume.close();
  }

  private void open(String mode) {
    volume = device.volume(mode, HintSource.NONE, MeldKeys.STATE_ENABLED, "false");
  }

  private void write(long from, long to) {
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    for (long at = from; at < to; at += PACKET) {
      writer.write(at, PACKET);
    }
    writer.close();
  }

  private void read(BlockKey key, long length) {
    ReadStream reader = new ReadStream(volume, key, () -> length, true, StreamUser.DATANODE);
    for (long at = 0; at < length; at += PACKET) {
      reader.consume(at, PACKET);
    }
    reader.close();
  }

  private long bytes(int opcode) {
    return device.commands().stream()
        .filter(command -> command.opcode() == opcode)
        .mapToLong(FakeDevice.Command::length)
        .sum();
  }

  /** Who asks for counters waits until the device has all commands. */
  private long counter(String name) {
    return FakeDevice.counters(volume).get(name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"account", "real-time"})
  void areMadeByOtherThreads(String mode) {
    open(mode);
    write(0, 8 * MIB);
    read(BLOCK, 8 * MIB);
    read(new BlockKey("BP-1", 8), 4 * MIB);
    volume.deleted(BLOCK);
    assertThat(counter("errors")).isZero();
    assertThat(bytes(Opcode.WRITE)).isEqualTo(8 * MIB);
    assertThat(bytes(Opcode.READ)).isEqualTo(12 * MIB);
    assertThat(bytes(Opcode.DEALLOCATE)).isEqualTo(8 * MIB);
    assertThat(device.preloads().stream().mapToLong(FakeDevice.Command::length).sum())
        .isEqualTo(4 * MIB);
    assertThat(callers).isNotEmpty().doesNotContain(Thread.currentThread());
  }

  /**
   * That a write was refused is known late; its place is filled as if it had been known at once.
   */
  @Test
  void thatAreRefusedLeaveAGap() {
    open("account");
    write(0, 4 * MIB);
    assertThat(counter("errors")).isZero();
    device.fail(SimStatus.UNSUPPORTED);
    write(4 * MIB, 8 * MIB);
    long errors = counter("errors");
    assertThat(errors).isPositive();
    device.fail(0);
    read(BLOCK, 8 * MIB);
    assertThat(counter("errors")).isEqualTo(errors);
    assertThat(device.preloads().stream().mapToLong(FakeDevice.Command::length).sum())
        .isEqualTo(4 * MIB);
    assertThat(volume.isHealthy()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"account", "real-time"})
  void thatNeverReturnCostTheDeviceOnly(String mode) {
    open(mode);
    CountDownLatch hang = new CountDownLatch(1);
    device.before = FakeDevice.hang(hang);
    try {
      write(0, 8 * MIB);
      if (mode.equals("account")) {
        assertThat(volume.isHealthy()).as("nobody has waited for the hang to be found").isTrue();
      }
      // Counters look for the hang, where nobody has met it; none of them waits for its end.
      await().atMost(20, TimeUnit.SECONDS).until(() -> counter("errors") > 0);
      read(BLOCK, 8 * MIB);
      volume.deleted(BLOCK);
      assertThat(volume.isHealthy()).isFalse();
      assertThat(volume.getLastError()).contains("hangs");
      assertThat(counter("fallbacks")).isPositive();
    } finally {
      hang.countDown();
    }
  }

  /** Else simulated time would stand still for a reader, and nobody knew. */
  @Test
  void thatAreWaitedForWithoutRoomAreCounted() {
    volume =
        device.volume(
            "account",
            HintSource.NONE,
            MeldKeys.STATE_ENABLED,
            "false",
            MeldKeys.WAIT_TIMEOUT,
            "10ms");
    CountDownLatch hang = new CountDownLatch(1);
    device.before = FakeDevice.hang(hang);
    try {
      VolumePort port = volume.device();
      long ticket = port.submit(null, Opcode.READ, 0, 1, Directive.NONE, false);
      long status = 0;
      while (status != SimStatus.TIMEOUT) {
        status = port.submit(null, Opcode.READ, 0, 1, Directive.NONE, true);
      }
      port.await(ticket, volume.newBudget(true), VolumeCounter.READER_WAIT_NS);
      assertThat(volume.counters().get(VolumeCounter.TIMEOUTS)).isEqualTo(1);
    } finally {
      hang.countDown();
    }
  }
}
