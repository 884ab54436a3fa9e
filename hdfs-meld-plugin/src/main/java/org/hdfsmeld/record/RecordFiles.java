package org.hdfsmeld.record;

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
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The files of one kind in a private folder that must be the DataNode's own user's. */
public record RecordFiles(Path path, RecordKind kind) {
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FOLDER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final DateTimeFormatter SESSION =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmssSSS'Z'").withZone(ZoneOffset.UTC);
  private static final int SESSION_CHARACTERS = "yyyyMMddTHHmmssSSSZ".length();

  /** Makes the folder, unless it is there, and makes sure that it is the DataNode's own. */
  public void make() throws IOException {
    Files.createDirectories(path, PRIVATE_FOLDER);
    checkOwner();
  }

  /**
   * What the names of a recording begin with that begins now. It comes after those that there are:
   * a clock that was set back must not make it the oldest, which is deleted first.
   */
  public String session(Instant now) throws IOException {
    String session = SESSION.format(now.truncatedTo(ChronoUnit.MILLIS));
    int start = kind.prefix.length();
    for (String name : list()) {
      String other = name.substring(start, start + SESSION_CHARACTERS);
      if (other.compareTo(session) >= 0) {
        session = SESSION.format(SESSION.parse(other, Instant::from).plusMillis(1));
      }
    }
    return kind.prefix + session;
  }

  public OutputStream create(String name) throws IOException {
    make();
    return createPrivate(path.resolve(name));
  }

  /** Creates a file, anywhere, that only its owner can read. */
  public static OutputStream createPrivate(Path file) throws IOException {
    return Channels.newOutputStream(
        Files.newByteChannel(
            file,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))));
  }

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
          ("%s belongs to the user of number %d and not to the DataNode's, %d; set"
                  + " dfs.datanode.meld.trace.dir to a folder that only the DataNode's user may"
                  + " write to")
              .formatted(path, owner, user));
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
          .filter(kind::isName)
          .sorted()
          .toList();
    }
  }

  /** Bytes of a file; 0 when it is there no more. */
  public long bytes(String name) {
    return path.resolve(name).toFile().length();
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
    if (!kind.isName(name)) {
      throw new NoSuchFileException(name, null, "is no such file of this DataNode");
    }
    checkOwner();
    try (SeekableByteChannel channel =
        Files.newByteChannel(
            path.resolve(name), StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      int available = (int) Math.max(0, Math.min(length, channel.size() - offset));
      ByteBuffer part = ByteBuffer.allocate(available);
      channel.position(offset);
      while (part.hasRemaining() && channel.read(part) >= 0) {}
      return part.array();
    }
  }
}
