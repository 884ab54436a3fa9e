package org.hdfsmeld.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole workloads through the binding. */
class TestNativeSimRun {
  private static final String REQUEST =
      "{\"command\": \"me\", \"profile\": \"melded-tlc-8x8\", \"workload\": {\"job\":"
          + " {\"name\": \"größe.fio\", \"text\": \"[one]\\nsize=64k\\n\"}}}";

  @Test
  void givesTheResultAsText() throws SimException {
    String result = SimRun.run("", REQUEST);
    assertThat(result).startsWith("{\n  \"command\": \"me\",").endsWith("}\n");
    assertThat(result).contains("\"jobname\": \"one\"");
    assertThat(SimRun.run("", REQUEST)).isEqualTo(result);
  }

  @Test
  void refusesWithStatusAndText() {
    String wrong = REQUEST.replace("64k", "64q");
    SimException error = catchThrowableOfType(SimException.class, () -> SimRun.run("", wrong));
    assertThat(error.status()).isEqualTo(SimStatus.ARGUMENT);
    assertThat(error).hasMessageContaining("größe.fio:2: size");

    String noProfile = REQUEST.replace("tlc-8x8", "tlc-9x9");
    error = catchThrowableOfType(SimException.class, () -> SimRun.run("", noProfile));
    assertThat(error.status()).isEqualTo(SimStatus.PROFILE);

    error = catchThrowableOfType(SimException.class, () -> SimRun.run("/no/such.so", REQUEST));
    assertThat(error).hasMessageContaining("at /no/such.so; correct the argument of SimRun");
  }

  @Test
  void refusesWhatNobodyRecorded(@TempDir Path empty) {
    SimException error =
        catchThrowableOfType(
            SimException.class, () -> SimRun.joinTimeline("", empty, empty.resolve("out"), true));
    assertThat(error).hasMessageContaining("fetch brings them");
    error = catchThrowableOfType(SimException.class, () -> SimRun.report("", "{}"));
    assertThat(error.status()).isEqualTo(SimStatus.ARGUMENT);
    assertThat(error).hasMessageContaining("request: missing field");
  }
}
