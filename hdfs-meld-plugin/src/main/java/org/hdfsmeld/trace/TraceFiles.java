package org.hdfsmeld.trace;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.regex.Pattern;

/** The files of a DataNode's traces. The oldest ones go when there are too many. */
final class TraceFiles {
  private static final String PREFIX = "meld-trace-";
  private static final Pattern NAME =
      Pattern.compile(PREFIX + "[0-9]{8}T[0-9]{9}Z-[0-9]+\\.csv\\.gz");
  private static final DateTimeFormatter SESSION =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmssSSS'Z'").withZone(ZoneOffset.UTC);

  private final PrivateFolder folder;
  private final int maxFiles;

  /** Files in {@code folder}, at most {@code maxFiles} of them. */
  TraceFiles(Path folder, int maxFiles) {
    this.folder = new PrivateFolder(folder, NAME);
    this.maxFiles = maxFiles;
  }

  Path folder() {
    return folder.path();
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
    OutputStream out = folder.create(String.format(PREFIX + "%s-%06d.csv.gz", session, number));
    folder.keep(maxFiles);
    return out;
  }

  /** Names of the files there are, the oldest first. */
  List<String> list() throws IOException {
    return folder.list();
  }

  /**
   * A part of a file.
   *
   * @return at most {@code length} bytes; none at the file's end
   * @throws NoSuchFileException when there is no trace file of this name (any more)
   * @throws IOException when the folder is another user's
   */
  byte[] read(String name, long offset, int length) throws IOException {
    return folder.read(name, offset, length);
  }
}
