package org.hdfsmeld.datanode.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.sun.management.ThreadMXBean;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.net.SocketOutputStream;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.hadoop.MeldFileIoProvider;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.NativeSimDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a packet costs a DataNode beside time: no copy of its bytes, and no garbage.
 *
 * <p>To the byte, so it has a JVM without compiler, see the module's pom: HotSpot has the thread
 * that hands a method to C2 make its class's string constants into objects first (JDK 17, {@code
 * CompileBroker::compile_method}), at a moment that no test chooses.
 */
class TestPacketCost {
  private static final int PACKET_BYTES = 64 << 10;

  /** A block of 128 MiB, most of which is measured. */
  private static final int PACKETS = 2048;

  private static final int FIRST_MEASURED = 1024;
  private static final int BLOCK_BYTES = PACKETS * PACKET_BYTES;

  @TempDir Path dir;

  private final FsVolumeSpi spi = mock(FsVolumeSpi.class);
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private MeldVolumes volumes;
  private File current;

  @BeforeEach
  void open() throws IOException {
    MeldConfiguration config = MeldConfiguration.read(new Configuration());
    volumes =
        FakeDevice.volumes(config, () -> NativeSimDevice.open("", config.devices().profile()));
    current = Files.createDirectories(dir.resolve("1/current")).toFile();
    volumes.add("DS-1", current);
    when(spi.getStorageID()).thenReturn("DS-1");
  }

  @AfterEach
  void close() {
    assertThat(FakeDevice.counters(volumes.of(spi))).containsEntry("errors", 0L);
    volumes.close();
  }

  @Test
  void packetsReadAllocateNothing() throws IOException {
    Path file = Files.createFile(dir.resolve("blk_1"));
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      open.setLength(BLOCK_BYTES);
      ReadStream reader =
          new ReadStream(
              volumes.of(spi),
              new BlockKey("BP-1", 1),
              new MeldFileIoProvider.OpenFile(open.getChannel(), file.toFile()),
              true,
              StreamUser.DATANODE);
      assertThat(allocatedBytes(offset -> reader.consume(offset, PACKET_BYTES), () -> {})).isZero();
      reader.close();
    }
    assertThat(FakeDevice.counters(volumes.of(spi)))
        .containsEntry("forwarded_read_bytes", (long) BLOCK_BYTES)
        .containsEntry("host_read_bytes", (long) BLOCK_BYTES);
  }

  @Test
  void packetsWrittenAllocateNothing() throws IOException {
    // A block that changes before there is a journal is in the first snapshot, and in no record.
    awaitState("state_snapshots");
    File file = Files.createFile(dir.resolve("blk_1")).toFile();
    WriteStream writer =
        new WriteStream(volumes.of(spi), new BlockKey("BP-1", 1), file, true, StreamUser.DATANODE);
    assertThat(
            allocatedBytes(
                offset -> writer.write(offset, PACKET_BYTES),
                // After that a packet tells the journal of its block once more.
                () -> awaitState("state_journal_records")))
        .isZero();
    writer.close();
    assertThat(FakeDevice.counters(volumes.of(spi)))
        .containsEntry("forwarded_write_bytes", (long) BLOCK_BYTES)
        .containsEntry("host_written_bytes", (long) BLOCK_BYTES);
  }

  private void awaitState(String counter) {
    await().until(() -> FakeDevice.counters(volumes.of(spi)).get(counter) > 0);
  }

  /** Bytes that this thread allocates for the second half of a block's packets. */
  private long allocatedBytes(LongConsumer packet, Runnable betweenTheHalves) {
    long before = 0;
    for (int i = 0; i < PACKETS; i++) {
      if (i == FIRST_MEASURED) {
        betweenTheHalves.run();
        before = threads.getCurrentThreadAllocatedBytes();
      }
      packet.accept((long) i * PACKET_BYTES);
    }
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  /** The kernel copies from file to socket only where Java is given the file's own channel. */
  @Test
  void theSocketGetsTheFilesOwnChannel() throws IOException {
    File block = new File(current, "BP-1/current/finalized/blk_42");
    assertThat(block.getParentFile().mkdirs()).isTrue();
    Files.write(block.toPath(), new byte[PACKET_BYTES]);
    SocketOutputStream socket = mock(SocketOutputStream.class);
    List<FileChannel> sent = new ArrayList<>();
    doAnswer(call -> sent.add(call.getArgument(0)))
        .when(socket)
        .transferToFully(any(), anyLong(), anyInt(), any(), any());
    MeldFileIoProvider provider = new MeldFileIoProvider(null, null, volumes);

    try (FileInputStream in = provider.openAndSeek(spi, block, 0)) {
      FileChannel channel = in.getChannel();
      provider.transferToSocketFully(
          spi, socket, channel, 0, PACKET_BYTES, new LongWritable(), new LongWritable());
      assertThat(channel.getClass().getSimpleName()).isEqualTo("BlockFileChannel");
    }

    try (FileInputStream plain = new FileInputStream(block)) {
      assertThat(sent)
          .singleElement()
          .satisfies(channel -> assertThat(channel).hasSameClassAs(plain.getChannel()));
    }
    assertThat(FakeDevice.counters(volumes.of(spi)))
        .containsEntry("forwarded_read_bytes", (long) PACKET_BYTES);
  }
}
