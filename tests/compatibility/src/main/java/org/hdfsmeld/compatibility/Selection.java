package org.hdfsmeld.compatibility;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.hdfsmeld.hadoop.HadoopJars;

/**
 * What a command line asks for.
 *
 * @param hadoops versions of Hadoop
 * @param javas releases of Java
 * @param classes simple names of test classes; empty for the plan: all on the Java that most have,
 *     some on others
 */
record Selection(List<String> hadoops, List<Integer> javas, List<String> classes) {
  /** The Java that the plugin is built for. */
  static final int BASE = 17;

  private static final List<Integer> JAVAS = List.of(BASE, 21, 25);

  /** What uses each of the plugin's seams with Hadoop. */
  private static final List<String> QUICK =
      List.of("ITMeldDataNode", "ITHints", "ITKill", "ITMeldAdmin", "ITDaemons");

  /**
   * Reads {@code [quick] [--hadoop VERSION]... [--java RELEASE]... [CLASS]...}.
   *
   * @param known simple names of all test classes
   * @throws IllegalArgumentException on what it does not know; says what there is
   */
  static Selection of(List<String> words, Collection<String> known) {
    List<String> hadoops = new ArrayList<>();
    List<Integer> javas = new ArrayList<>();
    List<String> classes = new ArrayList<>();
    boolean quick = false;
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      String value = i + 1 < words.size() ? words.get(i + 1) : "";
      switch (word) {
        case "quick" -> quick = true;
        case "--hadoop" -> {
          hadoops.add(oneOf(HadoopJars.VERSIONS, value, word));
          i++;
        }
        case "--java" -> {
          List<String> releases = JAVAS.stream().map(java -> "" + java).toList();
          javas.add(Integer.parseInt(oneOf(releases, value, word)));
          i++;
        }
        default -> classes.add(oneOf(known, word, "class"));
      }
    }
    if (quick) {
      classes.addAll(QUICK);
    }
    return new Selection(
        hadoops.isEmpty()
            ? (quick ? HadoopJars.VERSIONS.subList(0, 1) : HadoopJars.VERSIONS)
            : hadoops,
        javas.isEmpty() ? (quick ? List.of(BASE) : JAVAS) : javas,
        classes);
  }

  private static String oneOf(Collection<String> known, String word, String what) {
    if (!known.contains(word)) {
      throw new IllegalArgumentException(
          "no %s '%s'; there are: %s".formatted(what, word, String.join(", ", known)));
    }
    return word;
  }

  /** The classes for a release of Java, by simple names. */
  List<String> classes(int java, Map<String, String> known) {
    if (!classes.isEmpty()) {
      return classes;
    }
    return java == BASE ? List.copyOf(known.keySet()) : QUICK;
  }
}
