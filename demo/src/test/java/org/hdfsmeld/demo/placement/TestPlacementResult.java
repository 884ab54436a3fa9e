package org.hdfsmeld.demo.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class TestPlacementResult {
  private static final double PACE = 2;

  private static PlacementResult.Row row(Placement placement, double p99Ms, double scan) {
    List<Double> latencies =
        new ArrayList<>(DoubleStream.generate(() -> 1).limit(98).boxed().toList());
    latencies.add(p99Ms);
    latencies.add(p99Ms + 1000);
    return new PlacementResult.Row(
        placement, new MixedLoad.Outcome(latencies, scan), List.of(4L, 12L));
  }

  private static PlacementResult result(double contractP99Ms, double slowestScan) {
    return new PlacementResult(
        500,
        PACE,
        List.of(
            row(Placement.ALL_NAND, 50, PACE),
            row(Placement.ALL_OPTANE, 40, slowestScan),
            row(Placement.OPTANE_FIRST, 80, PACE),
            row(Placement.CONTRACT, contractP99Ms, PACE)));
  }

  @Test
  void percentilesAreOfTheNearestRank() {
    MixedLoad.Outcome outcome = row(Placement.CONTRACT, 20, PACE).outcome();
    assertThat(outcome.percentileMs(0.5)).isEqualTo(1);
    assertThat(outcome.percentileMs(0.99)).isEqualTo(20);
    assertThat(outcome.percentileMs(1)).isEqualTo(1020);
    assertThat(outcome.percentileMs(0)).isEqualTo(1);
  }

  @Test
  void theContractIsComparedWithTheBestOfTheOthers() {
    assertThat(result(20, PACE).gain()).isEqualTo(2);
    assertThat(result(20, PACE).contractWins()).isTrue();
    assertThat(result(20, PACE).table())
        .contains("met ", "(all-Optane)", "2.00 times lower", "all kept the pace")
        .doesNotContain("NOT");
  }

  @Test
  void aHigherTailIsSaid() {
    assertThat(result(41, PACE).contractWins()).isFalse();
    assertThat(result(41, PACE).table()).contains("NOT MET", "0.98 times lower");
  }

  @Test
  void scansThatAreNotEquallyFastAreNoComparison() {
    assertThat(result(20, 0.9 * PACE).contractWins()).isFalse();
    assertThat(result(20, 0.9 * PACE).table()).contains("NOT MET", "NOT ALL kept the pace");
  }

  @Test
  void theSameMoneyBuysLessOptane() {
    assertThat(Placement.ALL_NAND.capacity()).isEqualTo(2);
    assertThat(Placement.ALL_OPTANE.capacity()).isEqualTo(0.5);
    assertThat(Placement.CONTRACT.capacity()).isEqualTo(Placement.OPTANE_FIRST.capacity());
  }
}
