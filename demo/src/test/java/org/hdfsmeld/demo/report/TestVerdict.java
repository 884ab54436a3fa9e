package org.hdfsmeld.demo.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.hdfsmeld.demo.layout.DemoResult;
import org.hdfsmeld.demo.layout.Rounds;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a bar is met. Normal takes 28 s in every sample. */
class TestVerdict {
  private static final String SAME = "0123456789abcdef";

  @ParameterizedTest
  @CsvSource({"true, 20, true", "true, 22, false", "false, 28, true", "false, 26, false"})
  void gain(boolean directive, double meldedSeconds, boolean met) {
    DemoResult result = Samples.result(directive, meldedSeconds, SAME);
    assertThat(result.gainEndToEnd()).isEqualTo(28 / meldedSeconds, within(1e-9));
    assertThat(Verdict.of(result).get(0).met()).isEqualTo(met);
  }

  @Test
  void medianRoundIsShown() {
    Rounds rounds = Samples.result(true, 20, SAME).undilated();
    assertThat(rounds.gains()).containsExactly(0.8, 1.0, 1.25);
    assertThat(rounds.gain()).isEqualTo(1.0);
    assertThat(rounds.contents()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({SAME + ", true", "ffffffffffffffff, false"})
  void checksums(String checksum, boolean met) {
    DemoResult result = Samples.result(true, 20, checksum);
    assertThat(result.checksumsAgree()).isEqualTo(met);
    assertThat(Verdict.of(result)).last().extracting(Verdict::met).isEqualTo(met);
  }
}
