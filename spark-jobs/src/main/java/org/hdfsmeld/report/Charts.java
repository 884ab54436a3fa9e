package org.hdfsmeld.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Charts as plain HTML and inline SVG: no script, no network, readable at any width. */
public final class Charts {
  private static final int SVG_WIDTH = 600;
  private static final int SVG_HEIGHT = 150;
  private static final double MAX_OPACITY = 0.75;

  private Charts() {}

  /**
   * One horizontal bar.
   *
   * @param series picks the colour: normal, melded, stock, published, or d0 to d5
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
   * @param points x and y, x increasing
   */
  public record Line(String label, int series, List<double[]> points) {}

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

  /** Lines over what is shaded. */
  public static String lines(
      List<Line> lines, List<Span> shaded, double xMax, double yMax, String xUnit, String yUnit) {
    StringBuilder html = new StringBuilder();
    html.append(
        String.format(
            Locale.ROOT,
            "<div class=\"plot\"><div class=\"ymax\">%s %s</div>"
                + "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\">%n",
            tick(yMax),
            Html.escape(yUnit),
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
      html.append("<polyline class=\"line d").append(line.series()).append("\" points=\"");
      for (double[] point : line.points()) {
        html.append(
            String.format(
                Locale.ROOT,
                "%.1f,%.1f ",
                SVG_WIDTH * Math.min(1, point[0] / xMax),
                SVG_HEIGHT * (1 - Math.min(1, point[1] / yMax))));
      }
      html.append("\"><title>").append(Html.escape(line.label())).append("</title></polyline>\n");
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
        new StringBuilder("<div class=\"scroll\"><table class=\"heat\"><thead><tr>");
    head.forEach(cell -> html.append("<th>").append(cell).append("</th>"));
    html.append("</tr></thead><tbody>\n");
    rows.forEach(
        (name, cells) -> {
          html.append("<tr><th scope=\"row\">").append(Html.escape(name)).append("</th>");
          for (Cell cell : cells) {
            html.append(
                String.format(
                    Locale.ROOT,
                    "<td style=\"background:rgb(%s / %.2f)\">%s</td>",
                    cell.heat() < 0 ? "199 96 58" : "15 139 141",
                    MAX_OPACITY * Math.min(1, Math.abs(cell.heat())),
                    Html.escape(cell.text())));
          }
          html.append("</tr>\n");
        });
    return html.append("</tbody></table></div>\n").toString();
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
