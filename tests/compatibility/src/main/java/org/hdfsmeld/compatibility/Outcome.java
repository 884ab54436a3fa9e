package org.hdfsmeld.compatibility;

import static java.util.regex.Pattern.DOTALL;
import static java.util.regex.Pattern.MULTILINE;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * What came of one test class.
 *
 * @param why of the first failure, on one line; empty when there is none
 */
record Outcome(int passed, int failed, int skipped, Duration took, String why) {
  /** What is thrown, up to its stack: first the outermost, then what caused it. */
  private static final Pattern THROWN =
      Pattern.compile("(?:\\A|^Caused by: )(.+?)(?=\\n\\s+at |\\z)", DOTALL | MULTILINE);

  private static final int WHY_CHARACTERS = 200;

  boolean good() {
    return failed == 0 && passed > 0;
  }

  Outcome and(Outcome other) {
    return new Outcome(
        passed + other.passed,
        failed + other.failed,
        skipped + other.skipped,
        took.plus(other.took),
        why.isEmpty() ? other.why : why);
  }

  @Override
  public String toString() {
    List<String> parts = new ArrayList<>(List.of(passed + " passed"));
    if (skipped > 0) {
      parts.add(skipped + " skipped");
    }
    if (failed > 0) {
      parts.add(failed + " FAILED: " + why);
    }
    return String.join(", ", parts);
  }

  /** From the report that JUnit wrote. */
  static Outcome read(Path report, Duration took) throws IOException {
    NodeList tests;
    try {
      tests =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(report.toFile())
              .getElementsByTagName("testcase");
    } catch (ParserConfigurationException | SAXException e) {
      throw new IOException(report + " is no report of JUnit", e);
    }
    Outcome all = new Outcome(0, 0, 0, took, "");
    for (int i = 0; i < tests.getLength(); i++) {
      Element test = (Element) tests.item(i);
      Element failure = (Element) test.getElementsByTagName("failure").item(0);
      if (failure == null) {
        failure = (Element) test.getElementsByTagName("error").item(0);
      }
      if (failure != null) {
        String why = test.getAttribute("name") + ": " + rootCause(failure.getTextContent());
        all = all.and(new Outcome(0, 1, 0, Duration.ZERO, why));
      } else if (test.getElementsByTagName("skipped").getLength() > 0) {
        all = all.and(new Outcome(0, 0, 1, Duration.ZERO, ""));
      } else {
        all = all.and(new Outcome(1, 0, 0, Duration.ZERO, ""));
      }
    }
    return all;
  }

  private static String rootCause(String stackTrace) {
    String cause = "";
    Matcher thrown = THROWN.matcher(stackTrace.strip());
    while (thrown.find()) {
      cause = thrown.group(1).replaceAll("\\s+", " ");
    }
    return cause.substring(0, Math.min(cause.length(), WHY_CHARACTERS));
  }

  /** What was kept, where it is of the same content and good: the rest is run again. */
  static Optional<Outcome> kept(Path file, String key) throws IOException {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    Properties kept = new Properties();
    try (Reader in = Files.newBufferedReader(file)) {
      kept.load(in);
    }
    if (!kept.getProperty("key", "").equals(key)) {
      return Optional.empty();
    }
    Outcome outcome =
        new Outcome(
            Integer.parseInt(kept.getProperty("passed")),
            Integer.parseInt(kept.getProperty("failed")),
            Integer.parseInt(kept.getProperty("skipped")),
            Duration.ofSeconds(Long.parseLong(kept.getProperty("seconds"))),
            kept.getProperty("why"));
    return Optional.of(outcome).filter(Outcome::good);
  }

  void keep(Path file, String key) throws IOException {
    Properties kept = new Properties();
    kept.setProperty("key", key);
    kept.setProperty("passed", Integer.toString(passed));
    kept.setProperty("failed", Integer.toString(failed));
    kept.setProperty("skipped", Integer.toString(skipped));
    kept.setProperty("seconds", Long.toString(took.toSeconds()));
    kept.setProperty("why", why);
    try (Writer out = Files.newBufferedWriter(file)) {
      kept.store(out, null);
    }
  }
}
