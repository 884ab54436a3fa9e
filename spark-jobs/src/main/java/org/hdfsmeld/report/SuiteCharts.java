package org.hdfsmeld.report;

import static org.hdfsmeld.report.Html.kind;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

/** The charts that compare variants. */
final class SuiteCharts {
  private static final Set<String> NAMED_SERIES = Set.of("stock", "normal", "melded");
  private static final int OTHER_SERIES = 4;

  private SuiteCharts() {}

  /** The colour and pattern of a variant: the same in all charts. */
  static String series(Suite suite, String variant) {
    String name = variant.split("@", 2)[0];
    List<String> others =
        suite.variants().stream()
            .map(other -> other.split("@", 2)[0])
            .distinct()
            .filter(other -> !NAMED_SERIES.contains(other))
            .toList();
    return NAMED_SERIES.contains(name) ? name : "s" + others.indexOf(name) % OTHER_SERIES;
  }

  /** What each job is known by, by variant. */
  static String headlines(Suite suite) {
    StringBuilder html = new StringBuilder();
    for (String job : suite.jobs()) {
      Figure figure = Figures.headline(job);
      List<SuiteGroup> groups = withoutWindow(suite.of(job));
      html.append(bars(suite, job + ": " + figure.key(), figure, groups, SuiteGroup::variant));
      if (figure == Figure.READS) {
        html.append(bars(suite, job + ": p99", Figure.P99, groups, SuiteGroup::variant));
      }
    }
    return html.isEmpty()
        ? ""
        : "<section>\n<h2>By variant</h2>\n<p class=\"note\">Bars are medians over the rounds; the"
            + " whisker goes from the least to the greatest.</p>\n"
            + html
            + "</section>\n";
  }

  /** Whether jobs waited for the devices. */
  static String waits(Suite suite) {
    List<SuiteGroup> groups = withoutWindow(suite.groups());
    String wait =
        bars(suite, "Readers waiting for the device", Figure.WAIT, groups, SuiteCharts::name);
    String busy = bars(suite, "Devices busy", Figure.UTILISATION, groups, SuiteCharts::name);
    return wait.isEmpty()
        ? ""
        : "<section class=\"wide\">\n<h2>Who waits for whom</h2>\n<p class=\"note\">Readers that wait"
            + " at least 90 % of their time: the device is the bottleneck. Else it is the host.</p>\n"
            + "<div class=\"grid2\">\n<div>"
            + wait
            + "</div>\n<div>"
            + busy
            + "</div>\n</div>\n</section>\n";
  }

  /** What the melded layout gains, next to the paper, and by the reader's window. */
  static String gain(Suite suite) {
    List<Charts.Bar> bars = new ArrayList<>();
    add(bars, "devices (simulated)", suite, "", Figure.DEVICE);
    add(bars, "end to end (measured)", suite, "", Figure.THROUGHPUT);
    String html = "";
    if (!bars.isEmpty()) {
      bars.add(0, new Charts.Bar("published", "published", Published.GAIN, times(Published.GAIN)));
      html = "<h3>scan, melded by normal</h3>" + chart(bars);
    }
    List<Charts.Bar> byWindow = new ArrayList<>();
    for (String window : windows(suite)) {
      add(byWindow, "window " + window, suite, "@" + window, Figure.THROUGHPUT);
    }
    if (!byWindow.isEmpty()) {
      html += "<h3>scan, by the reader's window " + kind("measured") + "</h3>" + chart(byWindow);
    }
    return html.isEmpty()
        ? ""
        : "<section>\n<h2>Gain of the melded layout</h2>\n" + html + "</section>\n";
  }

  /** Every variant's figures by those of the first one that every other is compared with. */
  static String heat(Suite suite) {
    List<String> variants = suite.variants();
    if (variants.size() < 2) {
      return "";
    }
    String base = variants.contains("normal") ? "normal" : variants.get(0);
    Map<String, List<Charts.Cell>> rows = new LinkedHashMap<>();
    Set<String> columns = new LinkedHashSet<>();
    List<SuiteGroup> bases = suite.groups().stream().filter(g -> g.variant().equals(base)).toList();
    for (String variant : variants) {
      List<Charts.Cell> cells = new ArrayList<>();
      for (SuiteGroup group : bases) {
        for (Figure figure :
            new LinkedHashSet<>(List.of(Figures.headline(group.job()), Figure.P99))) {
          if (group.figures().containsKey(figure)) {
            columns.add(group.job() + " " + figure.key());
            cells.add(cell(group, suite.group(group.job(), variant), figure));
          }
        }
      }
      if (!variant.equals(base)
          && !variant.contains("@")
          && !cells.stream().allMatch(Charts.Cell.EMPTY::equals)) {
        rows.put(variant, cells);
      }
    }
    if (rows.isEmpty() || columns.isEmpty()) {
      return "";
    }
    return "<section class=\"wide\">\n<h2>Every variant by "
        + Html.escape(base)
        + " "
        + kind("measured")
        + "</h2>\n<p class=\"note\">Above 1 is better: more throughput, less time, a smaller ratio."
        + "</p>\n"
        + Charts.heat("", List.copyOf(columns), rows)
        + "</section>\n";
  }

  private static Charts.Cell cell(SuiteGroup base, SuiteGroup group, Figure figure) {
    if (group == null || !group.figures().containsKey(figure)) {
      return Charts.Cell.EMPTY;
    }
    double quotient = group.figures().get(figure).median() / base.figures().get(figure).median();
    double better = figure.higherIsBetter() ? quotient : 1 / quotient;
    return Double.isFinite(better) && better > 0
        ? new Charts.Cell(times(better), Math.log(better) / Math.log(2))
        : Charts.Cell.EMPTY;
  }

  private static String bars(
      Suite suite,
      String title,
      Figure figure,
      List<SuiteGroup> groups,
      Function<SuiteGroup, String> name) {
    List<Charts.Bar> bars = new ArrayList<>();
    int digits = digits(figure, groups);
    for (SuiteGroup group : groups) {
      Spread spread = group.figures().get(figure);
      if (spread != null) {
        bars.add(
            new Charts.Bar(
                name.apply(group),
                series(suite, group.variant()),
                spread.median(),
                figure.text(spread.median(), digits),
                spread.min(),
                spread.max()));
      }
    }
    return bars.isEmpty()
        ? ""
        : "<h3>" + Html.escape(title) + " " + kind(figure.kind()) + "</h3>" + chart(bars);
  }

  /** Digits that tell the medians apart. */
  private static int digits(Figure figure, List<SuiteGroup> groups) {
    return Digits.apart(
        groups.stream()
            .map(group -> group.figures().get(figure))
            .filter(Objects::nonNull)
            .mapToDouble(Spread::median),
        figure::text);
  }

  private static String chart(List<Charts.Bar> bars) {
    return Charts.bars(
        bars, Charts.roundUp(bars.stream().mapToDouble(Charts.Bar::most).max().orElse(1)));
  }

  private static void add(
      List<Charts.Bar> bars, String label, Suite suite, String window, Figure figure) {
    SuiteGroup normal = suite.group("scan", "normal" + window);
    SuiteGroup melded = suite.group("scan", "melded" + window);
    if (normal != null
        && melded != null
        && normal.figures().containsKey(figure)
        && melded.figures().containsKey(figure)) {
      double gain = melded.figures().get(figure).median() / normal.figures().get(figure).median();
      if (Double.isFinite(gain)) {
        bars.add(new Charts.Bar(label, "melded", gain, times(gain)));
      }
    }
  }

  /** Windows that runs are labelled with, the smallest first. */
  private static List<String> windows(Suite suite) {
    return suite.variants().stream()
        .filter(variant -> variant.contains("@"))
        .map(variant -> variant.split("@", 2)[1])
        .distinct()
        .sorted(Comparator.comparingLong(SuiteCharts::bytes))
        .toList();
  }

  /** For the order only: what is not a number with k, m or g comes first. */
  private static long bytes(String window) {
    String digits = window.replaceAll("\\D", "");
    if (digits.isEmpty() || digits.length() > 9) {
      return 0;
    }
    int suffix = "kmg".indexOf(window.toLowerCase(Locale.ROOT).charAt(window.length() - 1));
    return Long.parseLong(digits) << 10 * (suffix + 1);
  }

  private static List<SuiteGroup> withoutWindow(List<SuiteGroup> groups) {
    return groups.stream().filter(group -> !group.variant().contains("@")).toList();
  }

  private static String name(SuiteGroup group) {
    return group.job() + ", " + group.variant();
  }

  private static String times(double gain) {
    return String.format(Locale.ROOT, "%.2f×", gain);
  }
}
