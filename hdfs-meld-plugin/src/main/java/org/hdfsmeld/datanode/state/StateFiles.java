package org.hdfsmeld.datanode.state;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;

/**
 * The files of a device's state: {@code snapshot-<n>}, and {@code journal-<n>} with what changed
 * since that snapshot was begun, in the folder {@code meld} beside a volume's {@code current}. The
 * number orders them, not the time: clocks may jump.
 */
public record StateFiles(TreeMap<Long, Path> snapshots, TreeMap<Long, Path> journals) {
  public static final String FOLDER = "meld";
  private static final String SNAPSHOT = "snapshot-";
  private static final String JOURNAL = "journal-";

  static StateFiles none() {
    return new StateFiles(new TreeMap<>(), new TreeMap<>());
  }

  static StateFiles find(Collection<Path> folders) throws IOException {
    StateFiles found = none();
    for (Path folder : folders) {
      if (Files.isDirectory(folder)) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
          files.forEach(found::add);
        }
      }
    }
    return found;
  }

  private void add(Path file) {
    String name = file.getFileName().toString();
    add(name, SNAPSHOT, file, snapshots);
    add(name, JOURNAL, file, journals);
  }

  private static void add(String name, String prefix, Path file, TreeMap<Long, Path> files) {
    String number = name.startsWith(prefix) ? name.substring(prefix.length()) : "";
    if (number.matches("\\d{1,18}")) {
      files.put(Long.parseLong(number), file);
    }
  }

  static Path snapshot(Path folder, long number) {
    return folder.resolve(SNAPSHOT + number);
  }

  static Path journal(Path folder, long number) {
    return folder.resolve(JOURNAL + number);
  }

  /** The largest number in use, or 0. */
  public long last() {
    long snapshot = snapshots.isEmpty() ? 0 : snapshots.lastKey();
    long journal = journals.isEmpty() ? 0 : journals.lastKey();
    return Math.max(snapshot, journal);
  }

  /** Deletes what is older than {@code number}; a folder is nobody's here. */
  void deleteBefore(long number) throws IOException {
    for (TreeMap<Long, Path> files : List.of(snapshots, journals)) {
      for (Path file : files.headMap(number).values()) {
        if (!Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
          Files.deleteIfExists(file);
        }
      }
    }
  }
}
