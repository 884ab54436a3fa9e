package org.hdfsmeld.conformance;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The classes that are run: {@code classes.txt}. */
final class TestClasses {
  private final Map<String, Boolean> quick = new LinkedHashMap<>();

  private TestClasses(String text) {
    for (String line : text.lines().filter(line -> !line.startsWith("#")).toList()) {
      String[] words = line.split(" ");
      quick.put(words[0], words.length > 1 && words[1].equals("quick"));
    }
  }

  static TestClasses read() {
    return new TestClasses(KnownOutcomes.resource("/conformance/classes.txt"));
  }

  /**
   * The classes that a command line asks for: {@code all} (also when it is empty), {@code quick},
   * or names, simple or with their package.
   *
   * @throws IllegalArgumentException on a name that is not listed; says which are
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
      selected.add(
          quick.keySet().stream()
              .filter(name -> name.equals(word) || Comparison.simpleName(name).equals(word))
              .findFirst()
              .orElseThrow(() -> new IllegalArgumentException(unknown(word))));
    }
    return selected;
  }

  private String unknown(String word) {
    List<String> names = quick.keySet().stream().map(Comparison::simpleName).toList();
    return "no class '" + word + "'; use all, quick, or some of " + String.join(", ", names);
  }
}
