package org.hdfsmeld.soak;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The replicas on a volume's disk.
 *
 * @param pagesByBlock flash pages that each takes, by the block's id; empty replicas are left out
 */
record Replicas(Map<Long, Long> pagesByBlock) {
  private static final Pattern BLOCK = Pattern.compile("blk_(-?\\d+)");

  /** What lies under the volume. A file that goes meanwhile does not count. */
  static Replicas on(Path volume, long pageBytes) throws IOException {
    Map<Long, Long> found = new HashMap<>();
    Files.walkFileTree(
        volume.resolve("current"),
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            Matcher block = BLOCK.matcher(file.getFileName().toString());
            if (block.matches() && attributes.size() > 0) {
              long pages = (attributes.size() + pageBytes - 1) / pageBytes;
              found.merge(Long.parseLong(block.group(1)), pages, Long::sum);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE;
          }
        });
    return new Replicas(found);
  }

  long blocks() {
    return pagesByBlock.size();
  }

  long pages() {
    return pagesByBlock.values().stream().mapToLong(Long::longValue).sum();
  }
}
