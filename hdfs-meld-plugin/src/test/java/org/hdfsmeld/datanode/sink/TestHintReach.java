package org.hdfsmeld.datanode.sink;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestHintReach {
  @TempDir Path sys;
  private Path disk;
  private Path partition;

  @BeforeEach
  void makeSysfs() throws IOException {
    Path real = Files.createDirectories(sys.resolve("devices/nvme0n1"));
    Files.createDirectories(real.resolve("queue"));
    Files.createDirectories(real.resolve("nvme0n1p1"));
    disk = Files.createSymbolicLink(sys.resolve("259:0"), real);
    partition = Files.createSymbolicLink(sys.resolve("259:1"), real.resolve("nvme0n1p1"));
  }

  private void queue(String name, String value) throws IOException {
    Files.writeString(disk.resolve("queue").resolve(name), value + "\n");
  }

  @Test
  void onlyF2fsAndZonedXfsTellHintsApart() throws IOException {
    queue("zoned", "none");
    for (Path device : new Path[] {disk, partition, sys.resolve("0:42")}) {
      assertThat(HintReach.of("f2fs", device).isEffective()).isTrue();
      for (String plain : new String[] {"ext4", "xfs", "btrfs", "tmpfs"}) {
        HintReach reach = HintReach.of(plain, device);
        assertThat(reach.isEffective()).isFalse();
        assertThat(reach.text()).startsWith(plain + " keeps it in the inode");
      }
    }
    queue("zoned", "host-managed");
    assertThat(HintReach.of("xfs", partition).isEffective()).isTrue();
    assertThat(HintReach.of("ext4", partition).isEffective()).isFalse();
  }

  @Test
  void writeStreamsOfTheDriveAreNamed() throws IOException {
    queue("max_write_streams", "8");
    assertThat(HintReach.of("xfs", partition).text()).endsWith("the drive has 8 write streams");
  }

  @Test
  void ofAFolderThatIsNotThereItSaysSo() {
    assertThat(HintReach.of(Path.of("/nowhere")).isEffective()).isFalse();
    assertThat(HintReach.of(Path.of("/nowhere")).text()).contains("/nowhere");
    assertThat(HintReach.of(Path.of("/")).text()).isNotEmpty();
  }
}
