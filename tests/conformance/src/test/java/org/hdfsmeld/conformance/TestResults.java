package org.hdfsmeld.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.hdfsmeld.conformance.TestOutcome.Status;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a run takes over from an earlier one. */
class TestResults {
  private static final String CLASS = "org.example.TestX";

  @TempDir Path dir;
  private Path plugin;

  @BeforeEach
  void build() throws IOException {
    plugin = Files.writeString(dir.resolve("plugin.jar"), "one");
  }

  private Results results() throws IOException {
    return new Results(dir, plugin);
  }

  private static SideRun run(Status status) {
    return new SideRun(
        Map.of("id", TestOutcome.of("id", status, "why")), Map.of("forwarded_reads", 3L), true, 4);
  }

  private static Comparison comparison(Status withPlugin, Comparison again) {
    return new Comparison(CLASS, run(Status.PASSED), run(withPlugin), again);
  }

  @Test
  void aGoodResultIsKeptAsItWas() throws IOException {
    Comparison good = comparison(Status.FAILED, comparison(Status.PASSED, null));
    results().write(good);
    assertThat(results().read(CLASS)).contains(good);
  }

  @Test
  void aDifferenceIsRunAgain() throws IOException {
    results().write(comparison(Status.FAILED, null));
    assertThat(results().read(CLASS)).isEmpty();
  }

  @Test
  void aResultIsOfOnePluginAndOneClass() throws IOException {
    results().write(comparison(Status.PASSED, null));
    assertThat(results().read("org.other.TestX")).isEmpty();
    assertThat(results().read("org.example.TestY")).isEmpty();
    Files.writeString(plugin, "another");
    assertThat(results().read(CLASS)).isEmpty();
  }
}
