package org.hdfsmeld.trace;

import com.sun.security.auth.module.UnixSystem;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Files of one kind in a folder that must be the DataNode's own user's, and that only this user can
 * read. Names of one kind sort by age.
 */
public final class PrivateFolder {
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FOLDER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path path;
  private final Pattern kind;

  /** Files in {@code path} whose names match {@code kind}. */
  public PrivateFolder(Path path, Pattern kind) {
    this.path = path;
    this.kind = kind;
  }

  /** The folder. */
  public Path path() {
    return path;
  }

  /** Makes the folder, unless it is there, and makes sure that it is the DataNode's own. */
  public void make() throws IOException {
    Files.createDirectories(path, PRIVATE_FOLDER);
    checkOwner();
  }

  /** Creates a file. */
  public OutputStream create(String name) throws IOException {
    make();
    return Channels.newOutputStream(
        Files.newByteChannel(
            path.resolve(name),
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PRIVATE_FILE));
  }

  /** Deletes the oldest files, as long as there are more than so many. */
  public void keep(int most) throws IOException {
    List<String> names = list();
    for (String old : names.subList(0, Math.max(0, names.size() - most))) {
      Files.deleteIfExists(path.resolve(old));
    }
  }

  /** Whoever owns the folder may put anything in the place of its files. */
  private void checkOwner() throws IOException {
    int owner = (int) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    long user = new UnixSystem().getUid();
    if (owner != user) {
      throw new IOException(
          path
              + " belongs to the user of number "
              + owner
              + " and not to the DataNode's, "
              + user
              + "; set dfs.datanode.meld.trace.dir to a folder that only the DataNode's user may"
              + " write to");
    }
  }

  /** Names of the files there are, the oldest first. */
  public List<String> list() throws IOException {
    if (!Files.isDirectory(path)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(path)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> kind.matcher(name).matches())
          .sorted()
          .toList();
    }
  }

  /**
   * A part of a file.
   *
   * @return at most {@code length} bytes; none at the file's end
   * @throws NoSuchFileException when there is no file of this kind and name (any more)
   * @throws IOException when the folder is another user's
   */
  public byte[] read(String name, long offset, int length) throws IOException {
    // Nothing but files of this kind can be asked for.
    if (!kind.matcher(name).matches()) {
      throw new NoSuchFileException(name, null, "is no trace file of this DataNode");
    }
    checkOwner();
    try (SeekableByteChannel channel =
        Files.newByteChannel(
            path.resolve(name), StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      int available = (int) Math.max(0, Math.min(length, channel.size() - offset));
      ByteBuffer part = ByteBuffer.allocate(available);
      channel.position(offset);
      while (part.hasRemaining() && channel.read(part) >= 0) {
        // The next read goes on where this one ended.
      }
      return part.position() == available
          ? part.array()
          : Arrays.copyOf(part.array(), part.position());
    }
  }
}
