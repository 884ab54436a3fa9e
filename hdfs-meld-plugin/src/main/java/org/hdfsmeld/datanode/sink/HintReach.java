package org.hdfsmeld.datanode.sink;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How far the write-lifetime hint of a file gets below its inode.
 *
 * @param isEffective whether something there keeps data apart by it
 * @param text what that is, or where the hint ends, for a person
 */
public record HintReach(boolean isEffective, String text) {
  private static final Path SYS_DEV_BLOCK = Path.of("/sys/dev/block");

  /** Of files in this folder, as its file system and its drive's queue show. Never throws. */
  public static HintReach of(Path folder) {
    try {
      long dev = (Long) Files.getAttribute(folder, "unix:dev");
      // As glibc's gnu_dev_major and gnu_dev_minor.
      long major = dev >> 8 & 0xfff | dev >> 32 & ~0xfffL;
      long minor = dev & 0xff | dev >> 12 & ~0xffL;
      return of(Files.getFileStore(folder).type(), SYS_DEV_BLOCK.resolve(major + ":" + minor));
    } catch (IOException | RuntimeException e) {
      return new HintReach(false, "its file system cannot be found: " + e.getMessage());
    }
  }

  /**
   * As {@code docs/reference/directives.md} has it.
   *
   * @param fileSystem its type, as in {@code /proc/mounts}
   * @param device the block device, or one of its partitions, in sysfs
   */
  static HintReach of(String fileSystem, Path device) {
    if (fileSystem.equals("f2fs")) {
      return new HintReach(true, "f2fs writes EXTREME to a log of cold data of its own");
    }
    boolean isZoned = !queue(device, "zoned", "none").equals("none");
    if (fileSystem.equals("xfs") && isZoned) {
      return new HintReach(true, "xfs writes each lifetime to zones of its own");
    }
    int streams = Integer.parseInt(queue(device, "max_write_streams", "0"));
    return new HintReach(
        false,
        fileSystem
            + " keeps it in the inode, and no NVMe drive gets it"
            + (streams > 0 ? "; the drive has " + streams + " write streams" : ""));
  }

  /** An attribute of the device's queue; a partition has none of its own. */
  private static String queue(Path device, String name, String otherwise) {
    for (String queue : new String[] {"queue", "../queue"}) {
      try {
        Path real = device.toRealPath();
        return Files.readString(real.resolve(queue).normalize().resolve(name)).trim();
      } catch (IOException e) {
        // The next, or there is none.
      }
    }
    return otherwise;
  }
}
