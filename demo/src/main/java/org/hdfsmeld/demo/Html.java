package org.hdfsmeld.demo;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The little HTML that the report needs. */
final class Html {
  private Html() {}

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  /** Says what a number is: simulated, measured or published. */
  static String kind(String kind) {
    return "<span class=\"kind " + kind + "\">" + kind + "</span>";
  }

  /** A table; cells are HTML already, the first of each row is its heading. */
  static String table(List<String> head, List<List<String>> rows) {
    return "<div class=\"scroll\"><table><thead><tr>"
        + head.stream().map(cell -> "<th>" + cell + "</th>").collect(Collectors.joining())
        + "</tr></thead><tbody>\n"
        + rows.stream().map(Html::row).collect(Collectors.joining("\n"))
        + "\n</tbody></table></div>\n";
  }

  static List<String> cells(String... cells) {
    return Arrays.asList(cells);
  }

  private static String row(List<String> cells) {
    return "<tr><th scope=\"row\">"
        + cells.get(0)
        + "</th>"
        + cells.stream().skip(1).map(cell -> "<td>" + cell + "</td>").collect(Collectors.joining())
        + "</tr>";
  }
}
