package org.hdfsmeld.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A soak of some seconds; {@code ./meld soak} is the long one. */
class ITSoak {
  @Test
  void nothingIsWrongAfterwards() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    boolean passed;
    try (PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8)) {
      passed = new Soak(TimeUnit.SECONDS.toNanos(40), print).run();
    }
    String text = out.toString(StandardCharsets.UTF_8);
    assertThat(passed).as(text).isTrue();
    assertThat(text).contains("restarts").doesNotContain("ERROR");
  }
}
