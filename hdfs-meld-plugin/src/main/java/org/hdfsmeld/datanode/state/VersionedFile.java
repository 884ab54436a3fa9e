package org.hdfsmeld.datanode.state;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.zip.CRC32C;
import org.apache.hadoop.io.IOUtils;

/** What the files that the plugin keeps have in common. */
public final class VersionedFile {
  /** Writes what is in a file. */
  @FunctionalInterface
  public interface Content {
    void write(FileOutputStream out) throws IOException;
  }

  private VersionedFile() {}

  /**
   * Puts a file in the place of the one before, durably. After a loss of power there is one of them
   * as a whole.
   *
   * @throws IOException when it cannot be written; the one before is left
   */
  public static void replace(Path file, Content content) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
    try {
      try (FileOutputStream out = new FileOutputStream(temporary.toFile())) {
        content.write(out);
        out.getFD().sync();
      }
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
    IOUtils.fsync(file.getParent().toFile());
  }

  /**
   * Looks at the version of a file's format before anything that depends on it.
   *
   * @throws IOException when this plugin cannot read it
   */
  public static void checkVersion(int found, int readable) throws IOException {
    if (found != readable) {
      throw new IOException(
          ("its format has version %d and this plugin reads version %d; to use it, go back to the"
                  + " plugin that wrote it before it is replaced")
              .formatted(found, readable));
    }
  }

  /** CRC-32C of what remains in a buffer, which is left as it is. */
  public static int checksum(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.duplicate());
    return (int) crc.getValue();
  }
}
