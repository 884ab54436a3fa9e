package org.hdfsmeld.conformance;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is known of single tests, with reasons: {@code known-outcomes.txt}, a line of which is
 * {@code fails TEST reason}, or {@code skipped}, {@code unforwarded} or {@code unloaded CLASS
 * reason}.
 */
final class KnownOutcomes {
  private static final String FILE = "known-outcomes.txt";
  private static final String KINDS = "fails|skipped|unforwarded|unloaded";

  private final Map<String, String> reasons = new LinkedHashMap<>();

  private KnownOutcomes(List<String> lines) {
    for (String line : lines) {
      String[] words = line.split(" ", 3);
      if (words.length < 3 || !words[0].matches(KINDS)) {
        throw new IllegalArgumentException(
            FILE + ": no line of the form '" + KINDS + " TEST reason': " + line);
      }
      reasons.put(words[0] + " " + words[1], words[2]);
    }
  }

  static KnownOutcomes parse(String text) {
    return new KnownOutcomes(Lists.lines(text));
  }

  static KnownOutcomes read() {
    return new KnownOutcomes(Lists.read(FILE));
  }

  /** Why a test, as {@code Class#method}, fails on stock too. */
  Optional<String> fails(String test) {
    return Optional.ofNullable(reasons.get("fails " + test));
  }

  /** Why a class's tests skip themselves. */
  Optional<String> skipped(String simpleClassName) {
    return Optional.ofNullable(reasons.get("skipped " + simpleClassName));
  }

  /** Why a class gives the plugin's volumes nothing to forward. */
  Optional<String> unforwarded(String simpleClassName) {
    return Optional.ofNullable(reasons.get("unforwarded " + simpleClassName));
  }

  /** Why a class never loads the plugin, although it is configured. */
  Optional<String> unloaded(String simpleClassName) {
    return Optional.ofNullable(reasons.get("unloaded " + simpleClassName));
  }
}
