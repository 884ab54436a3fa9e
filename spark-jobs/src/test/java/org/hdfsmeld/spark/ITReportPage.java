package org.hdfsmeld.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The suite's page in a browser: no console error, every chart drawn, readable wide and narrow. */
class ITReportPage {
  private static final int HEIGHT = 1000;

  @TempDir static Path folder;
  private static Path page;
  private static Browser browser;

  @BeforeAll
  static void open() throws Exception {
    Optional<Path> chromium = Browser.find();
    assumeTrue(
        chromium.isPresent(), "no Chromium on the path; on Debian: apt-get install chromium");
    Path samples = Files.createDirectory(folder.resolve("samples"));
    SuiteSamples.write(samples);
    SuiteSamples.sweep(samples);
    page = folder.resolve("report.html");
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    int code =
        Report.execute(
            new Report(),
            nowhere,
            nowhere,
            "--html",
            page.toString(),
            "--expect",
            "scan:melded/normal>=1.30",
            samples.toString());
    assertThat(code).isZero();
    browser = Browser.start(chromium.get(), Files.createDirectory(folder.resolve("profile")));
  }

  @AfterAll
  static void close() throws InterruptedException {
    if (browser != null) {
      browser.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1280, 400})
  void pageIsReadable(int width) throws Exception {
    browser.open(page, width, HEIGHT);
    browser.screenshot(Path.of("target", "report-" + width + ".png"));
    JsonNode found = probe();
    assertThat(problems(found)).isEmpty();
    assertThat(browser.errors()).isEmpty();
    assertThat(found.path("width").asInt()).isEqualTo(width);
    // By job 6, gain 2, waits 2, neighbours 2, heat maps 2.
    assertThat(found.path("charts").asInt()).isEqualTo(14);
  }

  @Test
  void brokenPageIsFoundOut() throws Exception {
    Path broken = folder.resolve("broken.html");
    Files.writeString(
        broken,
        """
        <!DOCTYPE html><main><section><p style="font-size:8px">small</p>
        <div class="bars"><div class="track"></div></div>
        <div class="plot"><svg viewBox="0 0 9 9"><polyline points=""/></svg></div>
        <div class="plot"><svg width="90" height="9" style="overflow:visible">
        <polyline points="0,0 900,400"/></svg></div>
        <p style="white-space:nowrap">"""
            + "wide ".repeat(100)
            + "</p></section></main><script>console.error('oh'); nosuch();</script>");
    browser.open(broken, 400, HEIGHT);
    assertThat(problems(probe()))
        .anyMatch(problem -> problem.startsWith("chart 1 has no marks"))
        .anyMatch(problem -> problem.startsWith("chart 2 has no marks"))
        .anyMatch(problem -> problem.startsWith("chart 3 draws outside of its box"))
        .anyMatch(problem -> problem.startsWith("text of 8 px: small"))
        .anyMatch(problem -> problem.startsWith("text leaves its section: wide"))
        .anyMatch(problem -> problem.startsWith("the page is wider than the window"));
    assertThat(browser.errors())
        .anyMatch(error -> error.contains("oh"))
        .anyMatch(error -> error.contains("nosuch"));
  }

  private static JsonNode probe() throws Exception {
    try (InputStream in = ITReportPage.class.getResourceAsStream("probe.js")) {
      return browser.evaluate(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static List<String> problems(JsonNode found) {
    List<String> problems = new ArrayList<>();
    found.path("problems").forEach(problem -> problems.add(problem.asText()));
    return problems;
  }
}
