package org.hdfsmeld.demo.placement;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * What the four placements gave.
 *
 * @param dilation wall seconds of a simulated second
 * @param scanMibPerSecond the pace of all scans together, wall time
 */
public record PlacementResult(double dilation, double scanMibPerSecond, List<Row> rows) {
  /** Scans of which each gets this share of the pace are equally fast. */
  private static final double EQUAL = 0.97;

  private static final String ROW = "%-14s %9s %12s %12s %12s %12s %14s  %s%n";

  /**
   * One placement.
   *
   * @param blocks on each volume
   */
  record Row(Placement placement, MixedLoad.Outcome outcome, List<Long> blocks) {
    double p99Ms() {
      return outcome.percentileMs(0.99);
    }
  }

  private Row row(Placement placement) {
    return rows.stream().filter(row -> row.placement() == placement).findFirst().orElseThrow();
  }

  /** Of the placements that are not the contract's, the one with the lowest p99. */
  private Row bestOther() {
    return rows.stream()
        .filter(row -> row.placement() != Placement.CONTRACT)
        .min(Comparator.comparingDouble(Row::p99Ms))
        .orElseThrow();
  }

  /** Whether every placement kept the pace of the scans. */
  public boolean scansEquallyFast() {
    return rows.stream()
        .allMatch(row -> row.outcome().scanMibPerSecond() >= EQUAL * scanMibPerSecond);
  }

  /** How many times lower the contract's p99 is than the best of the others. */
  public double gain() {
    return bestOther().p99Ms() / row(Placement.CONTRACT).p99Ms();
  }

  /** Whether its p99 is lower than any other, at equally fast scans. */
  public boolean contractWins() {
    return scansEquallyFast() && gain() > 1;
  }

  /** The result as a table; every number says what it is. */
  public String table() {
    StringBuilder out = new StringBuilder(System.lineSeparator());
    out.append(
        String.format(
            ROW, "", "capacity", "lookups", "p50, ms", "p99, ms", "p99, us", "scan, MiB/s", ""));
    out.append(
        String.format(
            ROW,
            "placement",
            "assumed",
            "measured",
            "measured",
            "measured",
            "device time",
            "device time",
            "blocks by device"));
    for (Row row : rows) {
      MixedLoad.Outcome outcome = row.outcome();
      out.append(
          String.format(
              ROW,
              row.placement().title(),
              number("%.2f", row.placement().capacity()),
              outcome.lookupMs().size(),
              number("%,.1f", outcome.percentileMs(0.5)),
              number("%,.1f", row.p99Ms()),
              number("%,.1f", 1000 * row.p99Ms() / dilation),
              number("%,.0f", outcome.scanMibPerSecond() * dilation),
              blocks(row)));
    }
    out.append(
        String.format(
            Locale.ROOT,
            "%ncapacity: of two devices for the same money, in NAND devices; a byte on Optane costs"
                + " %.0f times a byte on NAND (assumption)%n"
                + "scans are paced: %,.0f MiB/s of device time in every placement; %s%n"
                + "time dilation %,.0f (device time = wall time / dilation, with what HDFS itself"
                + " takes in it)%n%n",
            Placement.PRICE_RATIO,
            scanMibPerSecond * dilation,
            scansEquallyFast() ? "all kept the pace" : "NOT ALL kept the pace",
            dilation));
    out.append(
        String.format(
            Locale.ROOT,
            "%-7s the contract's split has a lower p99 of lookups than the best of the others (%s),"
                + " at equal scan throughput: %.2f times lower%n",
            contractWins() ? "met" : "NOT MET",
            bestOther().placement().title(),
            gain()));
    return out.toString();
  }

  private static String blocks(Row row) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < row.blocks().size(); i++) {
      out.append(out.isEmpty() ? "" : ", ");
      out.append(row.placement().profiles().get(i)).append(' ').append(row.blocks().get(i));
    }
    return out.toString();
  }

  private static String number(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }

  /** The figures for programs. */
  public List<Figures> figures() {
    return rows.stream()
        .map(
            row ->
                new Figures(
                    row.placement().title(),
                    row.outcome().lookupMs().size(),
                    row.outcome().percentileMs(0.5),
                    row.p99Ms(),
                    row.outcome().percentileMs(1),
                    row.outcome().scanMibPerSecond(),
                    row.blocks()))
        .toList();
  }

  /** A row without its samples. */
  public record Figures(
      String placement,
      int lookups,
      double p50Ms,
      double p99Ms,
      double maxMs,
      double scanMibPerSecond,
      List<Long> blocks) {}
}
