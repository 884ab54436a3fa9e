package org.hdfsmeld.demo.report;

import static org.hdfsmeld.report.Html.cells;
import static org.hdfsmeld.report.Html.escape;
import static org.hdfsmeld.report.Html.kind;
import static org.hdfsmeld.report.Html.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.hdfsmeld.demo.layout.DemoResult;
import org.hdfsmeld.demo.layout.Rounds;
import org.hdfsmeld.demo.layout.VariantResult;
import org.hdfsmeld.demo.volumes.DeviceFigures;
import org.hdfsmeld.report.Charts;
import org.hdfsmeld.report.Digits;
import org.hdfsmeld.report.Html;
import org.hdfsmeld.report.Published;
import org.hdfsmeld.spark.RunRecord;
import org.hdfsmeld.spark.cli.Json;
import org.hdfsmeld.spark.cli.ShellWords;

/** The result as one HTML page that needs nothing else. */
public final class HtmlReport {
  private static final double MIB = 1L << 20;

  private final DemoResult result;
  private final RunRecord run;
  private final String second;

  private HtmlReport(DemoResult result, RunRecord run) {
    this.result = result;
    this.run = run;
    this.second = result.directive() ? "melded" : "control";
  }

  /** The page. */
  public static String of(DemoResult result, RunRecord run) {
    HtmlReport report = new HtmlReport(result, run);
    Map<String, String> parts =
        Map.ofEntries(
            Map.entry("style", Html.style()),
            Map.entry("title", report.title()),
            Map.entry("script", Html.script()),
            Map.entry("origin", report.origin()),
            Map.entry("headline", report.headline()),
            Map.entry("verdicts", report.verdicts()),
            Map.entry("throughput", report.throughput()),
            Map.entry("gain", report.gain()),
            Map.entry("paper", report.paper()),
            Map.entry("evidence", report.evidence()),
            Map.entry("wall", report.wall()),
            Map.entry("timeline", report.timeline()),
            Map.entry("figures", report.figures()),
            Map.entry("devices", report.devices()),
            Map.entry("calibration", escape(result.calibration().describe())),
            Map.entry("source", escape(result.publishedSource())),
            Map.entry("json", escape(Json.pretty(report.configuration()))));
    return Html.fill(Html.resource(HtmlReport.class, "report.html"), parts);
  }

  private String title() {
    return result.directive()
        ? "Melded pages under HDFS and Spark"
        : "Control: both data sets without the directive";
  }

  private String headline() {
    return String.format(
        Locale.ROOT,
        "<p class=\"big\">%.2f×</p><p class=\"verdict\">Spark scans the %s data set %.2f times as"
            + " fast as the normal one, end to end %s; the devices alone %.2f times %s, in the paper"
            + " %.2f times %s. %s</p>%s",
        result.gainEndToEnd(),
        second,
        result.gainEndToEnd(),
        kind("simulated"),
        result.gainDevice(),
        kind("simulated"),
        result.gainPublished(),
        kind("published"),
        checks(),
        otherEnd());
  }

  /** The gain where the host is the limit. */
  private String otherEnd() {
    Rounds undilated = result.undilated();
    return String.format(
        Locale.ROOT,
        "<p class=\"verdict\">That is where readers wait for the devices %s of their time. At the"
            + " devices' own speed they wait %s %s: this host is the limit, and there is room for a"
            + " gain of %.2f at most. The wall clock gave %.2f, %.2f to %.2f in %d rounds, with the"
            + " host's noise in it.</p>",
        percent(result.normal().readerWaitShare()),
        percent(undilated.normal().readerWaitShare()),
        kind("measured"),
        result.mostGain(undilated.normal()),
        undilated.gain(),
        undilated.least(),
        undilated.most(),
        undilated.gains().size());
  }

  private String checks() {
    List<Verdict> verdicts = Verdict.of(result);
    long met = verdicts.stream().filter(Verdict::met).count();
    return met == verdicts.size()
        ? "All " + met + " checks are met."
        : met + " of " + verdicts.size() + " checks are met.";
  }

  private String origin() {
    return Html.origin(
        ShellWords.join("./meld demo", run.arguments()),
        Map.of(
            "profile", result.profile(),
            "seed", run.seed(),
            "settings",
                String.format(
                    Locale.ROOT,
                    "window %d MiB, %s; directive %s; time dilation %,.0f",
                    result.windowBytes() >> 20,
                    result.windowMode().name().toLowerCase(Locale.ROOT),
                    result.directive() ? "on" : "off",
                    result.calibration().dilation()),
            "version",
                String.format(
                    "hdfs-meld %s, Spark %s, Hadoop %s",
                    run.version(), run.sparkVersion(), run.hadoopVersion()),
            "date", run.started()));
  }

  private String verdicts() {
    return Verdict.of(result).stream()
        .map(
            verdict ->
                String.format(
                    "<li class=\"%s\"><span>%s</span><strong>%s</strong></li>",
                    verdict.met() ? "met" : "missed",
                    escape(verdict.bar()),
                    escape(verdict.value())))
        .collect(Collectors.joining("\n"));
  }

  private String throughput() {
    double full =
        Charts.roundUp(
            Stream.of(result.normal(), result.melded())
                .flatMapToDouble(
                    v -> DoubleStream.of(v.endToEndMibPerSecond(), v.all().mibPerSecond()))
                .max()
                .orElse(1));
    return "<h3>One device while it is reading "
        + kind("simulated")
        + "</h3>"
        + Charts.bars(
            List.of(
                bar("normal", "normal", result.normal().all().mibPerSecond()),
                bar(second, second, result.melded().all().mibPerSecond())),
            full)
        + "<h3>End to end, as Spark saw it, in device time "
        + kind("simulated")
        + "</h3>"
        + Charts.bars(
            List.of(
                bar("normal", "normal", result.normal().endToEndMibPerSecond()),
                bar(second, second, result.melded().endToEndMibPerSecond())),
            full);
  }

  private String gain() {
    double full = Charts.roundUp(Math.max(1.5, result.gainDevice()));
    int more =
        Digits.apart(
            DoubleStream.of(
                Published.GAIN,
                result.gainDevice(),
                result.gainEndToEnd(),
                result.mostGain(result.undilated().normal())),
            HtmlReport::times);
    return Charts.bars(
        List.of(
            new Charts.Bar("published", "published", Published.GAIN, times(Published.GAIN, more)),
            new Charts.Bar(
                "devices (simulated)",
                second,
                result.gainDevice(),
                times(result.gainDevice(), more)),
            new Charts.Bar(
                "end to end (simulated)",
                second,
                result.gainEndToEnd(),
                times(result.gainEndToEnd(), more)),
            new Charts.Bar(
                "at the devices' own speed, at most (measured)",
                second,
                result.mostGain(result.undilated().normal()),
                times(result.mostGain(result.undilated().normal()), more))),
        full);
  }

  private String paper() {
    double normal = result.normal().all().mibPerSecond();
    double melded = result.melded().all().mibPerSecond();
    double full = Charts.roundUp(Math.max(Published.MELDED_MIB_PER_SECOND, melded));
    return Charts.bars(
        List.of(
            bar("normal, published", "published", Published.NORMAL_MIB_PER_SECOND),
            bar("normal, simulated", "normal", normal),
            bar("melded, published", "published", Published.MELDED_MIB_PER_SECOND),
            bar(second + ", simulated", second, melded)),
        full);
  }

  private String evidence() {
    StringBuilder html = new StringBuilder();
    share(html, "Readers waiting for the device", "measured", VariantResult::readerWaitShare);
    share(html, "Dies busy while reading", "simulated", v -> v.all().dieUtilisation());
    share(html, "Channels busy while reading", "simulated", v -> v.all().channelUtilisation());
    share(
        html,
        "Time with reads outstanding, mean of the devices",
        "simulated",
        v -> v.all().readActiveShare());
    return html.toString();
  }

  private void share(
      StringBuilder html, String title, String kind, ToDoubleFunction<VariantResult> value) {
    html.append("<h3>").append(title).append(' ').append(kind(kind)).append("</h3>");
    List<VariantResult> variants = List.of(result.normal(), result.melded());
    int more = Digits.apart(variants.stream().mapToDouble(value), HtmlReport::percent);
    List<Charts.Bar> bars = new ArrayList<>();
    for (VariantResult variant : variants) {
      double share = value.applyAsDouble(variant);
      bars.add(new Charts.Bar(name(variant), name(variant), share, percent(share, more)));
    }
    html.append(Charts.bars(bars, 1));
  }

  private String wall() {
    double full =
        Charts.roundUp(
            result.variants().stream()
                .mapToDouble(VariantResult::wallMibPerSecond)
                .max()
                .orElse(1));
    return Charts.bars(
        result.variants().stream().map(v -> bar(name(v), name(v), v.wallMibPerSecond())).toList(),
        full);
  }

  private String timeline() {
    StringBuilder html = new StringBuilder();
    double xMax = 0;
    DoubleStream.Builder rates = DoubleStream.builder();
    for (VariantResult variant : List.of(result.normal(), result.melded())) {
      for (int device = 0; device < variant.devices().size(); device++) {
        for (double[] point : Timeline.of(variant, device)) {
          xMax = Math.max(xMax, point[0]);
          rates.add(point[1]);
        }
      }
    }
    double yMax = Charts.end(rates.build());
    for (VariantResult variant : List.of(result.normal(), result.melded())) {
      List<Charts.Line> lines = new ArrayList<>();
      for (int device = 0; device < variant.devices().size(); device++) {
        lines.add(
            new Charts.Line(
                "device " + device, name(variant), device % 4, Timeline.of(variant, device)));
      }
      html.append("<h3>").append(name(variant)).append(' ').append(kind("simulated"));
      html.append("</h3>");
      html.append(Charts.lines(lines, xMax, yMax, "ms of device time", "MiB/s"));
    }
    html.append("<p class=\"legend\">");
    for (int device = 0; device < result.normal().devices().size(); device++) {
      html.append(Charts.key("", device % 4, "device " + device));
    }
    return html.append("</p>").toString();
  }

  private String figures() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        cells(
            "Device throughput, MiB/s " + kind("published"),
            "–",
            number(Published.NORMAL_MIB_PER_SECOND),
            result.directive() ? number(Published.MELDED_MIB_PER_SECOND) : "–"));
    rows.add(paced("Device throughput, MiB/s", "simulated", v -> number(v.all().mibPerSecond())));
    rows.add(
        paced(
            "End to end in device time, MiB/s",
            "simulated",
            v -> number(v.endToEndMibPerSecond())));
    rows.add(
        all("End to end on the wall clock, MiB/s", "measured", v -> number(v.wallMibPerSecond())));
    rows.add(all("Scan, wall seconds", "measured", v -> decimal(v.wallSeconds())));
    rows.add(
        all("Run time of the tasks, seconds", "measured", v -> decimal(v.scan().taskSeconds())));
    rows.add(
        paced("Readers waiting for the device", "measured", v -> percent(v.readerWaitShare())));
    rows.add(paced("Dies busy while reading", "simulated", v -> percent(v.all().dieUtilisation())));
    rows.add(
        paced(
            "Channels busy while reading",
            "simulated",
            v -> percent(v.all().channelUtilisation())));
    rows.add(
        cells(
            "Melded pages, share written " + kind("simulated"),
            "–",
            percent(result.dataSets().get(0).meldedMappedShare()),
            percent(result.dataSets().get(1).meldedMappedShare())));
    rows.add(
        paced("Melded pages, share read", "simulated", v -> percent(v.all().meldedReadShare())));
    rows.add(all("Files, MiB", "measured", v -> number(v.scan().fileBytes() / MIB)));
    rows.add(all("Rows", "measured", v -> number((double) v.scan().rows())));
    rows.add(all("Checksum", "measured", v -> v.scan().checksum().substring(0, 8) + "…"));
    return table(cells("", "stock", "normal", second), rows);
  }

  private String devices() {
    List<List<String>> rows = new ArrayList<>();
    for (VariantResult variant : List.of(result.normal(), result.melded())) {
      for (DeviceFigures device : variant.devices()) {
        rows.add(
            cells(
                name(variant) + ", device " + device.device(),
                number(device.readMib()),
                number(device.mibPerSecond()),
                percent(device.readActiveShare()),
                percent(device.dieUtilisation()),
                percent(device.channelUtilisation()),
                decimal(device.readerWaitSeconds()),
                Long.toString(device.timeouts())));
      }
    }
    return table(
        cells(
            "",
            "read, MiB " + kind("simulated"),
            "MiB/s " + kind("simulated"),
            "reads outstanding " + kind("simulated"),
            "dies busy " + kind("simulated"),
            "channels busy " + kind("simulated"),
            "readers waited, s " + kind("measured"),
            "waits given up " + kind("measured")),
        rows);
  }

  /** Everything but the samples, which the page shows as lines. */
  private RunRecord configuration() {
    return run.withResult(result.withoutSamples());
  }

  private List<String> paced(String name, String kind, Function<VariantResult, String> value) {
    return cells(
        name + " " + kind(kind), "–", value.apply(result.normal()), value.apply(result.melded()));
  }

  private List<String> all(String name, String kind, Function<VariantResult, String> value) {
    List<String> row = new ArrayList<>();
    row.add(name + " " + kind(kind));
    result.variants().forEach(variant -> row.add(value.apply(variant)));
    return row;
  }

  private String name(VariantResult variant) {
    return result.displayName(variant);
  }

  private static Charts.Bar bar(String label, String series, double rate) {
    return new Charts.Bar(label, series, rate, number(rate) + " MiB/s");
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%,.0f", value);
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private static String percent(double share) {
    return percent(share, 0);
  }

  private static String percent(double share, int more) {
    return String.format(Locale.ROOT, "%." + (1 + more) + "f %%", 100 * share);
  }

  private static String times(double gain, int more) {
    return String.format(Locale.ROOT, "%." + (2 + more) + "f×", gain);
  }
}
