package org.hdfsmeld.conformance;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How one test ended.
 *
 * @param id JUnit's unique id
 * @param status how it ended
 * @param detail why, on one line; empty when it passed
 */
record TestOutcome(String id, Status status, String detail) {
  enum Status {
    PASSED,
    FAILED,
    /** An assumption did not hold. */
    ABORTED,
    /** Disabled. */
    SKIPPED,
    /** Its JVM ended, or was ended, before. */
    NOT_RUN
  }

  private static final int DETAIL_CHARACTERS = 300;
  private static final Pattern SEGMENT = Pattern.compile("\\[([a-z-]+):([^/]+)](?=/|$)");

  static TestOutcome of(String id, Status status, String detail) {
    String line = detail.strip().replaceAll("\\s+", " ");
    return new TestOutcome(
        id, status, line.substring(0, Math.min(line.length(), DETAIL_CHARACTERS)));
  }

  static TestOutcome notRun(String id) {
    return new TestOutcome(id, Status.NOT_RUN, "its JVM ended before");
  }

  /** The method's name with the number of a parameterized run; empty for the class as a whole. */
  String name() {
    StringBuilder name = new StringBuilder();
    Matcher segments = SEGMENT.matcher(id);
    while (segments.find()) {
      String value = segments.group(2);
      switch (segments.group(1)) {
        case "method", "test-template" -> name.append(value.replaceAll("\\(.*", ""));
        case "test-template-invocation", "class-template-invocation" ->
            name.append('[').append(value.substring(1)).append(']');
        // Of JUnit 4, whose parameterized runs are tests that hold the methods.
        case "test" ->
            name.replace(
                0,
                name.length(),
                URLDecoder.decode(value, StandardCharsets.UTF_8).replaceAll("\\(.*", ""));
        default -> {
          // The engine and the class, which all tests of a run share.
        }
      }
    }
    return name.toString();
  }
}
