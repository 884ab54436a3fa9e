package org.hdfsmeld.conformance;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.hdfsmeld.hadoop.HadoopJars;

/**
 * What a command line asks for.
 *
 * @param hadoop a version of Hadoop
 * @param resume whether good results that an earlier run left are taken as they are
 * @param classes {@code all} (also when it is empty), {@code quick}, or names of classes
 */
record Request(String hadoop, boolean resume, List<String> classes) {

  /**
   * Reads a command line.
   *
   * @throws IllegalArgumentException on an option that there is not; says which there are
   */
  static Request parse(List<String> arguments) {
    String hadoop = HadoopJars.VERSIONS.get(HadoopJars.VERSIONS.size() - 1);
    boolean resume = false;
    List<String> classes = new ArrayList<>();
    Deque<String> left = new ArrayDeque<>(arguments);
    while (!left.isEmpty()) {
      String word = left.remove();
      if (word.equals("--resume")) {
        resume = true;
      } else if (word.equals("--hadoop")) {
        hadoop = left.isEmpty() ? "" : left.remove();
        if (!HadoopJars.VERSIONS.contains(hadoop)) {
          throw new IllegalArgumentException(
              "--hadoop takes one of " + String.join(", ", HadoopJars.VERSIONS));
        }
      } else if (word.startsWith("-")) {
        throw new IllegalArgumentException(
            "no option '" + word + "'; the options are: --hadoop VERSION, --resume");
      } else {
        classes.add(word);
      }
    }
    return new Request(hadoop, resume, classes);
  }
}
