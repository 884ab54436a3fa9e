package org.hdfsmeld.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * Folders for what benchmarks write: in memory where there is room, so that no disk hides a cost.
 */
final class Scratch {
  private static final Path MEMORY = Path.of("/dev/shm");
  private static final long ROOM_BYTES = 12L << 30;

  private Scratch() {}

  static Path folder(String name) throws IOException {
    return Files.isDirectory(MEMORY) && MEMORY.toFile().getUsableSpace() > ROOM_BYTES
        ? Files.createTempDirectory(MEMORY, name)
        : Files.createTempDirectory(name);
  }

  static boolean isMemory(Path folder) {
    return folder.startsWith(MEMORY);
  }

  static void delete(Path root) throws IOException {
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
