package org.hdfsmeld.compatibility;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The cells that were run, as Markdown: a row for each Hadoop, a column for each Java. */
final class Table {
  private static final String NOT_RUN = "–";

  private final Map<String, Map<Integer, String>> rows = new TreeMap<>();

  /** Adds a cell whose Hadoop starts. */
  void add(String hadoop, int java, Map<String, Outcome> classes) {
    int passed = classes.values().stream().mapToInt(Outcome::passed).sum();
    int skipped = classes.values().stream().mapToInt(Outcome::skipped).sum();
    List<String> bad = classes.keySet().stream().filter(c -> !classes.get(c).good()).toList();
    String text = "%d classes: %d tests pass".formatted(classes.size(), passed);
    text += skipped == 0 ? "" : ", %d skipped".formatted(skipped);
    text += bad.isEmpty() ? "" : ", **failures** in " + String.join(", ", bad);
    put(hadoop, java, text);
  }

  /** Adds a cell whose Hadoop does not start by itself. */
  void add(String hadoop, int java, String why) {
    put(hadoop, java, "Hadoop itself does not start: `" + why + "`");
  }

  private void put(String hadoop, int java, String text) {
    rows.computeIfAbsent(hadoop, h -> new TreeMap<>()).put(java, text);
  }

  @Override
  public String toString() {
    List<Integer> javas =
        rows.values().stream().flatMap(r -> r.keySet().stream()).distinct().sorted().toList();
    List<String> lines = new ArrayList<>();
    lines.add(row("Hadoop", javas.stream().map(java -> "Java " + java).toList()));
    lines.add(row("---", javas.stream().map(java -> "---").toList()));
    rows.forEach(
        (hadoop, cells) ->
            lines.add(
                row(hadoop, javas.stream().map(j -> cells.getOrDefault(j, NOT_RUN)).toList())));
    return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
  }

  private static String row(String first, List<String> others) {
    return "| " + first + " | " + String.join(" | ", others) + " |";
  }
}
