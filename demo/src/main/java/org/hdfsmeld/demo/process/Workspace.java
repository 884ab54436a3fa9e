package org.hdfsmeld.demo.process;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;

/** The one directory that holds everything the demo writes, but for its report and its log. */
public record Workspace(Path directory) {
  /** The system property that log4j2.xml takes the log file's name from. */
  private static final String LOG_PROPERTY = "hdfsmeld.demo.log";

  private static final long MIB = 1L << 20;
  private static final int ATTEMPTS = 200;
  private static final long PAUSE_MS = 50;

  /** A directory could not be used; the message says why and what to do. */
  public static final class UnusableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableException(String message) {
      super(message);
    }
  }

  /** A workspace, not yet created, below a directory that has enough room. */
  public static Workspace below(Path parent, long neededBytes)
      throws IOException, UnusableException {
    if (!Files.isDirectory(parent) || !Files.isWritable(parent)) {
      throw new UnusableException(
          "--work-dir: " + parent + " is not a writable directory; name another");
    }
    // Not by Files.getFileStore, which fails where the mount is not visible, as in a chroot.
    long free = parent.toFile().getUsableSpace();
    if (free < neededBytes) {
      throw new UnusableException(
          String.format(
              "--work-dir: %s has %,d MiB free, %,d MiB are needed;"
                  + " free some, name another directory, or lower --scale",
              parent, free / MIB, neededBytes / MIB));
    }
    return new Workspace(
        parent.toAbsolutePath().resolve("hdfs-meld-demo-" + ProcessHandle.current().pid()));
  }

  /** Tells logging and libraries where to put what they write; before the first of them is used. */
  public void announce() {
    System.setProperty(LOG_PROPERTY, log().toString());
    System.setProperty("java.io.tmpdir", temporary().toString());
    System.setProperty("jna.tmpdir", temporary().toString());
  }

  /** Makes the directory. */
  public void create() throws IOException {
    // The log may have made it already.
    Files.createDirectories(temporary());
  }

  /** What Hadoop, Spark and the plugin have to say. */
  Path log() {
    return directory.resolve("demo.log");
  }

  /** Moves the log out of the directory, for the user to read. */
  public Path keepLog() throws IOException {
    Path kept = directory.resolveSibling(directory.getFileName() + ".log");
    return Files.move(log(), kept, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Where libraries put their temporary files. */
  public Path temporary() {
    return directory.resolve("tmp");
  }

  /** A path in the directory. */
  public Path resolve(String name) {
    return directory.resolve(name);
  }

  /** Deletes the directory and all in it, again if somebody still at work makes it anew. */
  public void delete() throws IOException, InterruptedException {
    for (int attempt = 0; attempt < ATTEMPTS && Files.exists(directory); attempt++) {
      try {
        deleteOnce();
      } catch (DirectoryNotEmptyException e) {
        // Somebody was faster; once more.
      }
      Thread.sleep(PAUSE_MS);
    }
  }

  private void deleteOnce() throws IOException {
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException error) throws IOException {
            if (error instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw error;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, IOException error)
              throws IOException {
            Files.deleteIfExists(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
