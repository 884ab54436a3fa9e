package org.hdfsmeld.conformance;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;

/** What a person sees of a run, and its table, {@code results.md}. */
final class Report {
  private static final String ROW = "%-28s %-34s %-10s %8s %8s %12s%n";

  private final PrintStream out;
  private final KnownOutcomes known;

  Report(PrintStream out, KnownOutcomes known) {
    this.out = out;
    this.known = known;
  }

  void begin(int classes, String hadoop, Path folder) {
    out.printf(
        "%d test classes of Hadoop %s, each on stock HDFS and with the plugin%n", classes, hadoop);
    out.printf("Logs and results: %s%n%n", folder);
    out.printf(ROW, "class", "tests", "outcomes", "stock s", "plugin s", "forwarded");
  }

  void progress(Comparison run) {
    out.printf(
        ROW,
        run.simpleName(),
        counts(run),
        run.identical() ? "identical" : "DIFFERENT",
        run.stock().seconds(),
        run.plugin().seconds(),
        String.format(Locale.ROOT, "%,d", run.plugin().forwarded()));
  }

  void rerun(Comparison first, int doubtful) {
    String what =
        first.finished()
            ? doubtful + " differ, or fail on both for no known reason"
            : "a JVM did not finish or had no test";
    out.printf("%-28s %s: once more on both sides%n", first.simpleName(), what);
  }

  private static String counts(Comparison run) {
    return run.counts().entrySet().stream()
        .map(count -> count.getValue() + " " + word(count.getKey()))
        .collect(joining(", "));
  }

  private static String word(TestOutcome.Status status) {
    return switch (status) {
      case PASSED -> "passed";
      case FAILED -> "failed";
      case ABORTED, SKIPPED -> "skipped";
      case NOT_RUN -> "not run";
    };
  }

  /** Prints what a reader must know beside the table; true when the run is good. */
  boolean summary(List<Comparison> runs) {
    out.println();
    List<String> bad = new ArrayList<>();
    for (Comparison run : runs) {
      run.differences().forEach(pair -> bad.add("different: " + pair));
      if (!run.finished()) {
        bad.add("not finished: " + run.simpleName() + "; its log says why");
      }
      notes(run).forEach(out::println);
      if (unseen(run)) {
        bad.add("not forwarded: the plugin saw nothing of " + run.simpleName());
      }
    }
    long forwarded = runs.stream().mapToLong(run -> run.plugin().forwarded()).sum();
    if (forwarded == 0) {
      bad.add("not forwarded: the plugin saw nothing at all, so the outcomes prove nothing");
    }
    bad.forEach(out::println);
    out.printf(
        Locale.ROOT,
        "%n%d tests of %d classes; the plugin saw %,d reads and writes%n%s%n",
        runs.stream().mapToInt(run -> run.pairs().size()).sum(),
        runs.size(),
        forwarded,
        verdict(runs, bad.isEmpty()));
    return bad.isEmpty();
  }

  /** What the run comes to, in one sentence. */
  private String verdict(List<Comparison> runs, boolean good) {
    String skipped = named(" Skipped themselves on both sides: ", runs, Comparison::skippedItself);
    if (good) {
      return "Verdict: as stock. Every test ends the same way with the plugin." + skipped;
    }
    boolean differs = runs.stream().anyMatch(run -> !run.differences().isEmpty());
    return (differs ? "Verdict: NOT as stock." : "Verdict: not proven to be as stock.")
        + named(" Different: ", runs, run -> !run.differences().isEmpty())
        + named(" Not finished: ", runs, run -> !run.finished())
        + named(" The plugin saw nothing of: ", runs, this::unseen)
        + skipped;
  }

  private static String named(String what, List<Comparison> runs, Predicate<Comparison> which) {
    String names = runs.stream().filter(which).map(Comparison::simpleName).collect(joining(", "));
    return names.isEmpty() ? "" : what + names + ".";
  }

  /** Whether the plugin saw nothing of a class that it should see. */
  private boolean unseen(Comparison run) {
    return run.plugin().forwarded() == 0
        && !run.skippedItself()
        && whyNothingForwarded(run).isEmpty();
  }

  /**
   * What is known of a class in which the plugin had nothing to forward, or was not even loaded.
   */
  private Optional<String> whyNothingForwarded(Comparison run) {
    String name = run.simpleName();
    return run.plugin().event("volumes") > 0
        ? known.unforwarded(name).map(why -> "nothing to forward: " + name + ": " + why)
        : known.unloaded(name).map(why -> "not loaded: " + name + ": " + why);
  }

  /** What is to be said of a class that is no difference. */
  private List<String> notes(Comparison run) {
    List<String> notes = new ArrayList<>();
    run.unsteady()
        .forEach(
            pair -> notes.add("unsteady: the same on both sides only when run again: " + pair));
    for (Comparison.Pair pair : run.failingOnBoth()) {
      notes.add(
          "fails on stock too: "
              + pair.test()
              + ": "
              + known
                  .fails(pair.test())
                  .orElse("not in known-outcomes.txt; " + pair.stock().detail()));
    }
    if (run.counts().containsKey(TestOutcome.Status.ABORTED)) {
      notes.add(
          "skips itself: "
              + run.simpleName()
              + ": "
              + known.skipped(run.simpleName()).orElse(firstDetail(run)));
    }
    if (run.plugin().forwarded() == 0) {
      whyNothingForwarded(run).ifPresent(notes::add);
    }
    for (String counter : List.of("errors", "fallbacks", "timeouts")) {
      if (run.plugin().event(counter) > 0) {
        notes.add(run.simpleName() + ": " + run.plugin().event(counter) + " " + counter);
      }
    }
    return notes;
  }

  private static String firstDetail(Comparison run) {
    return run.pairs().stream()
        .map(Comparison.Pair::stock)
        .filter(outcome -> outcome.status() == TestOutcome.Status.ABORTED)
        .findFirst()
        .map(TestOutcome::detail)
        .orElse("");
  }

  /** Writes {@code results.md}, of what is done so far. */
  static void write(List<Comparison> runs, Path folder) throws IOException {
    StringBuilder table = new StringBuilder("| class | tests | outcomes | forwarded calls |\n");
    table.append("| --- | --- | --- | ---: |\n");
    for (Comparison run : runs) {
      table.append(
          String.format(
              Locale.ROOT,
              "| %s | %s | %s | %,d |%n",
              run.simpleName(),
              counts(run),
              run.identical() ? "identical" : "**different**",
              run.plugin().forwarded()));
    }
    Files.writeString(folder.resolve("results.md"), table);
  }
}
