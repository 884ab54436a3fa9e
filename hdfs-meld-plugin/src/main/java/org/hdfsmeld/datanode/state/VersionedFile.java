package org.hdfsmeld.datanode.state;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;

/** What the files that the plugin keeps have in common. */
public final class VersionedFile {
  private VersionedFile() {}

  /**
   * Puts a file in the place of the one before, durably. After a loss of power there is one of them
   * as a whole.
   *
   * @throws IOException when it cannot be written; the one before is left
   */
  public static void replace(Path file, ConsumerRaisingIOE<FileChannel> content)
      throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
    Files.deleteIfExists(temporary);
    try {
      try (FileChannel out = create(temporary)) {
        content.accept(out);
        out.force(true);
      }
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
    IOUtils.fsync(file.getParent().toFile());
  }

  /** A new file. What is there already, be it a pipe that would block, is left alone. */
  static FileChannel create(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  /**
   * Opens a file for reading.
   *
   * @throws NoSuchFileException when there is none
   * @throws IOException also when it is no regular file: a pipe would block, a device may do more
   */
  public static FileChannel open(Path file) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      if (Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
        throw new NoSuchFileException(file.toString());
      }
      throw new IOException("it is no regular file");
    }
    return FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Looks at the version of a file's format before anything that depends on it.
   *
   * @param newest the version that this plugin writes; it reads that of release 0.1.0, 1, too
   * @throws IOException when this plugin cannot read it
   */
  public static void checkVersion(int found, int newest) throws IOException {
    if (found != 1 && found != newest) {
      throw new IOException(
          ("its format has version %d and this plugin reads versions %d and 1; to use it, go"
                  + " back to the plugin that wrote it before it is replaced")
              .formatted(found, newest));
    }
  }

  /** CRC-32C of what remains in a buffer, which is left as it is. */
  public static int checksum(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.duplicate());
    return (int) crc.getValue();
  }
}
