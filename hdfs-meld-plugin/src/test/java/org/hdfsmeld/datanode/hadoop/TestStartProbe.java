package org.hdfsmeld.datanode.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.FileIoProvider;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.hdfsmeld.datanode.config.MeldConfiguration;
import org.hdfsmeld.datanode.volume.MeldVolumes;
import org.hdfsmeld.sim.FakeDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What passes the plugin by is told at the start, and nothing is left behind. */
class TestStartProbe {
  @TempDir Path dir;

  private final FakeDevice device = new FakeDevice();
  private final FsVolumeSpi volume = mock(FsVolumeSpi.class);
  private MeldVolumes volumes;
  private File folder;

  @BeforeEach
  void open() throws IOException {
    volumes = FakeDevice.volumes(MeldConfiguration.read(new Configuration()), () -> device);
    volumes.add("DS-1", dir.resolve("1/current").toFile());
    folder = Files.createDirectories(dir.resolve("1/current/BP-1/tmp")).toFile();
    when(volume.getStorageID()).thenReturn("DS-1");
  }

  @AfterEach
  void close() {
    volumes.close();
  }

  private String run(FileIoProvider provider) throws IOException {
    when(volume.getFileIoProvider()).thenReturn(provider);
    try {
      return StartProbe.run(volume, folder);
    } finally {
      assertThat(folder).isEmptyDirectory();
      assertThat(device.commands()).isEmpty();
      assertThat(FakeDevice.counters(volumes.of(volume)))
          .containsEntry("forwarded_write_bytes", 0L)
          .containsEntry("unknown_threads", 0L)
          .containsEntry("opened_unread", 0L)
          .containsEntry("blocks_mapped", 0L);
    }
  }

  @Test
  void whatHdfsDoesIsSeen() throws IOException {
    assertThat(run(new MeldFileIoProvider(null, null, volumes))).isNull();
  }

  @Test
  void aStockProviderSeesNothing() throws IOException {
    assertThat(run(new FileIoProvider(null, null))).contains("file I/O");
  }

  /** As when HDFS opens the files of a replica in another order. */
  @Test
  void aWriteThatPassesByIsTold() throws IOException {
    assertThat(
            run(
                new MeldFileIoProvider(null, null, volumes) {
                  @Override
                  public FileOutputStream getFileOutputStream(FsVolumeSpi on, FileDescriptor fd) {
                    return new FileOutputStream(fd);
                  }
                }))
        .contains("write of a probe");
  }

  @Test
  void aReadThatPassesByIsTold() throws IOException {
    assertThat(
            run(
                new MeldFileIoProvider(null, null, volumes) {
                  @Override
                  public FileInputStream openAndSeek(FsVolumeSpi on, File f, long offset)
                      throws IOException {
                    return new FileInputStream(f);
                  }
                }))
        .contains("read of a probe");
  }

  @Test
  void aDiskThatFailsIsNoAnswer() {
    assertThatThrownBy(
            () ->
                run(
                    new MeldFileIoProvider(null, null, volumes) {
                      @Override
                      public RandomAccessFile getRandomAccessFile(
                          FsVolumeSpi on, File f, String mode) throws FileNotFoundException {
                        throw new FileNotFoundException("the disk is gone");
                      }
                    }))
        .hasMessageContaining("the disk is gone");
  }
}
