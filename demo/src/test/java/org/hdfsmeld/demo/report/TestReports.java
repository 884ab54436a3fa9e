package org.hdfsmeld.demo.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.hdfsmeld.demo.layout.DemoResult;
import org.hdfsmeld.report.Charts;
import org.hdfsmeld.report.Html;
import org.junit.jupiter.api.Test;

/** The table and the page show the numbers, say what they are, and need nothing else. */
class TestReports {
  private static final DemoResult RESULT = Samples.result(true, 20, "0123456789abcdef");
  private static final String PAGE = HtmlReport.of(RESULT, Samples.run(RESULT));

  @Test
  void pageShowsTheNumbersAndWhatTheyAre() {
    assertThat(PAGE)
        .contains("1.40×", "1.41×") // gain, published gain
        .contains("2,879", "4,071") // published device throughput
        .contains("30,000 MiB/s") // melded end to end: 6000 MiB in 0.2 device seconds
        .contains("95.0 %") // reader wait
        .contains("5.0 %", "1.00, 0.80 to 1.25 in 3 rounds") // at the devices' own speed
        .contains("a gain of 1.00 at most") // what devices that gain nothing leave
        .contains("time dilation 100")
        .contains("accounted, not paced")
        .contains("class=\"kind simulated\"", "class=\"kind measured\"", "class=\"kind published\"")
        .contains("org.hdfsmeld.demo.Demo", "spark.master");
  }

  @Test
  void pageNeedsNoNetwork() {
    assertThat(PAGE).doesNotContain("http:", "https:", "src=", "<link", "@import", "url(");
  }

  @Test
  void pageEscapesWhatTheUserTyped() {
    assertThat(PAGE).contains("&lt;odd &amp; &quot;name&quot;&gt;").doesNotContain("<odd");
  }

  @Test
  void pageIsBalanced() {
    for (String tag : List.of("div", "section", "table", "tr", "td", "svg", "p", "ul", "li")) {
      assertThat(count("<" + tag + "[ >]")).as(tag).isEqualTo(count("</" + tag + ">"));
    }
  }

  @Test
  void pageHasALineForEachDevice() {
    assertThat(count("<polyline class=\"line ")).isEqualTo(6);
    assertThat(PAGE).doesNotContain("NaN", "Infinity", "{{");
  }

  @Test
  void templateAsksOnlyForWhatThereIs() {
    assertThat(Html.fill("a{{x}}b{{y}}", Map.of("x", "{{y}}", "y", "1"))).isEqualTo("a{{y}}b1");
    assertThatThrownBy(() -> Html.fill("{{z}}", Map.of())).hasMessageContaining("z");
  }

  @Test
  void controlSaysThatItIsOne() {
    DemoResult control = Samples.result(false, 28, "0123456789abcdef");
    assertThat(HtmlReport.of(control, Samples.run(control))).contains("Control").contains("1.000");
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

  @Test
  void axesEndOnRoundNumbers() {
    assertThat(Charts.roundUp(0)).isEqualTo(1);
    assertThat(Charts.roundUp(4071)).isEqualTo(5000);
    assertThat(Charts.roundUp(1000)).isEqualTo(1000);
    assertThat(Charts.roundUp(9001)).isEqualTo(10000);
  }

  private static long count(String pattern) {
    return Pattern.compile(pattern).matcher(PAGE).results().count();
  }
}
