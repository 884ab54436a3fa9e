package org.hdfsmeld.demo.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hdfsmeld.demo.layout.DemoResult;
import org.hdfsmeld.spark.Browser;
import org.hdfsmeld.spark.PageCheck;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo's page, and that of a control, in a browser. */
class ITReportPage {
  @TempDir Path folder;

  @Test
  void pagesAreReadable() throws Exception {
    Optional<Path> chromium = Browser.find();
    assumeTrue(
        chromium.isPresent(), "no Chromium on the path; on Debian: apt-get install chromium");
    List<String> problems = new ArrayList<>();
    Path profile = Files.createDirectory(folder.resolve("profile"));
    try (Browser browser = Browser.start(chromium.get(), profile)) {
      for (boolean directive : List.of(true, false)) {
        DemoResult result = Samples.result(directive, directive ? 20 : 28, "0123456789abcdef");
        Path page = folder.resolve(directive + ".html");
        Files.writeString(page, HtmlReport.of(result, Samples.run(result)));
        problems.addAll(PageCheck.problems(browser, page, directive ? "demo" : "demo-control"));
      }
    }
    assertThat(problems).isEmpty();
  }
}
