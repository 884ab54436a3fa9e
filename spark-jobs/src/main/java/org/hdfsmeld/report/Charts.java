package org.hdfsmeld.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.DoubleStream;

/** Charts as plain HTML and inline SVG: no script, no network, readable at any width. */
public final class Charts {
  private static final int SVG_WIDTH = 600;
  private static final int SVG_HEIGHT = 150;

  /** Deeper, in percent, would make the text unreadable. */
  private static final double MAX_DEPTH = 55;

  /** Below this a cell is neither better nor worse. */
  private static final double NEUTRAL = 1e-3;

  /** Fewer values than this have no outliers. */
  private static final int FEW_VALUES = 20;

  /** The share of the values that is always within a clipped axis. */
  private static final double WITHIN = 0.95;

  /** What is above these by more than this factor is an outlier. */
  private static final double FAR = 3;

  /** A line with more points is drawn as medians in a band. */
  private static final int DRAWN_POINTS = 240;

  private static final int MEDIANS = 80;

  private Charts() {}

  /**
   * One horizontal bar.
   *
   * @param series picks colour and pattern: normal, melded, control, stock, published, or s0 to s3
   * @param least of the values that {@code value} is the median of
   * @param most of them; when it is {@code least}, no spread is drawn
   */
  public record Bar(
      String label, String series, double value, String text, double least, double most) {
    /** Of one value. */
    public Bar(String label, String series, double value, String text) {
      this(label, series, value, text, value, value);
    }
  }

  /** From one x to another, to be shaded. */
  public record Span(double from, double to) {}

  /**
   * A cell of a heat map.
   *
   * @param heat -1 to 1, worse to better; 0 is neutral
   */
  public record Cell(String text, double heat) {
    static final Cell EMPTY = new Cell("–", 0);
  }

  /**
   * A line of a chart over time.
   *
   * @param series picks the colour, as of a bar
   * @param dash 0 to 3: tells lines of one series apart
   * @param points x and y, x increasing
   */
  public record Line(String label, String series, int dash, List<double[]> points) {}

  /** Horizontal bars on a common scale that ends at {@code full}. */
  public static String bars(List<Bar> bars, double full) {
    StringBuilder html = new StringBuilder("<div class=\"bars\">\n");
    for (Bar bar : bars) {
      html.append(
          String.format(
              Locale.ROOT,
              "<div class=\"bar\"><span class=\"name\">%s</span><span class=\"track\">"
                  + "<span class=\"fill %s\" style=\"width:%.1f%%\"></span>%s</span>"
                  + "<span class=\"value\">%s</span></div>%n",
              Html.escape(bar.label()),
              bar.series(),
              percent(bar.value(), full),
              spread(bar, full),
              Html.escape(bar.text())));
    }
    return html.append("</div>\n").toString();
  }

  /** Lines over time; the axes' labels are HTML, so that they keep their size. */
  public static String lines(
      List<Line> lines, double xMax, double yMax, String xUnit, String yUnit) {
    return lines(lines, List.of(), xMax, yMax, xUnit, yUnit);
  }

  /** Lines over what is shaded. What is above {@code yMax} is marked at the upper edge. */
  public static String lines(
      List<Line> lines, List<Span> shaded, double xMax, double yMax, String xUnit, String yUnit) {
    StringBuilder html = new StringBuilder();
    html.append(
        String.format(
            Locale.ROOT,
            "<div class=\"plot\"><div class=\"ymax\"><span>%s %s</span>%s</div>"
                + "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\">%n",
            tick(yMax),
            Html.escape(yUnit),
            beyond(lines, yMax),
            SVG_WIDTH,
            SVG_HEIGHT));
    for (Span span : shaded) {
      html.append(
          String.format(
              Locale.ROOT,
              "<rect class=\"shade\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\"/>%n",
              SVG_WIDTH * span.from() / xMax,
              SVG_WIDTH * (span.to() - span.from()) / xMax,
              SVG_HEIGHT));
    }
    for (int quarter = 0; quarter <= 4; quarter++) {
      double y = SVG_HEIGHT * quarter / 4.0;
      html.append(
          String.format(
              Locale.ROOT,
              "<line class=\"grid\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>%n",
              SVG_WIDTH,
              y,
              y));
    }
    for (Line line : lines) {
      html.append(line(line, xMax, yMax));
    }
    html.append(
        String.format(
            Locale.ROOT,
            "</svg><div class=\"xaxis\"><span>0</span><span>%s</span><span>%s %s</span>"
                + "</div></div>%n",
            tick(xMax / 2),
            tick(xMax),
            Html.escape(xUnit)));
    return html.toString();
  }

  /** The end of an axis for these values: a few that are far above all others are beyond it. */
  public static double end(DoubleStream values) {
    double[] sorted = values.filter(Double::isFinite).sorted().toArray();
    if (sorted.length == 0) {
      return 1;
    }
    double most = sorted[sorted.length - 1];
    double within = sorted[Math.min(sorted.length - 1, (int) (sorted.length * WITHIN))];
    boolean outliers = sorted.length >= FEW_VALUES && within > 0 && most > FAR * within;
    return roundUp(outliers ? 1.25 * within : most);
  }

  /** What a line in a legend looks like. */
  public static String key(String series, int dash, String label) {
    return String.format(
        "<span class=\"key\"><svg viewBox=\"0 0 34 10\" class=\"%s\"><line class=\"dash%d\""
            + " x1=\"0\" x2=\"34\" y1=\"5\" y2=\"5\"/></svg>%s</span> ",
        series, dash, Html.escape(label));
  }

  private static String line(Line line, double xMax, double yMax) {
    List<double[]> points = line.points();
    StringBuilder html = new StringBuilder();
    if (points.size() > DRAWN_POINTS) {
      List<double[]> upper = new ArrayList<>();
      List<double[]> lower = new ArrayList<>();
      points = medians(points, upper, lower);
      Collections.reverse(lower);
      upper.addAll(lower);
      html.append(
          String.format(
              "<polygon class=\"band %s\" points=\"%s\"/>%n",
              line.series(), path(upper, xMax, yMax)));
    }
    String path = path(points, xMax, yMax);
    html.append(
        String.format(
            "<polyline class=\"edge dash%d\" points=\"%s\"/>"
                + "<polyline class=\"line %s dash%d\" points=\"%s\"><title>%s</title></polyline>%n",
            line.dash(), path, line.series(), line.dash(), path, Html.escape(line.label())));
    for (double[] point : line.points()) {
      if (point[1] > yMax) {
        html.append(
            String.format(
                Locale.ROOT,
                "<path class=\"clipped\" d=\"M%.1f,8h8l-4,-8z\"><title>%s: %s</title></path>%n",
                SVG_WIDTH * Math.min(1, point[0] / xMax) - 4,
                Html.escape(line.label()),
                tick(point[1])));
      }
    }
    return html.toString();
  }

  /** Runs of points as their medians; the least and the greatest of each go to the lists. */
  private static List<double[]> medians(
      List<double[]> points, List<double[]> upper, List<double[]> lower) {
    int each = (points.size() + MEDIANS - 1) / MEDIANS;
    List<double[]> medians = new ArrayList<>();
    for (int from = 0; from < points.size(); from += each) {
      List<double[]> run = points.subList(from, Math.min(points.size(), from + each));
      double x = run.get(run.size() / 2)[0];
      double[] sorted = run.stream().mapToDouble(point -> point[1]).sorted().toArray();
      medians.add(new double[] {x, sorted[sorted.length / 2]});
      upper.add(new double[] {x, sorted[sorted.length - 1]});
      lower.add(new double[] {x, sorted[0]});
    }
    return medians;
  }

  private static String path(List<double[]> points, double xMax, double yMax) {
    StringBuilder path = new StringBuilder();
    for (double[] point : points) {
      path.append(
          String.format(
              Locale.ROOT,
              "%.1f,%.1f ",
              SVG_WIDTH * Math.min(1, point[0] / xMax),
              SVG_HEIGHT * (1 - Math.min(1, point[1] / yMax))));
    }
    return path.toString();
  }

  private static String beyond(List<Line> lines, double yMax) {
    double[] beyond =
        lines.stream()
            .flatMap(line -> line.points().stream())
            .mapToDouble(point -> point[1])
            .filter(y -> y > yMax)
            .sorted()
            .toArray();
    return beyond.length == 0
        ? ""
        : String.format(
            "<span>▲ %d above, up to %s</span>", beyond.length, tick(beyond[beyond.length - 1]));
  }

  /**
   * A heat map as a table: every cell says its number, the colour only helps.
   *
   * @param corner what the rows are
   * @param rows by their names; each has a cell a column
   */
  public static String heat(String corner, List<String> columns, Map<String, List<Cell>> rows) {
    List<String> head = new ArrayList<>();
    head.add(Html.escape(corner));
    columns.forEach(column -> head.add(Html.escape(column)));
    StringBuilder html =
        new StringBuilder("<div class=\"scroll\" tabindex=\"0\"><table class=\"heat\"><thead><tr>");
    head.forEach(cell -> html.append("<th>").append(cell).append("</th>"));
    html.append("</tr></thead><tbody>\n");
    rows.forEach(
        (name, cells) -> {
          html.append("<tr><th scope=\"row\">").append(Html.escape(name)).append("</th>");
          cells.forEach(cell -> html.append(heat(cell)));
          html.append("</tr>\n");
        });
    return html.append("</tbody></table></div>\n").toString();
  }

  private static String heat(Cell cell) {
    if (Math.abs(cell.heat()) < NEUTRAL) {
      return "<td>" + Html.escape(cell.text()) + "</td>";
    }
    boolean better = cell.heat() > 0;
    return String.format(
        Locale.ROOT,
        "<td class=\"%s\" style=\"--depth:%.0f\">%s %s</td>",
        better ? "better" : "worse",
        MAX_DEPTH * Math.min(1, Math.abs(cell.heat())),
        better ? "▲" : "▼",
        Html.escape(cell.text()));
  }

  /** A number above {@code value} that is round, for the end of an axis. */
  public static double roundUp(double value) {
    if (value <= 0) {
      return 1;
    }
    double unit = Math.pow(10, Math.floor(Math.log10(value)));
    for (double step : new double[] {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10}) {
      if (value <= step * unit) {
        return step * unit;
      }
    }
    return 10 * unit;
  }

  private static double percent(double value, double full) {
    return full > 0 ? Math.min(100, 100 * value / full) : 0;
  }

  private static String spread(Bar bar, double full) {
    if (bar.most() <= bar.least()) {
      return "";
    }
    double from = percent(bar.least(), full);
    return String.format(
        Locale.ROOT,
        "<span class=\"spread\" style=\"left:%.1f%%;width:%.1f%%\"></span>",
        from,
        percent(bar.most(), full) - from);
  }

  /** A number on an axis. */
  private static String tick(double value) {
    return value >= 10 || value == Math.rint(value)
        ? String.format(Locale.ROOT, "%,.0f", value)
        : String.format(Locale.ROOT, "%.3g", value);
  }
}
