package org.hdfsmeld.datanode.layout;

import static org.assertj.core.api.Assertions.assertThat;

import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.BlockKey;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.HintDecision.Source;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.Directive;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TestLayoutPolicy {
  private static final long MIN = 2 << 20;
  private static final int SEQUENTIAL = 0x0F_0081;
  private static final BlockKey BLOCK = new BlockKey("BP-1", 7);
  private static final int READ_DIRECTORY = 5;
  private static final HintDecision READ =
      new HintDecision(ReadPattern.RANDOM, Source.HISTORY, "points");

  private final LayoutPolicy policy =
      new LayoutPolicy(
          hint -> hint.parentKind() == READ_DIRECTORY ? READ : HintDecision.BY_SIZE,
          hint -> (int) hint.kind(),
          true,
          MIN,
          SEQUENTIAL);

  private static BlockHint hint(ReadPattern pattern, long directory) {
    return new BlockHint(pattern, 0, 1, directory, 3);
  }

  private HintDecision explicit(ReadPattern pattern) {
    return policy.decide(hint(pattern, 0));
  }

  private int directive(HintDecision decision, long bytes) {
    return policy.directive(0, policy.atSize(decision, bytes));
  }

  @ParameterizedTest
  @EnumSource(names = {"SEQUENTIAL", "RANDOM", "NONE"})
  void anAttributeDecidesBeforeTheHistory(ReadPattern pattern) {
    HintDecision decision = policy.decide(hint(pattern, READ_DIRECTORY));
    assertThat(decision.pattern()).isEqualTo(pattern);
    assertThat(decision.source()).isEqualTo(Source.EXPLICIT);
  }

  @ParameterizedTest
  @EnumSource(names = {"AUTO", "UNKNOWN"})
  void withoutOneTheHistoryDecidesAndThenTheSize(ReadPattern pattern) {
    assertThat(policy.decide(hint(pattern, READ_DIRECTORY))).isEqualTo(READ);
    assertThat(policy.decide(hint(pattern, 0)).pattern()).isEqualTo(ReadPattern.AUTO);
    assertThat(policy.decide(BlockHint.NONE)).isEqualTo(HintDecision.BY_SIZE);
  }

  /** A stream may be opened under HDFS's locks, before anything is known of its block. */
  @Test
  void ofABlockThatIsNotKnownTheHistoryIsNotAsked() {
    LayoutPolicy asking =
        new LayoutPolicy(
            hint -> {
              throw new AssertionError("asked");
            },
            hint -> {
              throw new AssertionError("asked");
            },
            true,
            MIN,
            SEQUENTIAL);
    assertThat(asking.decide(BlockHint.NONE)).isEqualTo(HintDecision.BY_SIZE);
    assertThat(asking.handle(BlockHint.NONE)).isZero();
  }

  /** A write has one directive. */
  @Test
  void aBlockOfAKnownLifetimeGoesToItsHandleHoweverItIsRead() {
    BlockHint known = new BlockHint(ReadPattern.SEQUENTIAL, 0, 5, 2, 3);
    assertThat(policy.handle(known)).isEqualTo(5);
    assertThat(policy.directive(5, policy.decide(known)))
        .isEqualTo(Directive.placement(5))
        .isEqualTo(0x02_0005);
    assertThat(policy.directive(0, policy.decide(known))).isEqualTo(SEQUENTIAL);
  }

  @Test
  void anInvalidValueIsSaid() {
    assertThat(policy.decide(new BlockHint(ReadPattern.UNKNOWN, 0, 1, 2, 0)).reason())
        .isEqualTo("user.meld.read-pattern of the file has an invalid value: size decides");
  }

  @Test
  void theReasonNamesWhoHasTheAttribute() {
    assertThat(policy.decide(new BlockHint(ReadPattern.NONE, 0, 1, 2, 1)).reason())
        .isEqualTo("user.meld.read-pattern of its directory");
    assertThat(policy.decide(new BlockHint(ReadPattern.NONE, 0, 1, 2, 4)).reason())
        .isEqualTo("user.meld.read-pattern of the directory 4 levels up");
  }

  @Test
  void bySizeABlockIsFullSizeOncePastTheMinimum() {
    HintDecision bySize = HintDecision.BY_SIZE;
    assertThat(policy.defers(bySize, MIN)).isTrue();
    assertThat(directive(bySize, MIN)).isEqualTo(Directive.NONE);
    assertThat(policy.atSize(bySize, MIN).source()).isEqualTo(Source.NONE);
    assertThat(policy.defers(bySize, MIN + 1)).isFalse();
    assertThat(directive(bySize, MIN + 1)).isEqualTo(SEQUENTIAL);
    assertThat(policy.atSize(bySize, MIN + 1).source()).isEqualTo(Source.FULL_BLOCK);
  }

  @Test
  void switchedOffNothingBySizeIsDeferredOrMelded() {
    policy.setFullBlockSequential(false);
    assertThat(policy.defers(HintDecision.BY_SIZE, 1)).isFalse();
    assertThat(directive(HintDecision.BY_SIZE, 128 << 20)).isEqualTo(Directive.NONE);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsDecidedNeitherSizeNorSwitchChanges(boolean fullBlockSequential) {
    policy.setFullBlockSequential(fullBlockSequential);
    for (long bytes : new long[] {1, MIN, 128 << 20}) {
      assertThat(policy.defers(explicit(ReadPattern.SEQUENTIAL), bytes)).isFalse();
      assertThat(directive(explicit(ReadPattern.SEQUENTIAL), bytes)).isEqualTo(SEQUENTIAL);
      for (ReadPattern apart : new ReadPattern[] {ReadPattern.RANDOM, ReadPattern.NONE}) {
        assertThat(policy.defers(explicit(apart), bytes)).isFalse();
        assertThat(directive(explicit(apart), bytes)).isEqualTo(Directive.NONE);
        assertThat(policy.atSize(explicit(apart), bytes).source()).isEqualTo(Source.EXPLICIT);
      }
    }
  }

  @Test
  void theDirectiveCarriesTheLog2OfTheExpectedReadIn64KibUnits() {
    assertThat(Directive.sequential(1)).isEqualTo(0x0F_0001);
    assertThat(Directive.sequential(128 << 10)).isEqualTo(0x0F_0011);
    assertThat(Directive.sequential(Long.MAX_VALUE)).isEqualTo(0x0F_00F1);
  }
}
