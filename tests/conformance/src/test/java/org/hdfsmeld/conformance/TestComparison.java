package org.hdfsmeld.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hdfsmeld.conformance.TestOutcome.Status;
import org.junit.jupiter.api.Test;

/** What counts as a difference, and what a run without one still has to prove. */
class TestComparison {
  private static final String CLASS = "org.example.TestX";
  private static final String PREFIX = "[engine:junit-jupiter]/[class:" + CLASS + "]";
  private static final Map<String, Long> SEEN = Map.of("forwarded_reads", 3L);

  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  private static String id(String method) {
    return PREFIX + "/[method:" + method + "()]";
  }

  /** A run of tests that ended so, in this order: {@code a}, {@code b}, and so on. */
  private static SideRun run(Map<String, Long> events, Status... statuses) {
    Map<String, TestOutcome> outcomes = new LinkedHashMap<>();
    for (int i = 0; i < statuses.length; i++) {
      String id = id(String.valueOf((char) ('a' + i)));
      outcomes.put(id, TestOutcome.of(id, statuses[i], ""));
    }
    return new SideRun(outcomes, events, true, 0);
  }

  private static Comparison of(SideRun stock, SideRun plugin, Comparison again) {
    return new Comparison(CLASS, stock, plugin, again);
  }

  /** A class in which all is well. */
  private static Comparison named(String name, Map<String, Long> events) {
    SideRun stock = run(Map.of(), Status.PASSED);
    return new Comparison("org.example." + name, stock, run(events, Status.PASSED), null);
  }

  private boolean good(String known, Comparison... runs) {
    PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    return new Report(out, KnownOutcomes.parse(known)).summary(List.of(runs));
  }

  private String printed() {
    return printed.toString(StandardCharsets.UTF_8);
  }

  @Test
  void theSameOutcomesAreIdentical() {
    Comparison same =
        of(
            run(Map.of(), Status.PASSED, Status.FAILED),
            run(SEEN, Status.PASSED, Status.FAILED),
            null);
    assertThat(same.identical()).isTrue();
    assertThat(good("fails TestX#b because", same)).isTrue();
    assertThat(printed()).contains("fails on stock too: TestX#b: because").contains("as stock");
  }

  @Test
  void aTestThatFailsOnlyWithThePluginIsADifference() {
    Comparison other =
        of(
            run(Map.of(), Status.PASSED, Status.PASSED),
            run(SEEN, Status.PASSED, Status.FAILED),
            null);
    assertThat(other.differences()).extracting(Comparison.Pair::test).containsExactly("TestX#b");
    assertThat(good("", other)).isFalse();
    assertThat(printed()).contains("different: TestX#b: stock PASSED, plugin FAILED");
  }

  @Test
  void aTestThatPassesOnlyWithThePluginIsOneToo() {
    assertThat(of(run(Map.of(), Status.FAILED), run(SEEN, Status.PASSED), null).identical())
        .isFalse();
  }

  @Test
  void aTestMissingOnOneSideIsADifference() {
    Comparison other =
        of(run(Map.of(), Status.PASSED, Status.PASSED), run(SEEN, Status.PASSED), null);
    assertThat(other.differences()).hasSize(1);
    assertThat(other.differences().get(0).plugin().status()).isEqualTo(Status.NOT_RUN);
  }

  @Test
  void whatIsTheSameWhenRunAgainIsUnsteadyAndNoDifference() {
    Comparison again = of(run(Map.of(), Status.PASSED), run(SEEN, Status.PASSED), null);
    Comparison first = of(run(Map.of(), Status.FAILED), run(SEEN, Status.PASSED), again);
    assertThat(first.identical()).isTrue();
    assertThat(first.counts()).containsOnlyKeys(Status.PASSED);
    assertThat(good("", first)).isTrue();
    assertThat(printed()).contains("unsteady").contains("TestX#a");
  }

  @Test
  void whatFailsOnBothForNoKnownReasonIsInDoubt() {
    Comparison failing = of(run(Map.of(), Status.FAILED), run(SEEN, Status.FAILED), null);
    assertThat(failing.doubtful(KnownOutcomes.parse(""))).hasSize(1);
    assertThat(failing.doubtful(KnownOutcomes.parse("fails TestX#a because"))).isEmpty();
    Comparison again = of(run(Map.of(), Status.PASSED), run(SEEN, Status.PASSED), null);
    Comparison settled = of(failing.stock(), failing.plugin(), again);
    assertThat(settled.counts()).containsOnlyKeys(Status.PASSED);
    assertThat(settled.unsteady()).hasSize(1);
  }

  @Test
  void whatDiffersTwiceIsADifference() {
    Comparison again = of(run(Map.of(), Status.PASSED), run(SEEN, Status.FAILED), null);
    assertThat(of(run(Map.of(), Status.PASSED), run(SEEN, Status.FAILED), again).differences())
        .hasSize(1);
  }

  @Test
  void aJvmThatWasEndedIsNoSuccess() {
    SideRun ended = new SideRun(run(SEEN, Status.PASSED).outcomes(), SEEN, false, 0);
    Comparison run = of(run(Map.of(), Status.PASSED), ended, null);
    assertThat(run.differences()).isEmpty();
    assertThat(good("", run)).isFalse();
    assertThat(printed()).contains("not finished: TestX");
  }

  @Test
  void aClassWithoutTestsIsNoSuccess() {
    assertThat(of(run(Map.of()), run(SEEN), null).identical()).isFalse();
  }

  @Test
  void outcomesProveNothingWhenThePluginSawNothing() {
    Comparison unseen = of(run(Map.of(), Status.PASSED), run(Map.of(), Status.PASSED), null);
    assertThat(good("", unseen)).isFalse();
    assertThat(printed()).contains("not forwarded: the plugin saw nothing of TestX");
    assertThat(good("unforwarded TestX because", unseen)).as("without volumes").isFalse();
  }

  @Test
  void aClassMayBeKnownToGiveThePluginNothing() {
    String known = "unforwarded TestIdle has no data\nunloaded TestSimulated has another dataset";
    Comparison seen = named("TestX", SEEN);
    Comparison idle = named("TestIdle", Map.of("volumes", 1L));
    Comparison simulated = named("TestSimulated", Map.of());
    assertThat(good(known, seen, idle, simulated)).isTrue();
    assertThat(printed())
        .contains("nothing to forward: TestIdle: has no data")
        .contains("not loaded: TestSimulated: has another dataset");
    assertThat(good(known, seen, named("TestSimulated", Map.of("volumes", 1L))))
        .as("loaded after all")
        .isFalse();
  }

  @Test
  void aClassThatSkipsItselfNeedsNoProof() {
    Comparison skipped = of(run(Map.of(), Status.ABORTED), run(Map.of(), Status.ABORTED), null);
    assertThat(good("", skipped)).as("nothing in all").isFalse();
    assertThat(printed()).doesNotContain("nothing of TestX").contains("skips itself: TestX");
  }

  /** One verdict, which names the classes that it is about. */
  @Test
  void theVerdictSaysWhichClasses() {
    Comparison skipped = of(run(Map.of(), Status.ABORTED), run(Map.of(), Status.ABORTED), null);
    assertThat(good("", skipped)).isFalse();
    assertThat(printed())
        .doesNotContain("0 differ")
        .doesNotContain("NOT as stock")
        .endsWith("Verdict: not proven to be as stock. Skipped themselves on both sides: TestX.\n");
    assertThat(good("", named("TestY", SEEN), skipped)).isTrue();
    assertThat(printed())
        .endsWith(
            "Verdict: as stock. Every test ends the same way with the plugin."
                + " Skipped themselves on both sides: TestX.\n");
    Comparison other =
        new Comparison(
            "org.example.TestZ", run(Map.of(), Status.PASSED), run(SEEN, Status.FAILED), null);
    assertThat(good("", named("TestIdle", Map.of()), other)).isFalse();
    assertThat(printed())
        .endsWith(
            "Verdict: NOT as stock. Different: TestZ. The plugin saw nothing of: TestIdle.\n");
  }

  @Test
  void testsAreNamedByMethodAndRun() {
    assertThat(TestOutcome.of(id("testA"), Status.PASSED, "").name()).isEqualTo("testA");
    assertThat(
            TestOutcome.of(
                    PREFIX
                        + "/[test-template:testB(int, java.lang.String)]/[test-template-invocation:#2]",
                    Status.PASSED,
                    "")
                .name())
        .isEqualTo("testB[2]");
    assertThat(TestOutcome.of(PREFIX, Status.ABORTED, "").name()).isEmpty();
    String vintage = "[engine:junit-vintage]/[runner:" + CLASS + "]";
    assertThat(TestOutcome.of(vintage + "/[test:testC(" + CLASS + ")]", Status.PASSED, "").name())
        .isEqualTo("testC");
    assertThat(
            TestOutcome.of(
                    vintage + "/[test:%5B1%5D]/[test:testD%5B1%5D(" + CLASS + ")]",
                    Status.PASSED,
                    "")
                .name())
        .isEqualTo("testD[1]");
  }
}
