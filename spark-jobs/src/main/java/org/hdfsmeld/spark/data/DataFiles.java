package org.hdfsmeld.spark.data;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** The data files below the paths of a data set, and the place for a new one. */
public final class DataFiles {
  private DataFiles() {}

  /** Files that Spark's own readers would skip: markers, checksums, work in progress. */
  public static boolean isHidden(Path path) {
    return path.getName().startsWith("_") || path.getName().startsWith(".");
  }

  /** The data files by directory, both in the order of their names. */
  public static SortedMap<Path, List<FileStatus>> byDirectory(
      Configuration conf, List<String> paths) throws IOException {
    SortedMap<Path, List<FileStatus>> found = new TreeMap<>();
    for (String name : paths) {
      Path path = new Path(name);
      FileSystem fs = path.getFileSystem(conf);
      FileStatus status;
      try {
        status = fs.getFileStatus(path);
      } catch (FileNotFoundException e) {
        throw new FileNotFoundException(name + ": no such file or directory");
      }
      collect(fs, status, found);
    }
    found.values().forEach(files -> files.sort(Comparator.comparing(FileStatus::getPath)));
    return found;
  }

  /** All data files, in the order of their paths; that there is none is an error. */
  public static List<FileStatus> all(Configuration conf, List<String> paths) throws IOException {
    List<FileStatus> files =
        byDirectory(conf, paths).values().stream().flatMap(List::stream).toList();
    if (files.isEmpty()) {
      throw new FileNotFoundException(String.join(", ", paths) + ": no data files");
    }
    return files;
  }

  /** Length of the files together. */
  public static long bytes(List<FileStatus> files) {
    return files.stream().mapToLong(FileStatus::getLen).sum();
  }

  /** The files' paths, as Spark's readers take them. */
  public static String[] paths(List<FileStatus> files) {
    return files.stream().map(file -> file.getPath().toString()).toArray(String[]::new);
  }

  /**
   * Makes way for an output.
   *
   * @throws FileAlreadyExistsException if it exists, and is not to be overwritten
   */
  public static void makeWay(FileSystem fs, Path output, boolean overwrite) throws IOException {
    if (fs.exists(output)) {
      if (!overwrite) {
        throw new FileAlreadyExistsException(
            fs.makeQualified(output) + ": already exists; choose another --output, or --overwrite");
      }
      fs.delete(output, true);
    }
  }

  private static void collect(
      FileSystem fs, FileStatus status, SortedMap<Path, List<FileStatus>> found)
      throws IOException {
    if (status.isDirectory()) {
      for (FileStatus child : fs.listStatus(status.getPath(), path -> !isHidden(path))) {
        collect(fs, child, found);
      }
    } else {
      found.computeIfAbsent(status.getPath().getParent(), path -> new ArrayList<>()).add(status);
    }
  }
}
