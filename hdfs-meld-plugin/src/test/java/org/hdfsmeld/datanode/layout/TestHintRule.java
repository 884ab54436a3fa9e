package org.hdfsmeld.datanode.layout;

import static org.assertj.core.api.Assertions.assertThat;

import org.hdfsmeld.model.BlockHint;
import org.hdfsmeld.model.HintDecision;
import org.hdfsmeld.model.ReadPattern;
import org.hdfsmeld.sim.Directive;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TestHintRule {
  private static final long MIN = 2 << 20;
  private static final int SEQUENTIAL = 0x0F_0081;

  private final HintRule rule = new HintRule(true, MIN, 16 << 20);

  private static HintDecision explicit(ReadPattern pattern) {
    return HintDecision.explicit(new BlockHint(pattern, 0, 0, 0, 1));
  }

  private int directive(HintDecision decision, long bytes) {
    return rule.directive(rule.settle(decision, bytes));
  }

  @Test
  void undecidedABlockIsFullSizeOncePastTheMinimum() {
    HintDecision undecided = HintDecision.BY_SIZE;
    assertThat(rule.defers(undecided, MIN)).isTrue();
    assertThat(directive(undecided, MIN)).isEqualTo(Directive.NONE);
    assertThat(rule.settle(undecided, MIN).source()).isEqualTo(HintDecision.Source.NONE);
    assertThat(rule.defers(undecided, MIN + 1)).isFalse();
    assertThat(directive(undecided, MIN + 1)).isEqualTo(SEQUENTIAL);
    assertThat(rule.settle(undecided, MIN + 1).source()).isEqualTo(HintDecision.Source.FULL_BLOCK);
  }

  @Test
  void switchedOffNothingUndecidedIsDeferredOrHinted() {
    rule.setEnabled(false);
    assertThat(rule.defers(HintDecision.BY_SIZE, 1)).isFalse();
    assertThat(directive(HintDecision.BY_SIZE, 128 << 20)).isEqualTo(Directive.NONE);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsDecidedNeitherSizeNorSwitchChanges(boolean enabled) {
    rule.setEnabled(enabled);
    for (long bytes : new long[] {1, MIN, 128 << 20}) {
      assertThat(rule.defers(explicit(ReadPattern.SEQUENTIAL), bytes)).isFalse();
      assertThat(directive(explicit(ReadPattern.SEQUENTIAL), bytes)).isEqualTo(SEQUENTIAL);
      for (ReadPattern apart : new ReadPattern[] {ReadPattern.RANDOM, ReadPattern.NONE}) {
        assertThat(rule.defers(explicit(apart), bytes)).isFalse();
        assertThat(directive(explicit(apart), bytes)).isEqualTo(Directive.NONE);
        assertThat(rule.settle(explicit(apart), bytes).source())
            .isEqualTo(HintDecision.Source.EXPLICIT);
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
