package org.hdfsmeld.datanode.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.config.MeldKeys;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.sim.FakeDevice;
import org.hdfsmeld.sim.Opcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The streams that HDFS gets behave as the file's own, and the device sees what went through. */
class TestMeldFileIoProvider {
  private static final int MIB = 1 << 20;
  private static final byte[] DATA = new byte[3 * MIB + 1234];

  static {
    new Random(1).nextBytes(DATA);
  }

  @TempDir Path dir;

  private final FakeDevice device = new FakeDevice();
  private final FsVolumeSpi volume = mock(FsVolumeSpi.class);
  private MeldVolumes volumes;
  private MeldFileIoProvider provider;
  private File block;
  private File meta;

  @BeforeEach
  void open() throws IOException {
    // Another volume has a device of its own.
    AtomicBoolean opened = new AtomicBoolean();
    volumes =
        FakeDevice.volumes(
            MeldConfiguration.read(new Configuration()),
            () -> opened.getAndSet(true) ? new FakeDevice() : device);
    File current = dir.resolve("1/current").toFile();
    volumes.add("DS-1", current);
    when(volume.getStorageID()).thenReturn("DS-1");
    device.drain = () -> FakeDevice.settle(volumes.of(volume));
    provider = new MeldFileIoProvider(null, null, volumes);
    File rbw = new File(current, "BP-1/current/rbw");
    assertThat(rbw.mkdirs()).isTrue();
    block = new File(rbw, "blk_42");
    meta = new File(rbw, "blk_42_1001.meta");
  }

  @AfterEach
  void close() {
    volumes.close();
    assertThat(device.closed).isTrue();
  }

  private long counter(String name) {
    return FakeDevice.counters(volumes.of(volume)).get(name);
  }

  private long sent(int opcode) {
    return device.commands().stream()
        .filter(c -> c.opcode() == opcode)
        .mapToLong(FakeDevice.Command::length)
        .sum();
  }

  private void store() throws IOException {
    Files.write(block.toPath(), DATA);
  }

  @Test
  void readsThroughTheStream() throws IOException {
    store();
    try (FileInputStream in = provider.openAndSeek(volume, block, 1000)) {
      assertThat(in.read()).isEqualTo(DATA[1000] & 0xFF);
      assertThat(in.skip(99)).isEqualTo(99);
      byte[] some = new byte[50];
      assertThat(in.read(some)).isEqualTo(50);
      assertThat(some).isEqualTo(Arrays.copyOfRange(DATA, 1100, 1150));
      assertThat(in.available()).isEqualTo(DATA.length - 1150);
      assertThat(in.readAllBytes()).isEqualTo(Arrays.copyOfRange(DATA, 1150, DATA.length));
      assertThat(in.read()).isEqualTo(-1);
      assertThat(in.read(some)).isEqualTo(-1);
    }
    assertThat(counter("forwarded_read_bytes")).isEqualTo(DATA.length - 1000 - 99);
  }

  @Test
  void aThreadKeepsNoStreamThatItOpened() throws IOException {
    store();
    WeakReference<FileInputStream> gone = closedStream();
    await()
        .until(
            () -> {
              System.gc();
              return gone.get() == null;
            });
  }

  private WeakReference<FileInputStream> closedStream() throws IOException {
    try (FileInputStream in = provider.openAndSeek(volume, block, 0)) {
      return new WeakReference<>(in);
    }
  }

  @Test
  void adviceOnTheWholeFileIsOfALongRead() throws IOException {
    store();
    volumes.close();
    Configuration conf = new Configuration();
    conf.set(MeldKeys.READAHEAD_MODE, "linux");
    conf.set(MeldKeys.READAHEAD_LINUX_FADVISE, "true");
    volumes = FakeDevice.volumes(MeldConfiguration.read(conf), () -> device);
    volumes.add("DS-1", dir.resolve("1/current").toFile());
    provider = new MeldFileIoProvider(null, null, volumes);
    byte[] packet = new byte[64 << 10];
    try (FileInputStream in = provider.openAndSeek(volume, block, 0)) {
      assertThat(in.read(packet)).isEqualTo(packet.length);
    }
    long unadvised = sent(Opcode.READ);
    device.clear();
    try (FileInputStream in = provider.openAndSeek(volume, block, 0)) {
      provider.posixFadvise(volume, block.getName(), in.getFD(), 0, 0, 0);
      assertThat(in.read(packet)).isEqualTo(packet.length);
    }
    assertThat(sent(Opcode.READ)).isGreaterThan(unadvised);
  }

  @Test
  void readsThroughTheChannel() throws IOException {
    store();
    try (FileInputStream in = provider.openAndSeek(volume, block, 0)) {
      FileChannel channel = in.getChannel();
      assertThat(in.getChannel()).isSameAs(channel);
      assertThat(channel.size()).isEqualTo(DATA.length);
      ByteBuffer buffer = ByteBuffer.allocate(100);
      assertThat(channel.read(buffer)).isEqualTo(100);
      assertThat(in.read()).isEqualTo(DATA[100] & 0xFF);
      assertThat(channel.position()).isEqualTo(101);
      channel.position(7);
      assertThat(in.read()).isEqualTo(DATA[7] & 0xFF);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      assertThat(channel.transferTo(10, 20, Channels.newChannel(out))).isEqualTo(20);
      assertThat(out.toByteArray()).isEqualTo(Arrays.copyOfRange(DATA, 10, 30));
      assertThat(channel.map(FileChannel.MapMode.READ_ONLY, 0, 10).get(3)).isEqualTo(DATA[3]);
    }
    assertThat(counter("forwarded_read_bytes")).isEqualTo(100 + 1 + 1 + 20);
  }

  @Test
  void aBlockDeletedBetweenOpenAndReadIsReadAndNotOnTheDevice() throws IOException {
    store();
    try (FileInputStream in = provider.openAndSeek(volume, block, 0)) {
      assertThat(provider.fullyDelete(volume, block)).isTrue();
      assertThat(in.readAllBytes()).isEqualTo(DATA);
    }
    assertThat(counter("blocks_mapped")).isZero();
    assertThat(device.preloads()).isEmpty();
  }

  @Test
  void closingTheChannelClosesTheStream() throws IOException {
    store();
    FileInputStream in = provider.openAndSeek(volume, block, 0);
    assertThat(in.read()).isEqualTo(DATA[0] & 0xFF);
    in.getChannel().close();
    in.close();
    assertThat(in.getFD().valid()).isFalse();
  }

  @Test
  void anInterruptedThreadReadsAsEver() throws IOException {
    store();
    Thread.currentThread().interrupt();
    try (FileInputStream in = provider.openAndSeek(volume, block, 1000)) {
      assertThat(in.read()).isEqualTo(DATA[1000] & 0xFF);
      assertThat(in.readAllBytes()).isEqualTo(Arrays.copyOfRange(DATA, 1001, DATA.length));
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void anInterruptedThreadWritesAsEver() throws IOException {
    try (FileOutputStream out = provider.getFileOutputStream(volume, block)) {
      Thread.currentThread().interrupt();
      out.write(DATA);
      out.write(7);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(block).hasSize(DATA.length + 1);
  }

  @Test
  void checksumFilesAreLeftAlone() throws IOException {
    Files.write(meta.toPath(), new byte[100]);
    try (FileInputStream in = provider.openAndSeek(volume, meta, 0)) {
      assertThat(in).isNotInstanceOf(BlockInputStream.class);
    }
    try (FileOutputStream out = provider.getFileOutputStream(volume, meta)) {
      out.write(1);
    }
    provider.delete(volume, meta);
    assertThat(device.commands()).isEmpty();
  }

  @Test
  void aReplicasDescriptorsAreToldApart() throws IOException {
    try (RandomAccessFile metaFile = provider.getRandomAccessFile(volume, meta, "rw");
        RandomAccessFile blockFile = new RandomAccessFile(block, "rw");
        FileOutputStream data = provider.getFileOutputStream(volume, blockFile.getFD());
        FileOutputStream sums = provider.getFileOutputStream(volume, metaFile.getFD())) {
      assertThat(data).isInstanceOf(BlockOutputStream.class);
      assertThat(sums).isNotInstanceOf(BlockOutputStream.class);
      data.write(DATA);
      sums.write(DATA, 0, 100);
      provider.sync(volume, data);
      provider.sync(volume, sums);
    }
    assertThat(block).hasBinaryContent(DATA);
    assertThat(meta).hasSize(100);
    assertThat(counter("forwarded_write_bytes")).isEqualTo(DATA.length);
    assertThat(device.commands().stream().filter(c -> c.opcode() == Opcode.FLUSH)).hasSize(1);
  }

  @Test
  void anAppendStartsWhereTheChannelWasPut() throws IOException {
    store();
    try (RandomAccessFile metaFile = provider.getRandomAccessFile(volume, meta, "rw");
        FileOutputStream data =
            provider.getFileOutputStream(volume, new RandomAccessFile(block, "rw").getFD())) {
      data.getChannel().position(2 * MIB);
      data.write(new byte[MIB]);
      assertThat(metaFile.length()).isZero();
    }
    byte[] expected = DATA.clone();
    Arrays.fill(expected, 2 * MIB, 3 * MIB, (byte) 0);
    assertThat(block).hasBinaryContent(expected);
    assertThat(device.preloads().stream().mapToLong(FakeDevice.Command::length).sum())
        .isEqualTo(2 * MIB);
    assertThat(sent(Opcode.WRITE)).isEqualTo(MIB);
  }

  @Test
  void anAppendingStreamStartsAtTheEnd() throws IOException {
    try (FileOutputStream out = provider.getFileOutputStream(volume, block, false)) {
      out.write(DATA);
    }
    try (FileOutputStream out = provider.getFileOutputStream(volume, block, true)) {
      out.write(7);
    }
    assertThat(block).hasSize(DATA.length + 1);
    assertThat(device.preloads()).isEmpty();
    assertThat(volumes.of(volume).blocks().find(new BlockKey("BP-1", 42)).mappedBytes())
        .isEqualTo(DATA.length + 1);
  }

  @Test
  void truncationIsSeen() throws IOException {
    try (FileOutputStream out = provider.getFileOutputStream(volume, block)) {
      out.write(DATA);
    }
    try (RandomAccessFile file = provider.getRandomAccessFile(volume, block, "rw")) {
      file.setLength(MIB);
      file.seek(MIB - 10);
      byte[] tail = new byte[10];
      file.readFully(tail);
      assertThat(tail).isEqualTo(Arrays.copyOfRange(DATA, MIB - 10, MIB));
    }
    assertThat(volumes.of(volume).blocks().find(new BlockKey("BP-1", 42)).mappedBytes())
        .isEqualTo(MIB);
    assertThat(device.commands())
        .filteredOn(c -> c.opcode() == Opcode.READ)
        .allMatch(FakeDevice.Command::detached);
  }

  @Test
  void deletesAreSeen() throws IOException {
    for (int i = 0; i < 3; i++) {
      try (FileOutputStream out = provider.getFileOutputStream(volume, block)) {
        out.write(DATA);
      }
      assertThat(counter("blocks_mapped")).isEqualTo(1);
      boolean deleted =
          switch (i) {
            case 0 -> provider.delete(volume, block);
            case 1 -> provider.deleteWithExistsCheck(volume, block);
            default -> provider.fullyDelete(volume, block);
          };
      assertThat(deleted).isTrue();
      assertThat(counter("blocks_mapped")).isZero();
    }
  }

  @Test
  void aCopyReadsItsSourceAndWritesItsTarget() throws IOException {
    store();
    File current = dir.resolve("2/current").toFile();
    volumes.add("DS-2", current);
    File target = new File(current, "BP-1/tmp/blk_42");
    assertThat(target.getParentFile().mkdirs()).isTrue();
    provider.nativeCopyFileUnbuffered(volume, block, target, true);
    assertThat(target).hasBinaryContent(DATA);
    assertThat(counter("forwarded_read_bytes")).isEqualTo(DATA.length);
    assertThat(FakeDevice.counters(volumes.holding(target)))
        .containsEntry("forwarded_write_bytes", (long) DATA.length)
        .containsEntry("hinted_blocks", 1L);
  }

  @Test
  void aBlockFoundMissingIsForgottenAndNoOther() throws IOException {
    for (File file : new File[] {block, new File(block.getParentFile(), "blk_43")}) {
      try (FileOutputStream out = provider.getFileOutputStream(volume, file)) {
        out.write(DATA);
      }
    }
    volumes.gone("BP-1", 42);
    volumes.gone("BP-2", 43);
    assertThat(counter("blocks_mapped")).isEqualTo(1);
  }

  @Test
  void anUnknownVolumeIsStock() throws IOException {
    store();
    FsVolumeSpi other = mock(FsVolumeSpi.class);
    when(other.getStorageID()).thenReturn("DS-9");
    for (FsVolumeSpi unknown : new FsVolumeSpi[] {other, null}) {
      try (FileInputStream in = provider.openAndSeek(unknown, block, 0)) {
        assertThat(in).isNotInstanceOf(BlockInputStream.class);
      }
    }
  }
}
