package org.hdfsmeld.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The example as {@code docs/reference/library.md} runs it: with what is packed, and JNA. */
class ITScanExample {
  @Test
  void needsThePackedJarAndJnaAlone() throws Exception {
    ProcessBuilder command =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            "native-sim/target/maven/*:native-sim/target/maven/lib/*",
            "native-sim/java/src/test/java/org/hdfsmeld/sim/ScanExample.java");
    Process example = command.directory(Path.of("..").toFile()).redirectErrorStream(true).start();
    byte[] said = example.getInputStream().readAllBytes();
    assertThat(new String(said, StandardCharsets.UTF_8))
        .contains("normal: ", "melded: ", " 0 melded reads (simulated)");
    assertThat(example.waitFor()).isZero();
  }
}
