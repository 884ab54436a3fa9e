package org.hdfsmeld.datanode.config;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * The tables of configuration keys in {@code docs/reference/configuration.md}, from
 * meld-default.xml.
 */
final class ConfigurationTable {
  /** What a value can be, and how the page explains it. */
  static final Map<String, String> UNITS = new TreeMap<>();

  static {
    UNITS.put("address", "a host and a port, as `host:port`");
    UNITS.put("bytes", "a size, with a binary unit (`k`, `m`, `g`) if wanted");
    UNITS.put("count", "a whole number");
    UNITS.put(
        "duration",
        "a time with Hadoop's units (`ms`, `s`, `m`, `h`, `d`), or a number of seconds");
    UNITS.put("factor", "a number, with decimals if wanted");
    UNITS.put("list", "several names, separated by commas");
    UNITS.put("name", "one of the words that the effect tells");
    UNITS.put("name or path", "a built-in profile, or a file on the DataNode");
    UNITS.put("path", "a file or directory on the DataNode");
    UNITS.put("shares", "`fill=F,random=R` in percent; what is left out is 100");
    UNITS.put("true or false", "one of these two");
  }

  /** The daemon that reads the keys with this prefix, in the order of the page. */
  private static final Map<String, String> DAEMONS = new LinkedHashMap<>();

  static {
    DAEMONS.put("dfs.datanode.meld.", "DataNode");
    DAEMONS.put("dfs.namenode.meld.", "NameNode");
    DAEMONS.put("dfs.client.meld.", "client");
  }

  /** A word with dots or hyphens in it, which may be a key; a dot after it ends a sentence. */
  private static final Pattern WORD = Pattern.compile("[a-z]+(?:[.-][a-z]+)+(?![\\w=/])");

  private final List<Key> keys = new ArrayList<>();

  /** One property of the file. */
  record Key(String name, String value, String unit, boolean live, String effect) {
    private static Key of(Element property) {
      return new Key(
          text(property, "name"),
          text(property, "value"),
          text(property, "unit"),
          text(property, "live").equals("true"),
          text(property, "description"));
    }

    private static String text(Element property, String tag) {
      NodeList found = property.getElementsByTagName(tag);
      return found.getLength() == 0
          ? ""
          : found.item(0).getTextContent().trim().replaceAll("\\s+", " ");
    }

    /** What the name starts with, or empty when no daemon of ours reads such keys. */
    String prefix() {
      return DAEMONS.keySet().stream().filter(name::startsWith).findFirst().orElse("");
    }

    private String rest() {
      return name.substring(prefix().length());
    }
  }

  /** Reads the file; not through Configuration, which leaves out keys with an empty value. */
  ConfigurationTable(Path file) throws IOException {
    try {
      Document xml = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
      NodeList properties = xml.getElementsByTagName("property");
      for (int i = 0; i < properties.getLength(); i++) {
        keys.add(Key.of((Element) properties.item(i)));
      }
    } catch (ParserConfigurationException | SAXException e) {
      throw new IOException(file + " is not well-formed: " + e.getMessage(), e);
    }
  }

  List<Key> keys() {
    return keys;
  }

  /** One table per daemon, and what the units mean. */
  String markdown() {
    StringBuilder page = new StringBuilder();
    DAEMONS.forEach(
        (prefix, daemon) -> {
          List<Key> rows = keys.stream().filter(key -> key.prefix().equals(prefix)).toList();
          if (!rows.isEmpty()) {
            page.append("Keys of the %s, each after `%s`:\n\n".formatted(daemon, prefix));
            page.append("| key | default | unit | effect |\n| --- | --- | --- | --- |\n");
            rows.forEach(row -> page.append(row(row)));
            page.append('\n');
          }
        });
    String units =
        UNITS.entrySet().stream()
            .filter(unit -> keys.stream().anyMatch(key -> key.unit().equals(unit.getKey())))
            .map(unit -> "| %s | %s |\n".formatted(unit.getKey(), unit.getValue()))
            .collect(joining());
    return page.append("| unit | what it is |\n| --- | --- |\n").append(units).toString();
  }

  private String row(Key key) {
    return "| `%s`%s | %s | %s | %s |\n"
        .formatted(
            key.rest(),
            key.live() ? " (live)" : "",
            key.value().isEmpty() ? "*none*" : "`" + key.value() + "`",
            key.unit(),
            effect(key));
  }

  private String effect(Key key) {
    String marked =
        WORD.matcher(key.effect())
            .replaceAll(word -> isKey(word) ? "`" + word.group() + "`" : word.group());
    return marked.replace("|", "\\|").replace("<", "&lt;");
  }

  private boolean isKey(MatchResult word) {
    String name = word.group();
    return name.startsWith("dfs.")
        || keys.stream().anyMatch(key -> key.rest().equals(name) || key.name().equals(name));
  }
}
