package org.hdfsmeld.datanode;

import static org.assertj.core.api.Assertions.assertThat;

import org.hdfsmeld.sim.Directive;
import org.junit.jupiter.api.Test;

class TestHintRule {
  private static final long MIN = 2 << 20;

  private final HintRule rule = new HintRule(true, MIN, 16 << 20);

  @Test
  void aBlockIsFullSizeOncePastTheMinimum() {
    assertThat(rule.defers(MIN)).isTrue();
    assertThat(rule.directive(MIN)).isEqualTo(Directive.NONE);
    assertThat(rule.defers(MIN + 1)).isFalse();
    assertThat(rule.directive(MIN + 1)).isEqualTo(0x0F_0081);
  }

  @Test
  void switchedOffNothingIsDeferredOrHinted() {
    rule.setEnabled(false);
    assertThat(rule.defers(1)).isFalse();
    assertThat(rule.directive(128 << 20)).isEqualTo(Directive.NONE);
  }

  @Test
  void theDirectiveCarriesTheLog2OfTheExpectedReadIn64KibUnits() {
    assertThat(Directive.sequential(1)).isEqualTo(0x0F_0001);
    assertThat(Directive.sequential(128 << 10)).isEqualTo(0x0F_0011);
    assertThat(Directive.sequential(Long.MAX_VALUE)).isEqualTo(0x0F_00F1);
  }
}
