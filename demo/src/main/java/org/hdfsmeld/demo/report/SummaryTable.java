package org.hdfsmeld.demo.report;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.hdfsmeld.demo.layout.DemoResult;
import org.hdfsmeld.demo.layout.Rounds;
import org.hdfsmeld.demo.layout.VariantResult;
import org.hdfsmeld.demo.volumes.DeviceFigures;

/** The result as a table for the terminal; every number says what it is. */
public final class SummaryTable {
  private static final String ROW = "%-44s %-9s %12s %12s %12s%n";

  private final StringBuilder out = new StringBuilder();
  private final DemoResult result;

  private SummaryTable(DemoResult result) {
    this.result = result;
  }

  /** The table, in lines of at most 100 characters. */
  public static String of(DemoResult result) {
    SummaryTable table = new SummaryTable(result);
    table.figures();
    table.gain();
    table.verdicts();
    return table.out.toString();
  }

  private void figures() {
    out.append(System.lineSeparator());
    out.append(String.format(ROW, "", "", "stock", "normal", result.displayName(result.melded())));
    row("device throughput, MiB/s", "simulated", v -> number(v.all().mibPerSecond()));
    row("end to end in device time, MiB/s", "simulated", v -> number(v.endToEndMibPerSecond()));
    all("end to end on the wall clock, MiB/s", "measured", v -> number(v.wallMibPerSecond()));
    all("scan, wall seconds", "measured", v -> String.format(Locale.ROOT, "%.1f", v.wallSeconds()));
    row("readers waiting for the device", "measured", v -> percent(v.readerWaitShare()));
    row("reads outstanding, share of the scan", "simulated", this::activeShares);
    row("dies busy while reading", "simulated", v -> percent(v.all().dieUtilisation()));
    row("channels busy while reading", "simulated", v -> percent(v.all().channelUtilisation()));
    out.append(
        String.format(
            ROW,
            "melded pages, share written",
            "simulated",
            "-",
            percent(result.dataSets().get(0).meldedMappedShare()),
            percent(result.dataSets().get(1).meldedMappedShare())));
    row("melded pages, share read", "simulated", v -> percent(v.all().meldedReadShare()));
    all("checksum of the content", "measured", v -> v.scan().checksum().substring(0, 12));
  }

  private void gain() {
    out.append(
        String.format(
            Locale.ROOT,
            "%ngain melded / normal: %.2f end to end (simulated), %.2f devices alone (simulated),"
                + " %.2f published%n",
            result.gainEndToEnd(),
            result.gainDevice(),
            result.gainPublished()));
    ends();
    out.append(
        String.format(
            Locale.ROOT,
            "time dilation %,.0f (device time = wall time / dilation); writes were accounted, not"
                + " paced%n%n",
            result.calibration().dilation()));
  }

  /** The gain where readers wait little, and where they wait nearly always. */
  private void ends() {
    Rounds undilated = result.undilated();
    end("at the devices' own speed", undilated.normal(), undilated.gains());
    end("slowed down", result.normal(), result.gains());
  }

  private void end(String name, VariantResult normal, List<Double> gains) {
    double median = gains.get((gains.size() - 1) / 2);
    out.append(
        String.format(
            Locale.ROOT,
            "%-26s readers wait %5.1f %%, gain at most %.2f, measured %.2f%s%n",
            name + ":",
            100 * normal.readerWaitShare(),
            result.mostGain(normal),
            median,
            gains.size() == 1
                ? ""
                : String.format(
                    Locale.ROOT, " (%.2f to %.2f)", gains.get(0), gains.get(gains.size() - 1))));
  }

  private void verdicts() {
    for (Verdict verdict : Verdict.of(result)) {
      out.append(
          String.format(
              "%-7s %s: %s%n", verdict.met() ? "met" : "NOT MET", verdict.bar(), verdict.value()));
    }
  }

  /** A row that stock has no value for. */
  private void row(String name, String kind, Function<VariantResult, String> value) {
    out.append(
        String.format(
            ROW, name, kind, "-", value.apply(result.normal()), value.apply(result.melded())));
  }

  private void all(String name, String kind, Function<VariantResult, String> value) {
    List<String> values = result.variants().stream().map(value).toList();
    out.append(String.format(ROW, name, kind, values.get(0), values.get(1), values.get(2)));
  }

  private String activeShares(VariantResult variant) {
    StringBuilder shares = new StringBuilder();
    for (DeviceFigures device : variant.devices()) {
      shares.append(shares.isEmpty() ? "" : "/");
      shares.append(Math.round(100 * device.readActiveShare()));
    }
    return shares + " %";
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%,.0f", value);
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }
}
