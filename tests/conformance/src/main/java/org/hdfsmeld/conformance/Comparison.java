package org.hdfsmeld.conformance;

import java.util.ArrayList;
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

  /** Every test that ran on either side, in the order of stock. */
  List<Pair> pairs() {
    Set<String> ids = new LinkedHashSet<>(stock.outcomes().keySet());
    ids.addAll(plugin.outcomes().keySet());
    return ids.stream()
        .map(id -> new Pair(className, stock.outcome(id), plugin.outcome(id)))
        .toList();
  }

  /** Tests whose outcomes differ in the first run. */
  List<Pair> differing() {
    return pairs().stream().filter(pair -> !pair.same()).toList();
  }

  /** Whether both JVMs ran to their ends, at once or when run again, and had tests. */
  boolean finished() {
    boolean ended = stock.finished() && plugin.finished() && !stock.outcomes().isEmpty();
    return ended || (again != null && again.finished());
  }

  /** Tests whose outcomes differed and did not when run again. */
  List<Pair> unsteady() {
    List<Pair> unsteady = new ArrayList<>(differing());
    unsteady.removeAll(differences());
    return unsteady;
  }

  /** Tests whose outcomes differ, also when run again. */
  List<Pair> differences() {
    if (again == null) {
      return differing();
    }
    Set<String> settled = new LinkedHashSet<>();
    again.pairs().stream().filter(Pair::same).forEach(pair -> settled.add(pair.stock().id()));
    List<Pair> left = new ArrayList<>(differing());
    left.removeIf(pair -> settled.contains(pair.stock().id()));
    return left;
  }

  /** Tests that fail on both sides. */
  List<Pair> failingOnBoth() {
    return pairs().stream()
        .filter(Pair::same)
        .filter(pair -> pair.stock().status() == TestOutcome.Status.FAILED)
        .toList();
  }

  /** How many tests ended how on stock. */
  Map<TestOutcome.Status, Integer> counts() {
    Map<TestOutcome.Status, Integer> counts = new TreeMap<>();
    for (Pair pair : pairs()) {
      counts.merge(pair.stock().status(), 1, Integer::sum);
    }
    return counts;
  }

  /** Whether both sides behave the same. */
  boolean identical() {
    return finished() && differences().isEmpty();
  }
}
