package org.hdfsmeld.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The suite's page in a browser. */
class ITReportPage {
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

  @Test
  void pageIsReadable() throws Exception {
    assertThat(PageCheck.problems(browser, page, "suite")).isEmpty();
    browser.open(page, 1280, "light");
    // By job 6, gain 2, waits 2, neighbours 2, heat maps 2.
    assertThat(PageCheck.probe(browser).path("charts").asInt()).isEqualTo(14);
  }
}
