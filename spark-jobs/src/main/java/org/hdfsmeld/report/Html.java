package org.hdfsmeld.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The little HTML that the report pages need. */
public final class Html {
  private Html() {}

  public static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  /** Says what a number is: simulated, measured or published. */
  public static String kind(String kind) {
    return "<span class=\"kind " + kind + "\">" + kind + "</span>";
  }

  /** A table; cells are HTML already, the first of each row is its heading. */
  public static String table(List<String> head, List<List<String>> rows) {
    return "<div class=\"scroll\" tabindex=\"0\"><table class=\"numbers\"><thead><tr>"
        + head.stream().map(cell -> "<th>" + cell + "</th>").collect(Collectors.joining())
        + "</tr></thead><tbody>\n"
        + rows.stream().map(Html::row).collect(Collectors.joining("\n"))
        + "\n</tbody></table></div>\n";
  }

  public static List<String> cells(String... cells) {
    return Arrays.asList(cells);
  }

  /** Replaces each {@code {{name}}} once; what is put in is not looked at again. */
  public static String fill(String template, Map<String, String> parts) {
    StringBuilder out = new StringBuilder();
    int from = 0;
    for (int open = template.indexOf("{{"); open >= 0; open = template.indexOf("{{", from)) {
      int close = template.indexOf("}}", open);
      String name = template.substring(open + 2, close);
      String part = parts.get(name);
      if (part == null) {
        throw new IllegalArgumentException("the template asks for an unknown part: " + name);
      }
      out.append(template, from, open).append(part);
      from = close + 2;
    }
    return out.append(template, from, template.length()).toString();
  }

  /**
   * The style sheet of every page: light and dark, from 320 pixels on. The simulator's pages have
   * it, too.
   */
  public static String style() {
    return resource(Html.class, "chart.css") + resource(Html.class, "page.css");
  }

  /** The script of every page: a button that copies the command, a cue below tables that scroll. */
  public static String script() {
    return resource(Html.class, "page.js");
  }

  /**
   * Where a page's numbers come from.
   *
   * @param command as it can be repeated in a shell
   * @param facts profile, seed, settings, version and date, by these names
   */
  public static String origin(String command, Map<String, String> facts) {
    StringBuilder html =
        new StringBuilder("<div class=\"origin\"><div class=\"command\"><pre><code>");
    html.append(escape(command));
    html.append("</code></pre><button type=\"button\" hidden>Copy</button></div>\n<dl>");
    for (String name : List.of("profile", "seed", "settings", "version", "date")) {
      html.append("<div><dt>").append(name).append("</dt><dd>");
      html.append(escape(facts.get(name))).append("</dd></div>\n");
    }
    return html.append("</dl></div>\n").toString();
  }

  /** A text that lies beside a class. */
  public static String resource(Class<?> owner, String name) {
    try (InputStream in = owner.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String row(List<String> cells) {
    return "<tr><th scope=\"row\">"
        + cells.get(0)
        + "</th>"
        + cells.stream().skip(1).map(cell -> "<td>" + cell + "</td>").collect(Collectors.joining())
        + "</tr>";
  }
}
