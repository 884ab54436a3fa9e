package org.hdfsmeld.compatibility;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.aether.RepositoryException;

/**
 * Runs the integration tests on each Hadoop and Java.
 *
 * <p>Exits with 1 when a test fails, or when a Hadoop does not start by itself on the Java that the
 * plugin is built for.
 */
public final class Compatibility {
  /** Starts the same cluster without the plugin: where it fails, Hadoop does. */
  private static final String ALONE = "org.hdfsmeld.it.HadoopAlone";

  private static final String ROW = "%-8s %-5s %-20s %6s  %s%n";

  private final PrintStream out = System.out;
  private final Built built = Built.here();
  private final Map<String, String> classes = built.testClasses();
  private final Table table = new Table();
  private final Path folder;
  private int run;
  private int kept;
  private int failed;

  private Compatibility(Path folder) throws IOException {
    this.folder = folder;
  }

  /** Runs the cells of the command line: {@code FOLDER}, then what {@link Selection} reads. */
  public static void main(String[] args) throws Exception {
    Compatibility compatibility = new Compatibility(Path.of(args[0]).toAbsolutePath());
    Selection selection;
    try {
      selection =
          Selection.of(Arrays.asList(args).subList(1, args.length), compatibility.classes.keySet());
    } catch (IllegalArgumentException e) {
      System.err.println("meld compatibility: " + e.getMessage());
      System.exit(2);
      return;
    }
    System.exit(compatibility.run(selection) ? 0 : 1);
  }

  private boolean run(Selection selection)
      throws IOException, InterruptedException, RepositoryException {
    out.printf("Logs and results: %s%n%n", folder);
    out.printf(ROW, "Hadoop", "Java", "class", "s", "tests");
    for (int java : selection.javas()) {
      for (String hadoop : selection.hadoops()) {
        run(Cell.of(hadoop, java, built), selection.classes(java, classes));
        Files.writeString(folder.resolve("results.md"), table.toString());
      }
    }
    out.printf("%n%s%n", table);
    out.printf(
        "%d classes run, %d kept from before: %s%n",
        run, kept, failed == 0 ? "as on Hadoop 3.5.0" : failed + " FAILED");
    return failed == 0;
  }

  private void run(Cell cell, List<String> names) throws IOException, InterruptedException {
    Path results = folder.resolve(cell.hadoop() + "-java" + cell.release());
    Files.createDirectories(results);
    String key = cell.key();
    TestJvm jvm = new TestJvm(cell, results);
    Outcome alone = outcome(cell, results, "HadoopAlone", key, () -> jvm.runAlone(ALONE));
    if (!alone.good()) {
      // Without the name of the test.
      table.add(cell.hadoop(), cell.release(), alone.why().replaceFirst("^[^:]*: ", ""));
      failed += cell.release() == Selection.BASE ? 1 : 0;
      return;
    }
    Map<String, Outcome> outcomes = new LinkedHashMap<>();
    for (String name : names) {
      Outcome outcome = outcome(cell, results, name, key, () -> jvm.run(classes.get(name)));
      outcomes.put(name, outcome);
      failed += outcome.good() ? 0 : 1;
    }
    table.add(cell.hadoop(), cell.release(), outcomes);
  }

  private interface Run {
    Outcome outcome() throws IOException, InterruptedException;
  }

  private Outcome outcome(Cell cell, Path results, String name, String key, Run toRun)
      throws IOException, InterruptedException {
    Path file = results.resolve(name + ".properties");
    Optional<Outcome> before = Outcome.kept(file, key);
    Outcome outcome;
    if (before.isPresent()) {
      outcome = before.get();
      kept++;
    } else {
      outcome = toRun.outcome();
      outcome.keep(file, key);
      run++;
    }
    out.printf(
        ROW,
        cell.hadoop(),
        cell.release(),
        name,
        before.isPresent() ? "kept" : outcome.took().toSeconds(),
        outcome);
    return outcome;
  }
}
