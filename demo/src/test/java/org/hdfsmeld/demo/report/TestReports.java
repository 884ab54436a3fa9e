package org.hdfsmeld.demo.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.hdfsmeld.demo.layout.DemoResult;
import org.hdfsmeld.spark.Report;
import org.hdfsmeld.spark.cli.Json;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The table and the page show the numbers, say what they are, and need nothing else. */
class TestReports {
  @TempDir static Path folder;
  private static final DemoResult RESULT = Samples.result(true, 20, "0123456789abcdef");

  @Test
  void pageShowsTheNumbersAndWhatTheyAre() {
    assertThat(page(RESULT))
        .contains("1.40×", "1.41×") // gain, published gain
        .contains("2,879", "4,071") // published device throughput
        .contains("30,000") // melded end to end: 6000 MiB in 0.2 device seconds
        .contains("95.0 %") // reader wait
        .contains("5.0 %", "3 rounds on the wall clock gave 0.80 to 1.25") // at own speed
        .contains("gain 1.00 times at most") // what devices that gain nothing leave
        .contains("time dilation 100")
        .contains("accounted, not paced")
        .contains("org.hdfsmeld.demo.Demo", "spark.master");
  }

  @Test
  void pageEscapesWhatTheUserTyped() {
    assertThat(page(RESULT)).contains("&lt;odd &amp; &quot;name&quot;&gt;").doesNotContain("<odd");
  }

  @Test
  void controlSaysThatItIsOne() {
    DemoResult control = Samples.result(false, 28, "0123456789abcdef");
    assertThat(page(control)).contains("Control").contains("1.000");
    assertThat(SummaryTable.of(control)).contains("control").contains("met     control:");
  }

  @Test
  void tableShowsTheNumbersAndWhatTheyAre() {
    assertThat(SummaryTable.of(RESULT).lines())
        .anyMatch(line -> line.matches("device throughput.* simulated +- +2,000 +2,000"))
        .anyMatch(line -> line.matches("end to end in device.* simulated +- +21,429 +30,000"))
        .anyMatch(line -> line.matches("end to end on the wall.* measured +600 +214 +300"))
        .anyMatch(line -> line.contains("1.40 end to end (simulated)"))
        .anyMatch(line -> line.contains("1.41 published"))
        .anyMatch(line -> line.matches("at the devices' own.* 5.0 %.* 1.00 .0.80 to 1.25."))
        .anyMatch(line -> line.matches("slowed down: .* 95.0 %.* measured 1.40"))
        .allMatch(line -> line.length() <= 100);
  }

  /** Drawn from the record as it is written. */
  private static String page(DemoResult result) {
    try {
      Path record =
          Files.writeString(folder.resolve("demo.json"), Json.pretty(Samples.run(result)));
      Path page = folder.resolve("demo.html");
      Report.draw(
          List.of(record), page, null, List.of(), "./meld demo --work-dir '<odd & \"name\">'");
      return Files.readString(page);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
