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
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The files of a DataNode's traces, readable by its own user only, in a folder that must be its own
 * user's. The oldest ones go when there are too many. Their names sort by age.
 */
final class TraceFiles {
  private static final String PREFIX = "meld-trace-";
  private static final Pattern NAME =
      Pattern.compile(PREFIX + "[0-9]{8}T[0-9]{9}Z-[0-9]+\\.csv\\.gz");
  private static final DateTimeFormatter SESSION =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmssSSS'Z'").withZone(ZoneOffset.UTC);
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FOLDER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path folder;
  private final int maxFiles;

  /** Files in {@code folder}, at most {@code maxFiles} of them. */
  TraceFiles(Path folder, int maxFiles) {
    this.folder = folder;
    this.maxFiles = maxFiles;
  }

  Path folder() {
    return folder;
  }

  /**
   * Tells a trace that begins now from those that there are, and comes after them: a clock that was
   * set back must not make it the oldest, which is deleted first.
   */
  String session(Instant now) throws IOException {
    String session = SESSION.format(now.truncatedTo(ChronoUnit.MILLIS));
    for (String name : list()) {
      String other = name.substring(PREFIX.length(), name.lastIndexOf('-'));
      if (other.compareTo(session) >= 0) {
        session = SESSION.format(SESSION.parse(other, Instant::from).plusMillis(1));
      }
    }
    return session;
  }

  /**
   * Creates a file, and deletes the oldest ones that are then too many.
   *
   * @param session of {@link #session}
   * @param number of the file in its trace, from 1
   */
  OutputStream create(String session, int number) throws IOException {
    Files.createDirectories(folder, PRIVATE_FOLDER);
    checkOwner();
    Path file = folder.resolve(String.format(PREFIX + "%s-%06d.csv.gz", session, number));
    OutputStream out =
        Channels.newOutputStream(
            Files.newByteChannel(
                file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PRIVATE_FILE));
    List<String> names = list();
    for (String old : names.subList(0, Math.max(0, names.size() - maxFiles))) {
      Files.deleteIfExists(folder.resolve(old));
    }
    return out;
  }

  /** Whoever owns the folder may put anything in the place of its files. */
  private void checkOwner() throws IOException {
    int owner = (int) Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    long user = new UnixSystem().getUid();
    if (owner != user) {
      throw new IOException(
          folder
              + " belongs to the user of number "
              + owner
              + " and not to the DataNode's, "
              + user
              + "; set dfs.datanode.meld.trace.dir to a folder that only the DataNode's user may"
              + " write to");
    }
  }

  /** Names of the files there are, the oldest first. */
  List<String> list() throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> NAME.matcher(name).matches())
          .sorted()
          .toList();
    }
  }

  /**
   * A part of a file.
   *
   * @return at most {@code length} bytes; none at the file's end
   * @throws NoSuchFileException when there is no trace file of this name (any more)
   * @throws IOException when the folder is another user's
   */
  byte[] read(String name, long offset, int length) throws IOException {
    // Nothing but the trace's own files can be asked for.
    if (!NAME.matcher(name).matches()) {
      throw new NoSuchFileException(name, null, "is no trace file of this DataNode");
    }
    checkOwner();
    try (SeekableByteChannel channel =
        Files.newByteChannel(
            folder.resolve(name), StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
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
