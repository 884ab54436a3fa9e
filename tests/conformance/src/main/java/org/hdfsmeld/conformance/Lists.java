package org.hdfsmeld.conformance;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The lists in the jar: text files, of which a line with a # in front is a comment. */
final class Lists {
  private Lists() {}

  static List<String> read(String name) {
    try (InputStream in = Lists.class.getResourceAsStream("/conformance/" + name)) {
      return lines(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<String> lines(String text) {
    return text.lines().filter(line -> !line.isBlank() && !line.startsWith("#")).toList();
  }
}
