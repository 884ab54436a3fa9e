package org.hdfsmeld.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bad arguments: one message that names the option, exit code 2, nothing left behind. */
class TestArguments {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({
    "--scale, 0",
    "--scale, NaN",
    "--scale, big",
    "--files, 4",
    "--files, 0",
    "--dilation, 0",
    "--dilation, slow",
    "--dilation, 1e6",
    "--slowdown, 0.5",
    "--window, 16q",
    "--window, 1k",
    "--window, -1",
    "--window-mode, wide",
    "--block-size, 1k",
    "--directive, maybe",
    "--report, /no/such/directory/report.html",
    "--report, /tmp",
    "--work-dir, /no/such/directory",
    "--unheard-of, 1"
  })
  void areRefused(String option, String value) throws Exception {
    assertThat(execute(option, value)).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains(option.equals("--report") ? value : option)
        .contains("Try: ./meld demo --help")
        .hasLineCount(2);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void tooLittleRoomIsSaidBeforehand() throws Exception {
    assertThat(execute("--scale", "1000")).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("MiB free", "lower --scale");
    assertThat(directory).isEmptyDirectory();
  }

  @ParameterizedTest
  @CsvSource({
    "--dilation, 0",
    "--seconds, 0",
    "--file-size, 0",
    "--scan-rate, NaN",
    "--work-dir, /no/such/directory",
  })
  void ofPlacementAreRefused(String option, String value) {
    int code =
        Demo.execute(
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8),
            "placement",
            option,
            value);
    assertThat(code).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains(option).doesNotContain("\tat ");
  }

  @Test
  void helpNamesTheOptions() {
    assertThat(execute("--help")).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("--scale", "--dilation", "--window", "--profile", "--directive", "--report")
        .contains("--json", "--keep", "Exit code");
  }

  private int execute(String... arguments) {
    String[] all =
        Stream.concat(Stream.of("--work-dir=" + directory), Stream.of(arguments))
            .filter(word -> !(arguments[0].equals("--work-dir") && word.contains("=")))
            .toArray(String[]::new);
    return Demo.execute(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        all);
  }
}
