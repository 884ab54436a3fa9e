package org.hdfsmeld.report;

import java.util.List;
import java.util.Locale;

/** The suite as a table for the terminal; every number says what it is. */
public final class SuiteTable {
  private static final String ROW = "%-8s %-16s %3s %-17s %-10s %-9s %10s %10s %10s%n";

  private SuiteTable() {}

  /** Medians and spread, bottlenecks, and what was expected. */
  public static String of(Suite suite, List<Expectation.Outcome> outcomes) {
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(ROW, "job", "variant", "n", "figure", "unit", "", "median", "min", "max"));
    for (SuiteGroup group : suite.groups()) {
      group
          .figures()
          .forEach(
              (figure, spread) ->
                  out.append(
                      String.format(
                          Locale.ROOT,
                          ROW,
                          group.job(),
                          group.variant(),
                          spread.values().size(),
                          figure.key(),
                          figure.unit(),
                          figure.kind(),
                          figure.number(spread.median()),
                          figure.number(spread.min()),
                          figure.number(spread.max()))));
      out.append(
          String.format(
              "%-8s %-16s bottleneck: %s%n", group.job(), group.variant(), group.bottleneck()));
    }
    out.append(expectations(outcomes));
    return out.toString();
  }

  private static String expectations(List<Expectation.Outcome> outcomes) {
    StringBuilder out = new StringBuilder();
    for (Expectation.Outcome outcome : outcomes) {
      out.append(out.isEmpty() ? System.lineSeparator() : "")
          .append(
              String.format(
                  "%-14s %s: %s%n",
                  outcome.holds() ? "holds" : "DOES NOT HOLD",
                  outcome.expression(),
                  outcome.message()));
    }
    return out.toString();
  }
}
