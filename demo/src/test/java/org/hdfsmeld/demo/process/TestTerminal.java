package org.hdfsmeld.demo.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Progress in place, and as lines. */
class TestTerminal {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  @Test
  void aLogGetsALineWhenAStageStartsAndOneWhenItEnds() throws Exception {
    try (Terminal terminal = terminal(false)) {
      terminal.stage("first", () -> 0.5, () -> 7, result -> "found " + result);
    }
    assertThat(text().lines()).hasSize(2);
    assertThat(text()).startsWith("[1/2] first").contains("done in", "found 7");
    assertThat(text()).doesNotContain("\r");
  }

  @Test
  void aTerminalIsDrawnInPlace() throws Exception {
    try (Terminal terminal = terminal(true)) {
      terminal.stage("first", () -> 0.5, () -> 7, result -> "");
    }
    assertThat(text()).contains("\r\033[K").contains("[1/2] first").contains("done");
  }

  @Test
  void aFailureIsPassedOn() {
    try (Terminal terminal = terminal(false)) {
      assertThatThrownBy(
              () ->
                  terminal.stage(
                      "first",
                      () -> 0,
                      () -> {
                        throw new IllegalStateException("no");
                      },
                      result -> ""))
          .hasMessage("no");
    }
    assertThat(text()).doesNotContain("done");
  }

  private Terminal terminal(boolean inPlace) {
    return new Terminal(new PrintStream(bytes, true, StandardCharsets.UTF_8), inPlace, 2);
  }

  private String text() {
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
