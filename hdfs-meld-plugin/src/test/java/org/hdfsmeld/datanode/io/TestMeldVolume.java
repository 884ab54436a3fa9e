package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldConfigurationException;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.config.MeldMode;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.layout.BlockFile;
import org.hdfsmeld.datanode.metrics.VolumeCounter;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.Directive;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.Opcode;
import org.hdfsmeld.sim.SimException;
import org.hdfsmeld.sim.SimStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a volume makes of the I/O on its blocks. */
class TestMeldVolume {
  private static final int MIB = 1 << 20;
  private static final int PACKET = 64 << 10;
  private static final int SEQUENTIAL = 0x0F_0081;
  private static final BlockKey BLOCK = new BlockKey("BP-1", 7);

  @TempDir Path dir;

  private final FakeDevice device = new FakeDevice();
  private File file;
  private MeldVolume volume = volume("account");

  private MeldVolume volume(String mode, String... settings) {
    return device.volume(mode, HintSource.NONE, settings);
  }

  @BeforeEach
  void makeTheFile() throws IOException {
    file = Files.createFile(dir.resolve("blk_7")).toFile();
  }

  private void write(BlockKey key, long from, long to) {
    WriteStream writer = new WriteStream(volume, key, file, true, StreamUser.DATANODE);
    for (long at = from; at < to; at += PACKET) {
      writer.write(at, (int) Math.min(PACKET, to - at));
    }
    writer.close();
  }

  private void read(BlockKey key, long length) {
    ReadStream reader = new ReadStream(volume, key, () -> length, true, StreamUser.DATANODE);
    for (long at = 0; at < length; at += PACKET) {
      reader.consume(at, (int) Math.min(PACKET, length - at));
    }
    reader.close();
  }

  private List<FakeDevice.Command> sent(int opcode) {
    return device.commands().stream().filter(c -> c.opcode() == opcode).toList();
  }

  private static long bytes(List<FakeDevice.Command> commands) {
    return commands.stream().mapToLong(FakeDevice.Command::length).sum();
  }

  private long counter(String name) {
    return FakeDevice.counters(volume).get(name);
  }

  @Test
  void aFullBlockIsWrittenWithTheSequentialDirectiveThroughout() {
    write(BLOCK, 0, 8 * MIB);
    assertThat(sent(Opcode.WRITE)).isNotEmpty().allMatch(c -> c.directive() == SEQUENTIAL);
    assertThat(bytes(sent(Opcode.WRITE))).isEqualTo(8 * MIB);
    assertThat(counter("hinted_blocks")).isEqualTo(1);
    assertThat(counter("blocks_mapped")).isEqualTo(1);
    assertThat(counter("forwarded_write_bytes")).isEqualTo(8 * MIB);
  }

  @Test
  void countersAreFoundByTheNamesOfTheLibrary() throws IOException {
    MeldVolume newer = volume("off");
    device.statNames = List.of("erases", "brand_new", "now_ps");
    assertThat(FakeDevice.counters(newer)).containsKeys("now_ps", "capacity_pages");
    newer.change(MeldMode.ACCOUNT, 1);
    assertThat(FakeDevice.counters(newer))
        .containsEntry("erases", 0L)
        .containsEntry("brand_new", 1L)
        .containsEntry("now_ps", 2L);
  }

  @Test
  void aSmallBlockIsWrittenWithoutDirectiveWhenClosed() {
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    writer.write(0, 100);
    assertThat(device.commands()).isEmpty();
    writer.close();
    assertThat(sent(Opcode.WRITE)).hasSize(1).allMatch(c -> c.directive() == Directive.NONE);
    assertThat(counter("unhinted_blocks")).isEqualTo(1);
  }

  @Test
  void aSyncFlushesAfterThePendingWrites() {
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    writer.write(0, 100);
    writer.sync();
    assertThat(device.commands())
        .extracting(FakeDevice.Command::opcode)
        .containsExactly(Opcode.WRITE, Opcode.FLUSH);
    writer.close();
  }

  @Test
  void whatWasWrittenIsReadWithoutPreload() {
    write(BLOCK, 0, 8 * MIB);
    read(BLOCK, 8 * MIB);
    assertThat(device.preloads()).isEmpty();
    assertThat(bytes(sent(Opcode.READ))).isEqualTo(8 * MIB);
    assertThat(counter("forwarded_reads")).isEqualTo(8 * MIB / PACKET);
    assertThat(counter("forwarded_read_bytes")).isEqualTo(8 * MIB);
  }

  @Test
  void anUnknownBlockIsPreloadedOnceByTheSameRule() {
    read(BLOCK, 8 * MIB);
    read(BLOCK, 8 * MIB);
    read(new BlockKey("BP-1", 8), 100);
    assertThat(device.preloads())
        .extracting(FakeDevice.Command::directive)
        .containsExactly(SEQUENTIAL, Directive.NONE);
    assertThat(counter("hinted_blocks")).isEqualTo(1);
    assertThat(counter("unhinted_blocks")).isEqualTo(1);
  }

  @Test
  void anAppendGoesOnWhereTheBlockEnded() {
    write(BLOCK, 0, 8 * MIB + 10);
    device.clear();
    write(BLOCK, 8 * MIB + 10, 9 * MIB);
    long address = volume.blocks().find(BLOCK).address(0);
    assertThat(sent(Opcode.WRITE).get(0).offset()).isEqualTo(address + 8 * MIB);
    assertThat(device.preloads()).isEmpty();
  }

  @Test
  void anAppendToAnUnknownBlockPreloadsItFirst() {
    write(BLOCK, 8 * MIB, 9 * MIB);
    assertThat(bytes(device.preloads())).isEqualTo(8 * MIB);
    read(BLOCK, 9 * MIB);
    assertThat(bytes(device.preloads())).isEqualTo(8 * MIB);
  }

  /** As of a log that is followed: what its writer holds back is written first, and once. */
  @Test
  void aBlockUnderConstructionIsReadFromTheDevice() {
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    writer.write(0, MIB + 100);
    read(BLOCK, MIB + 100);
    long pages = MIB + FakeDevice.PAGE;
    assertThat(device.commands())
        .extracting(FakeDevice.Command::opcode)
        .startsWith(Opcode.WRITE, Opcode.READ);
    assertThat(bytes(sent(Opcode.WRITE))).isEqualTo(pages);
    assertThat(bytes(sent(Opcode.READ))).isEqualTo(pages);
    writer.sync();
    assertThat(bytes(sent(Opcode.WRITE))).isEqualTo(pages);
    writer.write(MIB + 100, MIB - 100);
    writer.close();
    assertThat(bytes(sent(Opcode.WRITE)))
        .as("the page that was filled up")
        .isEqualTo(2 * MIB + FakeDevice.PAGE);
    assertThat(device.preloads()).isEmpty();
  }

  @Test
  void truncationIsDeallocatedAtOnce() {
    write(BLOCK, 0, 8 * MIB);
    device.clear();
    volume.truncated(BLOCK, 3 * MIB + 10);
    assertThat(device.commands())
        .singleElement()
        .extracting(FakeDevice.Command::opcode)
        .isEqualTo(Opcode.DEALLOCATE);
    write(BLOCK, 3 * MIB + 10, 4 * MIB);
    assertThat(bytes(sent(Opcode.DEALLOCATE))).isEqualTo(5 * MIB - FakeDevice.PAGE);
    assertThat(device.preloads()).isEmpty();
  }

  @Test
  void aDeletedBlockIsDeallocatedAndForgotten() {
    write(BLOCK, 0, 8 * MIB);
    volume.deleted(BLOCK);
    assertThat(bytes(sent(Opcode.DEALLOCATE))).isEqualTo(8 * MIB);
    assertThat(counter("blocks_mapped")).isZero();
    volume.deleted(BLOCK);
    assertThat(sent(Opcode.DEALLOCATE)).hasSize(1);
  }

  @Test
  void aBlockLargerThanASlotGoesOnInAnother() {
    volume = volume("account", "dfs.blocksize", "4m");
    write(BLOCK, 0, 10 * MIB);
    read(BLOCK, 10 * MIB);
    assertThat(bytes(sent(Opcode.WRITE))).isEqualTo(10 * MIB);
    assertThat(bytes(sent(Opcode.READ))).isEqualTo(10 * MIB);
    volume.deleted(BLOCK);
    assertThat(bytes(sent(Opcode.DEALLOCATE))).isEqualTo(10 * MIB);
  }

  @Test
  void aWriterWhoseExtentALateDeleteTookGoesOn() {
    writeAcrossADelete(false);
    assertThat(counter("blocks_mapped")).isEqualTo(1);
    assertThat(volume.blocks().find(BLOCK).isWritten()).isFalse();
  }

  @Test
  void aWriterWhoseBlockIsDeletedLeavesNothingBehind() {
    writeAcrossADelete(true);
    assertThat(counter("blocks_mapped")).isZero();
  }

  private void writeAcrossADelete(boolean isFileGone) {
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    writer.write(0, 4 * MIB);
    assertThat(isFileGone && !file.delete()).isFalse();
    volume.deleted(BLOCK);
    writer.write(4 * MIB, 4 * MIB);
    writer.close();
    assertThat(counter("errors")).isZero();
  }

  @Test
  void aReaderWhoseBlockIsDeletedLeavesNothingBehind() {
    ReadStream reader = new ReadStream(volume, BLOCK, () -> 64 * MIB, true, StreamUser.DATANODE);
    reader.consume(0, PACKET);
    volume.deleted(BLOCK);
    for (long at = PACKET; at < 64 * MIB; at += PACKET) {
      reader.consume(at, PACKET);
    }
    reader.close();
    assertThat(counter("blocks_mapped")).isZero();
    assertThat(counter("errors")).isZero();
  }

  @Test
  void offForwardsNothingAndNeedsNoDevice() {
    volume = volume("off");
    write(BLOCK, 0, 8 * MIB);
    read(BLOCK, 8 * MIB);
    volume.deleted(BLOCK);
    assertThat(volume.blocks()).isNull();
    assertThat(device.commands()).isEmpty();
    assertThat(counter("fallbacks")).isZero();
  }

  @Test
  void switchedOnLaterItPreloadsWhatWasWrittenMeanwhile() {
    volume = volume("off");
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    writer.write(0, 4 * MIB);
    volume.setMode("account");
    writer.write(4 * MIB, 4 * MIB);
    writer.close();
    assertThat(bytes(device.preloads())).isEqualTo(4 * MIB);
    assertThat(bytes(sent(Opcode.WRITE))).isEqualTo(4 * MIB);
    read(BLOCK, 8 * MIB);
    assertThat(bytes(device.preloads())).isEqualTo(4 * MIB);
  }

  @Test
  void theModeReachesTheDevice() {
    volume.setMode("real-time");
    assertThat(volume.getMode()).isEqualTo("real-time");
    volume.setTimeDilation(20);
    volume.setMode("off");
    assertThat(device.modes).containsExactly(false, true, true, false);
    assertThatThrownBy(() -> volume.setMode("warp")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> volume.setTimeDilation(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theHintCanBeSwitchedOff() {
    volume.setHintFullBlockSequential(false);
    write(BLOCK, 0, 8 * MIB);
    assertThat(sent(Opcode.WRITE)).allMatch(c -> c.directive() == Directive.NONE);
    assertThat(counter("unhinted_blocks")).isEqualTo(1);
  }

  @Test
  void errorsAreCountedAndLeaveTheVolumeInService() {
    device.fail(SimStatus.UNSUPPORTED);
    write(BLOCK, 0, 8 * MIB);
    read(BLOCK, 8 * MIB);
    assertThat(counter("errors")).isPositive();
    assertThat(volume.isHealthy()).isTrue();
    assertThat(volume.getLastError()).contains("UNSUPPORTED").contains("the fake's error");
    device.fail(0);
    read(BLOCK, 8 * MIB);
    assertThat(sent(Opcode.READ)).isNotEmpty();
  }

  @Test
  void whatTheDeviceRefusedIsPlacedLater() {
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    writer.write(0, 4 * MIB);
    device.fail(SimStatus.CAPACITY);
    writer.write(4 * MIB, 2 * MIB);
    device.fail(0);
    writer.write(6 * MIB, 2 * MIB);
    writer.close();
    device.drain.run();
    assertThat(volume.blocks().find(BLOCK).mappedBytes()).isLessThan(6 * MIB);
    read(BLOCK, 8 * MIB);
    assertThat(bytes(device.preloads())).isBetween(2L * MIB, 5L * MIB);
    assertThat(volume.blocks().find(BLOCK).mappedBytes()).isEqualTo(8 * MIB);
    volume.deleted(BLOCK);
    assertThat(bytes(sent(Opcode.DEALLOCATE))).isEqualTo(8 * MIB);
  }

  /** As of the disk balancer's copies. */
  @Test
  void whatFailsOnTheDeviceIsHeardThoughNobodyWaits() {
    volume = volume("real-time");
    device.stuck = true;
    WriteStream copy = new WriteStream(volume, BLOCK, file, false, StreamUser.DATANODE);
    copy.write(0, 8 * MIB);
    copy.close();
    device.drain.run();
    assertThat(volume.blocks().find(BLOCK).mappedBytes()).isEqualTo(8 * MIB);
    device.fail(SimStatus.CAPACITY);
    device.drain.run();
    assertThat(counter("errors")).isPositive();
    assertThat(volume.blocks().find(BLOCK).mappedBytes()).isZero();
  }

  @Test
  void aWaitThatTakesTheHostTooLongIsCounted() {
    long ticket = volume.device().flush();
    device.fail(SimStatus.TIMEOUT);
    volume.device().await(ticket, volume.newBudget(true), VolumeCounter.READER_WAIT_NS);
    assertThat(counter("timeouts")).isEqualTo(1);
    assertThat(counter("errors")).isZero();
  }

  /** Each by its cause; Hadoop's own silence is {@code unseen_writes}. */
  @ParameterizedTest
  @CsvSource({"refused_writes", "overloaded_writes", "switched_writes", "unseen_writes"})
  void whatTheDeviceLacksOfAFinishedBlockIsCountedByItsCause(String cause) {
    volume = volume("real-time", MeldKeys.WAIT_TIMEOUT, "1ms");
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    writer.write(0, 4 * MIB);
    switch (cause) {
      case "refused_writes" -> device.fail(SimStatus.CAPACITY);
      case "overloaded_writes" -> device.full = true;
      case "switched_writes" -> volume.setMode("off");
      default -> {}
    }
    if (!cause.equals("unseen_writes")) {
      for (long at = 4 * MIB; at < 40 * MIB; at += PACKET) {
        writer.write(at, PACKET);
      }
    }
    while (cause.equals("overloaded_writes") && volume.device().hasRoom()) {
      volume.device().flush();
    }
    writer.close();
    device.fail(0);
    volume.setMode("real-time");
    volume.finalized(BLOCK, 40 * MIB);
    device.full = false;
    for (String each :
        List.of("refused_writes", "overloaded_writes", "switched_writes", "unseen_writes")) {
      assertThat(counter(each)).as(each).isEqualTo(each.equals(cause) ? 1 : 0);
    }
    boolean off = cause.equals("switched_writes");
    assertThat(counter("stock_write_bytes")).isEqualTo(off ? 36L * MIB : 0);
  }

  /** The waits that it does without would take longer than the test may. */
  @Test
  @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aCallWaitsForTheTimeoutOnceHoweverMuchIsUnderWay() {
    volume =
        volume(
            "real-time",
            MeldKeys.WAIT_TIMEOUT,
            "100ms",
            MeldKeys.READAHEAD_REQUEST,
            "64k",
            MeldKeys.READAHEAD_WINDOW,
            "64m");
    WriteStream writer = new WriteStream(volume, BLOCK, file, true, StreamUser.DATANODE);
    device.stuck = true;
    writer.write(0, 63 * MIB);
    writer.close();
    assertThat(counter("timeouts")).as("writes under way").isGreaterThan(600);
  }

  @Test
  void aPanicTakesTheVolumeOutOfService() {
    write(BLOCK, 0, 8 * MIB);
    device.fail(SimStatus.PANIC);
    read(BLOCK, 8 * MIB);
    device.fail(0);
    assertThat(volume.isHealthy()).isFalse();
    device.clear();

    read(BLOCK, 8 * MIB);
    write(new BlockKey("BP-1", 9), 0, 8 * MIB);
    assertThat(device.commands()).isEmpty();
    assertThat(counter("fallbacks")).isPositive();
  }

  @Test
  void anExceptionTakesTheVolumeOutOfService() {
    device.thrown = new IllegalStateException("broken binding");
    write(BLOCK, 0, 8 * MIB);
    device.drain.run();
    assertThat(volume.isHealthy()).isFalse();
    assertThat(volume.getLastError()).contains("broken binding");
  }

  @Test
  void aDeviceThatCannotBeOpenedLeavesAStockVolume() {
    MeldVolume broken =
        FakeDevice.alone(
            "DS-2",
            new File("/data/2/current"),
            volumeConfig(),
            () -> {
              throw new SimException("no library", null);
            },
            HintSource.NONE);
    assertThatThrownBy(() -> broken.change(MeldMode.ACCOUNT, 1)).isInstanceOf(SimException.class);
    WriteStream writer = new WriteStream(broken, BLOCK, file, true, StreamUser.DATANODE);
    writer.write(0, PACKET);
    writer.close();
    assertThat(broken.isHealthy()).isFalse();
    assertThat(broken.getMode()).isEqualTo("account");
    assertThat(FakeDevice.counters(broken).get("fallbacks")).isPositive();
    assertThat(FakeDevice.counters(broken).get("errors")).isEqualTo(1);
  }

  @Test
  void anIncompatibleBindingLeavesAStockVolume() throws IOException {
    try (MeldVolumes volumes =
        FakeDevice.volumes(
            volumeConfig(),
            () -> {
              throw new Error("incompatible JNA native library");
            })) {
      volumes.add("DS-2", new File("/data/2/current"));
      assertThat(volumes.holding(new File("/data/2/current/BP-1/blk_1")).isHealthy()).isFalse();
    }
  }

  @Test
  void interruptedCallersKeepTheirInterrupt() {
    Thread.currentThread().interrupt();
    write(BLOCK, 0, 8 * MIB);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void aDeviceThatDoesNotAnswerIsGivenUpAfterTheTimeout() {
    volume = volume("real-time", MeldKeys.WAIT_TIMEOUT, "60ms");
    device.stuck = true;
    write(BLOCK, 0, 100);
    assertThat(counter("timeouts")).isEqualTo(1);
    assertThat(counter("writer_wait_ns")).isPositive();
    assertThat(volume.isHealthy()).isTrue();
  }

  @Test
  void aCallWaitsForRoomNoLongerThanTheTimeout() {
    volume = volume("real-time", MeldKeys.WAIT_TIMEOUT, "60ms");
    device.full = true;
    write(BLOCK, 0, 100);
    assertThat(counter("timeouts")).isEqualTo(1);
    assertThat(counter("writer_wait_ns")).isGreaterThanOrEqualTo(60_000_000);
    assertThat(counter("errors")).isZero();
    read(BLOCK, 100);
    assertThat(counter("timeouts")).isEqualTo(2);
    device.full = false;
    read(BLOCK, 100);
    assertThat(sent(Opcode.READ)).as("those given up run on").hasSize(2);
    assertThat(device.preloads()).isEmpty();
  }

  @Test
  void aStreamThatMustNotWaitGoesOnWithoutRoom() {
    volume = volume("real-time");
    CountDownLatch hang = new CountDownLatch(1);
    device.before = FakeDevice.hang(hang);
    ReadStream reader = new ReadStream(volume, BLOCK, () -> 1L << 40, false, StreamUser.DATANODE);
    long offset = 0;
    while (volume.device().hasRoom()) {
      offset += 8L << 20;
      reader.consume(offset, 100);
    }
    reader.consume(offset + (8L << 20), 100);
    reader.close();
    hang.countDown();
    assertThat(counter("reader_wait_ns")).isZero();
    assertThat(counter("timeouts")).isPositive();
  }

  @Test
  void aDeletedBlockIsDeallocatedWhenThereIsRoom() {
    volume = volume("real-time");
    write(BLOCK, 0, 8 * MIB);
    device.full = true;
    volume.deleted(BLOCK);
    assertThat(sent(Opcode.DEALLOCATE)).isEmpty();
    device.full = false;
    assertThat(bytes(sent(Opcode.DEALLOCATE))).isEqualTo(8 * MIB);
  }

  @Test
  void aBlockDeletedBeforeItsOpenFileIsUsedIsNotMapped() {
    assertThat(file.delete()).isTrue();
    ReadStream reader =
        new ReadStream(volume, BLOCK, BlockFile.of(file), true, StreamUser.DATANODE);
    reader.consume(0, PACKET);
    reader.close();
    write(BLOCK, 0, 8 * MIB);
    assertThat(device.commands()).isEmpty();
    assertThat(device.preloads()).isEmpty();
    assertThat(counter("blocks_mapped")).isZero();
  }

  @Test
  void aCutIsDeallocatedWhenThereIsRoom() {
    volume = volume("real-time", MeldKeys.WAIT_TIMEOUT, "10ms");
    write(BLOCK, 0, 8 * MIB);
    device.full = true;
    volume.truncated(BLOCK, 4 * MIB);
    write(BLOCK, 4 * MIB, 4 * MIB + 100);
    assertThat(sent(Opcode.DEALLOCATE)).isEmpty();
    device.full = false;
    write(BLOCK, 4 * MIB + 100, 5 * MIB);
    assertThat(bytes(sent(Opcode.DEALLOCATE))).isEqualTo(4 * MIB);
  }

  @Test
  void aWaitEndsWhenTheThreadIsInterrupted() {
    device.stuck = true;
    Thread.currentThread().interrupt();
    write(BLOCK, 0, 100);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(counter("timeouts")).isZero();
  }

  @Test
  void streamsThatAreOnlyOpenedAreCounted() {
    new ReadStream(volume, BLOCK, () -> 100, true, StreamUser.DATANODE).close();
    assertThat(counter("opened_unread")).isEqualTo(1);
    assertThat(counter("forwarded_reads")).isZero();
  }

  private static MeldConfiguration volumeConfig() {
    try {
      return MeldConfiguration.read(new Configuration());
    } catch (MeldConfigurationException e) {
      throw new AssertionError(e);
    }
  }
}
