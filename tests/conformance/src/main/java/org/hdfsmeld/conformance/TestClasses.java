package org.hdfsmeld.conformance;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

/** The classes that can be run: those of {@code classes.txt}, and all others of Hadoop's jar. */
final class TestClasses {
  private static final String SUFFIX = ".class";

  private final Map<String, Boolean> quick = new LinkedHashMap<>();
  private final Path jar;
  private final List<String> published;

  private TestClasses(Path jar) throws IOException {
    for (String line : Lists.read("classes.txt")) {
      String[] words = line.split(" ");
      quick.put(words[0], words.length > 1 && words[1].equals("quick"));
    }
    this.jar = jar;
    try (JarFile open = new JarFile(jar.toFile())) {
      this.published =
          open.stream()
              .map(ZipEntry::getName)
              .filter(name -> name.endsWith(SUFFIX) && !name.contains("$"))
              .map(name -> name.substring(0, name.length() - SUFFIX.length()).replace('/', '.'))
              .toList();
    }
  }

  /** Those of a version of Hadoop, whose jars these are. */
  static TestClasses of(List<Path> hadoop) throws IOException {
    return new TestClasses(
        hadoop.stream()
            .filter(jar -> jar.getFileName().toString().matches("hadoop-hdfs-[0-9.]+-tests\\.jar"))
            .findFirst()
            .orElseThrow());
  }

  /**
   * The classes that a command line asks for: {@code all} (also when it is empty) or {@code quick}
   * of the list, or names, simple or with their package.
   *
   * @throws IllegalArgumentException on a name that is no class, or two; says which there are
   */
  List<String> select(List<String> words) {
    if (words.isEmpty() || words.equals(List.of("all"))) {
      return List.copyOf(quick.keySet());
    }
    if (words.equals(List.of("quick"))) {
      return quick.keySet().stream().filter(quick::get).toList();
    }
    List<String> selected = new ArrayList<>();
    for (String word : words) {
      List<String> found =
          published.stream()
              .filter(name -> name.equals(word) || Comparison.simpleName(name).equals(word))
              .toList();
      if (found.size() != 1) {
        throw new IllegalArgumentException(found.isEmpty() ? unknown(word) : among(word, found));
      }
      selected.add(found.get(0));
    }
    return selected;
  }

  private String unknown(String word) {
    List<String> names = quick.keySet().stream().map(Comparison::simpleName).toList();
    return "no class '%s' in %s; use all, quick, or classes of it, such as %s"
        .formatted(word, jar.getFileName(), String.join(", ", names));
  }

  private static String among(String word, List<String> found) {
    return "more than one class '" + word + "'; use one of " + String.join(", ", found);
  }
}
