package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.ref.WeakReference;
import java.util.stream.IntStream;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.hint.HintSource;
import org.hdfsmeld.datanode.volume.MeldVolume;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.FakeDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Positional reads, each a stream of its own, as the device sees them. */
class TestParkedWindows {
  private static final int BLOCK_BYTES = 64 << 20;
  private static final int PREAD = 64 << 10;
  private static final BlockKey BLOCK = new BlockKey("BP-1", 1);

  private final FakeDevice device = new FakeDevice();
  private MeldVolume volume;

  @AfterEach
  void close() {
    volume.close();
  }

  private void open(String mode) {
    volume = device.volume("account", HintSource.NONE, MeldKeys.READAHEAD_MODE, mode);
  }

  private void pread(long offset, int length) {
    ReadStream reader = new ReadStream(volume, BLOCK, () -> BLOCK_BYTES, true, StreamUser.DATANODE);
    reader.consume(offset, length);
    reader.close();
  }

  private long requestedBytes() {
    return device.commands().stream().mapToLong(FakeDevice.Command::length).sum();
  }

  @Test
  void interleavedSequencesEachGrowTheirWindow() {
    open("adaptive");
    for (int i = 0; i < 64; i++) {
      pread((8L << 20) + (long) i * PREAD, PREAD);
      pread((40L << 20) + (long) i * PREAD, PREAD);
    }
    // Nothing was requested twice, and what is outstanding is a window of each.
    long read = 2 * 64 * PREAD;
    assertThat(requestedBytes()).isBetween(read + (8L << 20), 48L << 20);
    assertThat(device.commands()).hasSizeLessThan(2 * 64);
  }

  @Test
  void randomReadsRequestWhatTheyNeed() {
    open("adaptive");
    for (int i = 0; i < 100; i++) {
      pread((i * 7919L % 1000) * PREAD + 4096, 4096);
    }
    assertThat(requestedBytes()).isEqualTo(100 * 4096);
  }

  @Test
  void readingTheSameAgainIsNotSequential() {
    open("adaptive");
    for (int i = 0; i < 10; i++) {
      pread(8L << 20, 512);
      pread(16L << 20, PREAD);
    }
    assertThat(device.commands()).hasSize(20);
    assertThat(requestedBytes()).isEqualTo(10 * (4096 + PREAD));
  }

  @Test
  void unalignedReadsGoOnWhereTheLastChunkWasReadAlready() {
    open("adaptive");
    long at = (8L << 20) + 512;
    for (int i = 0; i < 20; i++) {
      pread(at, 5120);
      at += 4608;
    }
    assertThat(device.commands()).hasSizeLessThan(10);
  }

  @Test
  void whatIsKeptIsBounded() {
    open("adaptive");
    for (int i = 0; i < 3000; i++) {
      ReadStream reader =
          new ReadStream(
              volume, new BlockKey("BP-1", i), () -> BLOCK_BYTES, true, StreamUser.DATANODE);
      reader.consume(0, PREAD);
      reader.close();
    }
    assertThat(IntStream.range(0, 3000).filter(i -> takes(new BlockKey("BP-1", i))).count())
        .isEqualTo(1024);
  }

  private boolean takes(BlockKey block) {
    return volume.parkedWindows().take(block, PREAD, PREAD) != null;
  }

  @Test
  void aWindowThatWaitsKeepsNoReader() {
    open("adaptive");
    WeakReference<ReadStream> gone = closedReader();
    await()
        .until(
            () -> {
              System.gc();
              return gone.get() == null;
            });
    assertThat(volume.parkedWindows().take(BLOCK, PREAD, PREAD)).isNotNull();
  }

  private WeakReference<ReadStream> closedReader() {
    ReadStream reader = new ReadStream(volume, BLOCK, () -> BLOCK_BYTES, true, StreamUser.DATANODE);
    reader.consume(0, PREAD);
    reader.close();
    return new WeakReference<>(reader);
  }

  @Test
  void aWholeBlockLeavesNothing() {
    open("adaptive");
    ReadStream reader = new ReadStream(volume, BLOCK, () -> BLOCK_BYTES, true, StreamUser.DATANODE);
    for (long at = 0; at < BLOCK_BYTES; at += PREAD) {
      reader.consume(at, PREAD);
    }
    reader.close();
    assertThat(requestedBytes()).isEqualTo(BLOCK_BYTES);
    assertThat(volume.parkedWindows().take(BLOCK, BLOCK_BYTES, PREAD)).isNull();
  }

  @Test
  void otherModesKeepNothing() {
    open("fixed");
    pread(0, PREAD);
    assertThat(volume.parkedWindows().take(BLOCK, PREAD, PREAD)).isNull();
  }
}
