package org.hdfsmeld.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.hdfsmeld.hadoop.HadoopJars;

/**
 * Runs Hadoop's own test classes on stock HDFS and with the plugin, and compares them test by test.
 *
 * <p>Exits with 1 on a difference, or when the plugin saw nothing of a class that it should see.
 */
public final class Conformance {
  /** Of one JVM; on an idle machine the slowest class, the balancer's, takes less than half. */
  private static final Duration LIMIT = Duration.ofMinutes(30);

  private final Request request;
  private final Path folder;
  private final Forks forks;
  private final Results results;
  private final KnownOutcomes known = KnownOutcomes.read();
  private final Report report = new Report(System.out, known);
  private final ExecutorService sides = Executors.newFixedThreadPool(Side.values().length);

  private Conformance(Request request, Path folder, List<Path> hadoop) throws IOException {
    this.request = request;
    this.folder = Files.createDirectories(folder.resolve(request.hadoop()));
    this.forks = new Forks(this.folder, hadoop, LIMIT);
    this.results = new Results(this.folder, Side.PLUGIN_JAR);
  }

  /** Runs what the command line asks for: {@code FOLDER}, and what {@link Request} reads. */
  public static void main(String[] args) throws Exception {
    Conformance conformance;
    List<String> classes;
    try {
      Request request = Request.parse(List.of(args).subList(1, args.length));
      List<Path> hadoop =
          HadoopJars.daemons(request.hadoop(), Lists.read("artifacts.txt").toArray(String[]::new));
      classes = TestClasses.of(hadoop).select(request.classes());
      conformance = new Conformance(request, Path.of(args[0]).toAbsolutePath(), hadoop);
    } catch (IllegalArgumentException e) {
      System.err.println("meld conformance: " + e.getMessage());
      System.exit(2);
      return;
    }
    System.exit(conformance.run(classes) ? 0 : 1);
  }

  private boolean run(List<String> classes) throws Exception {
    List<Comparison> done = new ArrayList<>();
    report.begin(classes.size(), request.hadoop(), folder);
    try {
      for (String className : classes) {
        Optional<Comparison> kept = request.resume() ? results.read(className) : Optional.empty();
        Comparison comparison = kept.isPresent() ? kept.get() : compare(className);
        results.write(comparison);
        done.add(comparison);
        report.progress(comparison);
        Report.write(done, folder);
      }
    } finally {
      sides.shutdownNow();
    }
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
