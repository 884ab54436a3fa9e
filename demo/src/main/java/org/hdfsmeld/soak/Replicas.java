package org.hdfsmeld.soak;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * The replicas on a volume's disk.
 *
 * @param blocks how many there are
 * @param pages flash pages that they take
 */
record Replicas(long blocks, long pages) {
  /** What lies under the volume. A file that goes meanwhile does not count. */
  static Replicas on(Path volume, long pageBytes) throws IOException {
    long[] found = new long[2];
    Files.walkFileTree(
        volume.resolve("current"),
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.getFileName().toString().matches("blk_-?\\d+") && attributes.size() > 0) {
              found[0]++;
              found[1] += (attributes.size() + pageBytes - 1) / pageBytes;
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE;
          }
        });
    return new Replicas(found[0], found[1]);
  }
}
