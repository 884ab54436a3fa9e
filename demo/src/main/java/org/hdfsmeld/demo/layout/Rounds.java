package org.hdfsmeld.demo.layout;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * Several rounds of the same two scans at one dilation. The scans shown are those of the round with
 * the median gain, so that no round is chosen for its result.
 *
 * @param normal the normal layout, in the median round
 * @param melded the melded layout, in the median round
 * @param gains melded by normal, as Spark saw it, of every round, ascending
 * @param contents what was read: rows and checksum, each that occurred
 */
public record Rounds(
    VariantResult normal, VariantResult melded, List<Double> gains, List<String> contents) {

  /** The two scans of one round. */
  public record Pair(VariantResult normal, VariantResult melded) {
    double gain() {
      return melded.endToEndMibPerSecond() / normal.endToEndMibPerSecond();
    }
  }

  /**
   * Runs both scans so often. Every other round begins with the melded layout, so that neither is
   * always the second.
   */
  static Rounds run(int rounds, Callable<VariantResult> normal, Callable<VariantResult> melded)
      throws Exception {
    List<Pair> pairs = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      if (round % 2 == 0) {
        VariantResult first = normal.call();
        pairs.add(new Pair(first, melded.call()));
      } else {
        VariantResult first = melded.call();
        pairs.add(new Pair(normal.call(), first));
      }
    }
    return of(pairs);
  }

  /** Orders the rounds by gain; of an even number, the lower of the two in the middle is shown. */
  public static Rounds of(List<Pair> pairs) {
    List<Pair> byGain = pairs.stream().sorted(Comparator.comparingDouble(Pair::gain)).toList();
    Pair median = byGain.get((byGain.size() - 1) / 2);
    return new Rounds(
        median.normal(),
        median.melded(),
        byGain.stream().map(Pair::gain).toList(),
        pairs.stream()
            .flatMap(pair -> Stream.of(pair.normal(), pair.melded()))
            .map(VariantResult::content)
            .distinct()
            .toList());
  }

  /** The gain of the round that is shown. */
  public double gain() {
    return melded.endToEndMibPerSecond() / normal.endToEndMibPerSecond();
  }

  /** The least gain of a round. */
  public double least() {
    return gains.get(0);
  }

  /** The greatest gain of a round. */
  public double most() {
    return gains.get(gains.size() - 1);
  }
}
