package org.hdfsmeld.compatibility;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What the build made, once for all cells.
 *
 * @param tree where hdfs-meld is
 * @param plugin the jar that a user installs
 * @param tests the folders of the compiled tests
 * @param faults the simulator's library that fails on demand
 * @param libraries Maven coordinates of what the tests use
 */
record Built(Path tree, Path plugin, List<Path> tests, Path faults, List<String> libraries) {
  /** As {@code java.args} says. */
  static Built here() {
    Path tree = Path.of(System.getProperty("meld.tree"));
    return new Built(
        tree,
        Path.of(System.getProperty("meld.plugin")),
        List.of(
            tree.resolve("tests/target/test-classes"),
            tree.resolve("hdfs-meld-plugin/target/test-classes")),
        tree.resolve("native-sim/target/release/libmeldsim_testing.so"),
        List.of(System.getProperty("meld.libraries").split(",")));
  }

  /** The integration tests: full names by simple ones. */
  TreeMap<String, String> testClasses() throws IOException {
    TreeMap<String, String> classes = new TreeMap<>();
    for (Path folder : tests) {
      try (Stream<Path> files = Files.walk(folder)) {
        files
            .map(file -> folder.relativize(file).toString())
            .filter(name -> name.matches("(.*/)?IT[^/$]*\\.class"))
            .map(name -> name.replaceFirst("\\.class$", "").replace('/', '.'))
            .forEach(name -> classes.put(name.substring(name.lastIndexOf('.') + 1), name));
      }
    }
    return classes;
  }
}
