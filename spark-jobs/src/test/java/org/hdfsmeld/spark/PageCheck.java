package org.hdfsmeld.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Looks at a page in a browser, wide and narrow, light and dark: nothing is cut, nothing overlaps,
 * text has contrast, series are told apart without colour. The simulator's pages are looked at with
 * the same script.
 */
public final class PageCheck {
  /** Of the project, beside those of the simulator's pages. */
  private static final Path SCREENSHOTS = Path.of("..", "target", "pages");

  private PageCheck() {}

  /** What a reader would stumble over in any of the four views; screenshots are left. */
  public static List<String> problems(Browser browser, Path page, String name) throws Exception {
    List<String> problems = new ArrayList<>();
    Files.createDirectories(SCREENSHOTS);
    for (int width : List.of(1280, 390)) {
      for (String scheme : List.of("light", "dark")) {
        String view = name + "-" + width + "-" + scheme;
        browser.open(page, width, scheme);
        browser.screenshot(SCREENSHOTS.resolve(view + ".png"));
        problems.addAll(found(browser, view));
        // All that is folded.
        browser.evaluate(
            "document.querySelectorAll('details').forEach((part) => { part.open = true; })");
        browser.fit(width);
        problems.addAll(found(browser, view));
        browser.errors().forEach(error -> problems.add(view + ": " + error));
      }
    }
    return problems.stream().distinct().toList();
  }

  /** What the script finds in the page that is open. */
  static JsonNode probe(Browser browser) throws Exception {
    try (InputStream in = PageCheck.class.getResourceAsStream("probe.js")) {
      return browser.evaluate(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  private static List<String> found(Browser browser, String view) throws Exception {
    List<String> problems = new ArrayList<>();
    probe(browser)
        .path("problems")
        .forEach(problem -> problems.add(view + ": " + problem.asText()));
    return problems;
  }
}
