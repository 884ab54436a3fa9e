package org.hdfsmeld.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.atomic.AtomicInteger;
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

  /** A small device that is full is written over, with a victim policy. */
  private static String overwrite(String victim) throws SimException {
    return SimRun.run(
        "",
        "{\"command\": \"me\", \"profile\": \"melded-tlc-8x8\", \"precondition\": \"fill=100,random=100\","
            + " \"set\": [\"geometry.blocks_per_plane=20\", \"geometry.wordlines_per_block=16\","
            + " \"gc.victim="
            + victim
            + "\"], \"workload\": {\"job\": {\"name\": \"x\", \"text\": \"[a]\\nrw=randwrite\\nbs=4k\\n"
            + "iodepth=32\\nsize=100%\\nio_size=1g\\nnorandommap=1\\n\"}}}");
  }

  private static String device(String result) {
    return result.substring(result.indexOf("\"device\": {"));
  }

  @Test
  void aVictimPolicyDoesWhatTheNativeOneDoes() throws SimException {
    AtomicInteger erased = new AtomicInteger();
    VictimPolicy greedy =
        new VictimPolicy() {
          @Override
          public int[] rank(Superblock[] candidates, int most, long now) {
            return Arrays.stream(candidates)
                .sorted(
                    Comparator.comparingInt(Superblock::valid)
                        .thenComparingLong(Superblock::closedAt)
                        .thenComparingInt(Superblock::number))
                .limit(most)
                .mapToInt(Superblock::number)
                .toArray();
          }

          @Override
          public void erased(int number) {
            erased.incrementAndGet();
          }
        };
    SimRun.register("", "of-java", "the one with fewest valid pages", (n, pages, given) -> greedy);
    overwrite("greedy");
    long begun = System.nanoTime();
    String expected = overwrite("greedy");
    long between = System.nanoTime();
    String found = overwrite("of-java");
    double rate = (double) (between - begun) / (System.nanoTime() - between);
    System.out.printf("rate with a victim policy: %.2f (measured)%n", rate);
    assertThat(device(found)).isEqualTo(device(expected));
    assertThat(erased).hasPositiveValue();
  }

  @Test
  void whatAPolicyThrowsIsTheCause() throws SimException {
    SimRun.register(
        "",
        "throws",
        "goes wrong",
        (n, pages, given) ->
            (candidates, most, now) -> {
              throw new IllegalStateException("of the policy");
            });
    SimRun.register("", "foreign", "", (n, pages, given) -> (all, most, now) -> new int[] {9999});
    SimException error = catchThrowableOfType(SimException.class, () -> overwrite("throws"));
    assertThat(error.status()).isEqualTo(SimStatus.POLICY);
    assertThat(error)
        .hasMessageContaining("gc.victim: policy \"throws\": rank threw")
        .hasCauseInstanceOf(IllegalStateException.class);
    error = catchThrowableOfType(SimException.class, () -> overwrite("foreign"));
    assertThat(error).hasMessageContaining("rank names superblock 9999, which was not given");
    assertThat(error).hasNoCause();
  }
}
