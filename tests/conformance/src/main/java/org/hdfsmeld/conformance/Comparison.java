package org.hdfsmeld.conformance;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A test class on both sides.
 *
 * @param className the class, with its package
 * @param stock its run on stock HDFS
 * @param plugin its run with the plugin
 * @param again what differed, run once more on both sides; null when nothing did
 */
record Comparison(String className, SideRun stock, SideRun plugin, Comparison again) {

  /** A test with its outcomes. */
  record Pair(String className, TestOutcome stock, TestOutcome plugin) {
    boolean same() {
      return stock.status() == plugin.status() && stock.status() != TestOutcome.Status.NOT_RUN;
    }

    boolean sameAs(Pair other) {
      return stock.status() == other.stock.status() && plugin.status() == other.plugin.status();
    }

    boolean failed() {
      return stock.status() == TestOutcome.Status.FAILED;
    }

    String test() {
      String name = stock.name();
      return simpleName(className) + (name.isEmpty() ? "" : "#" + name);
    }

    @Override
    public String toString() {
      return test() + ": stock " + text(stock) + ", plugin " + text(plugin);
    }

    private static String text(TestOutcome outcome) {
      return outcome.status() + (outcome.detail().isEmpty() ? "" : " (" + outcome.detail() + ")");
    }
  }

  static String simpleName(String className) {
    return className.substring(className.lastIndexOf('.') + 1);
  }

  String simpleName() {
    return simpleName(className);
  }

  /** Every test that ran on either side, as it ended at first. */
  private List<Pair> firstPairs() {
    Set<String> ids = new LinkedHashSet<>(stock.outcomes().keySet());
    ids.addAll(plugin.outcomes().keySet());
    if (again != null) {
      ids.addAll(again.stock.outcomes().keySet());
    }
    return ids.stream()
        .map(id -> new Pair(className, stock.outcome(id), plugin.outcome(id)))
        .toList();
  }

  /** Every test that ran on either side, as it ended in the end. */
  List<Pair> pairs() {
    return firstPairs().stream().map(this::settled).toList();
  }

  /** What counts: the second outcomes where there are some and they are the same. */
  private Pair settled(Pair first) {
    if (again == null) {
      return first;
    }
    String id = first.stock().id();
    Pair second = new Pair(className, again.stock.outcome(id), again.plugin.outcome(id));
    return second.same() ? second : first;
  }

  /** Tests to be run once more: they differed, or failed on both sides for no known reason. */
  List<Pair> doubtful(KnownOutcomes known) {
    return firstPairs().stream()
        .filter(pair -> !pair.same() || (pair.failed() && known.fails(pair.test()).isEmpty()))
        .toList();
  }

  /** Tests whose outcomes differ, also when run again. */
  List<Pair> differences() {
    return pairs().stream().filter(pair -> !pair.same()).toList();
  }

  /** Tests whose outcomes were not the same again; with the first ones. */
  List<Pair> unsteady() {
    return firstPairs().stream().filter(pair -> !settled(pair).sameAs(pair)).toList();
  }

  /** Whether both JVMs ran to their ends, at once or when run again, and had tests. */
  boolean finished() {
    boolean ended = stock.finished() && plugin.finished() && !stock.outcomes().isEmpty();
    return ended || (again != null && again.finished());
  }

  /** Tests that fail on both sides. */
  List<Pair> failingOnBoth() {
    return pairs().stream().filter(Pair::same).filter(Pair::failed).toList();
  }

  /** How many tests ended how on stock. */
  Map<TestOutcome.Status, Integer> counts() {
    Map<TestOutcome.Status, Integer> counts = new TreeMap<>();
    for (Pair pair : pairs()) {
      counts.merge(pair.stock().status(), 1, Integer::sum);
    }
    return counts;
  }

  /** Whether none of its tests ran. */
  boolean skippedItself() {
    return counts().keySet().stream()
        .allMatch(s -> s == TestOutcome.Status.ABORTED || s == TestOutcome.Status.SKIPPED);
  }

  /** Whether both sides behave the same. */
  boolean identical() {
    return finished() && differences().isEmpty();
  }
}
