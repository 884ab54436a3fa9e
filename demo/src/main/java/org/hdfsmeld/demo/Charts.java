package org.hdfsmeld.demo;

import java.util.List;
import java.util.Locale;

/** Charts as plain HTML and inline SVG: no script, no network, readable at any width. */
final class Charts {
  private static final int SVG_WIDTH = 600;
  private static final int SVG_HEIGHT = 150;

  private Charts() {}

  /**
   * One horizontal bar.
   *
   * @param series picks the colour: normal, melded, stock or published
   */
  record Bar(String label, String series, double value, String text) {}

  /**
   * A line of a chart over time.
   *
   * @param points x and y, x increasing
   */
  record Line(String label, int series, List<double[]> points) {}

  /** Horizontal bars on a common scale that ends at {@code full}. */
  static String bars(List<Bar> bars, double full) {
    StringBuilder html = new StringBuilder("<div class=\"bars\">\n");
    for (Bar bar : bars) {
      html.append(
          String.format(
              Locale.ROOT,
              "<div class=\"bar\"><span class=\"name\">%s</span><span class=\"track\">"
                  + "<span class=\"fill %s\" style=\"width:%.1f%%\"></span></span>"
                  + "<span class=\"value\">%s</span></div>%n",
              Html.escape(bar.label()),
              bar.series(),
              full > 0 ? Math.min(100, 100 * bar.value() / full) : 0,
              Html.escape(bar.text())));
    }
    return html.append("</div>\n").toString();
  }

  /** Lines over time; the axes' labels are HTML, so that they keep their size. */
  static String lines(List<Line> lines, double xMax, double yMax, String xUnit, String yUnit) {
    StringBuilder html = new StringBuilder();
    html.append(
        String.format(
            Locale.ROOT,
            "<div class=\"plot\"><div class=\"ymax\">%,.0f %s</div>"
                + "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\">%n",
            yMax,
            Html.escape(yUnit),
            SVG_WIDTH,
            SVG_HEIGHT));
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
            "</svg><div class=\"xaxis\"><span>0</span><span>%,.0f</span><span>%,.0f %s</span>"
                + "</div></div>%n",
            xMax / 2,
            xMax,
            Html.escape(xUnit)));
    return html.toString();
  }

  /** A number above {@code value} that is round, for the end of an axis. */
  static double roundUp(double value) {
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
}
