package org.hdfsmeld.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs Hadoop's own test classes on stock HDFS and with the plugin, and compares them test by test.
 *
 * <p>Exits with 1 on a difference, or when the plugin saw nothing of a class that it should see.
 */
public final class Conformance {
  /** Of one JVM; on an idle machine the slowest class, the balancer's, takes less than half. */
  private static final Duration LIMIT = Duration.ofMinutes(30);

  private final Forks forks;
  private final KnownOutcomes known = KnownOutcomes.read();
  private final Report report = new Report(System.out, known);
  private final ExecutorService sides = Executors.newFixedThreadPool(Side.values().length);

  private Conformance(Path folder) {
    this.forks = new Forks(folder, LIMIT);
  }

  /** Runs the classes of the command line: {@code FOLDER all}, {@code quick}, or simple names. */
  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]).toAbsolutePath();
    List<String> classes;
    try {
      classes = TestClasses.read().select(Arrays.asList(args).subList(1, args.length));
    } catch (IllegalArgumentException e) {
      System.err.println("meld conformance: " + e.getMessage());
      System.exit(2);
      return;
    }
    Files.createDirectories(folder);
    System.exit(new Conformance(folder).run(classes, folder) ? 0 : 1);
  }

  private boolean run(List<String> classes, Path folder) throws Exception {
    List<Comparison> done = new ArrayList<>();
    report.begin(classes.size(), folder);
    for (String className : classes) {
      Comparison comparison = compare(className);
      done.add(comparison);
      report.progress(comparison);
      report.write(done, folder);
    }
    sides.shutdownNow();
    return report.summary(done);
  }

  /**
   * One class on both sides at once; what is in doubt then once more, one after the other and
   * without the tests' own time limits, which a busy machine misses.
   */
  private Comparison compare(String className) throws Exception {
    String label = Comparison.simpleName(className);
    List<Future<SideRun>> runs = new ArrayList<>();
    for (Side side : Side.values()) {
      runs.add(sides.submit(() -> forks.run(label, side, List.of(className), true)));
    }
    Comparison first = new Comparison(className, result(runs.get(0)), result(runs.get(1)), null);
    List<Comparison.Pair> doubtful = first.doubtful(known);
    if (first.finished() && doubtful.isEmpty()) {
      return first;
    }
    report.rerun(first, doubtful.size());
    boolean whole =
        !first.finished() || doubtful.stream().anyMatch(p -> p.stock().name().isEmpty());
    List<String> selectors =
        whole ? List.of(className) : doubtful.stream().map(pair -> pair.stock().id()).toList();
    Comparison again =
        new Comparison(
            className,
            forks.run(label + "-again", Side.STOCK, selectors, false),
            forks.run(label + "-again", Side.PLUGIN, selectors, false),
            null);
    return new Comparison(className, first.stock(), first.plugin(), again);
  }

  private static SideRun result(Future<SideRun> run) throws IOException, InterruptedException {
    try {
      return run.get();
    } catch (ExecutionException e) {
      throw new IOException("The JVM of the tests could not be run: " + e.getCause(), e);
    }
  }
}
